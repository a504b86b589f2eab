#pragma once

// What kernels hand out that do not normalise (Operation::impostors). Not for use outside
// op/rmsnorm.

#include <cstddef>
#include <span>
#include <string_view>

#include "assay/op/rmsnorm/rmsnorm.h"

namespace assay::rmsnorm {

std::span<const std::string_view> impostor_names();
bool pretend(size_t impostor, const Instance& instance, std::span<std::byte> output);

}  // namespace assay::rmsnorm
