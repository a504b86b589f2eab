#pragma once

// The file by which a user defines an operation: `softmax.op.yaml` (docs/user-operations.md).

#include <filesystem>
#include <string_view>

#include "assay/base/result.h"
#include "assay/op/operation.h"

namespace assay::input {

// What is named by a file, and not by the name of an operation.
bool is_operation_file(std::string_view text);

// Reads it, and the reference that it names, which lies beside it.
Result<const Operation*> read_operation_file(const std::filesystem::path& path);

// As --shape, suites and kernels name operations: by name, or by a file that is looked for in
// `folder`, if it is not empty.
Result<const Operation*> read_operation(std::string_view text, const std::filesystem::path& folder);

}  // namespace assay::input
