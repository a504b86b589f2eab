#pragma once

// Outputs of kernels that have not computed what they should: Operation::impostors of gemm. Not for
// use outside op/gemm.

#include <cstddef>
#include <span>
#include <string_view>

#include "assay/op/operation.h"

namespace assay::gemm {

std::span<const std::string_view> impostor_names();

// False where this impostor would be right by what it is.
bool pretend(size_t impostor, const Instance& instance, std::span<std::byte> output);

// The same problem with fewer rows, columns and batches, of about `products` multiplications.
Result<Problem> fewer_outputs(const Problem& problem, double products);

}  // namespace assay::gemm
