#pragma once

// What a shape leaves open and a kernel decides: a kernel that takes f32 in rows alone can only be
// asked for that.

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/kernel/provider.h"

namespace assay::input {

using ShapeFields = std::vector<std::pair<std::string, std::string>>;  // Name and value.

// Types, layout and an operation that is not the default, where all of these kernels allow one
// value alone.
ShapeFields only_fields(std::span<const KernelEntry> entries);

// Those of `fields` that the --shape flag leaves open. A flag that names some type has thought of
// all of them; one that names another operation is of no such kernel.
ShapeFields open_fields(std::string_view flag, const ShapeFields& fields);

}  // namespace assay::input
