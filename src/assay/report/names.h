#pragma once

// Kernels' names where there is little room.

#include <string>

#include "assay/record/record.h"

namespace assay::report {

// "provider/name", and what the kernel is right by if that is not each element.
std::string full_name(const KernelOutcome& kernel);

// The same; of more than 24 columns the family and what tells the kernel from others of it in the
// problem: of "mine/rows_avx2_14x1_k8_n0", beside "mine/rows_avx2_6x1_k8_n512", it is
// "mine/rows..14x1_n0".
std::string short_name(const ProblemRecord& problem, const KernelOutcome& kernel);

}  // namespace assay::report
