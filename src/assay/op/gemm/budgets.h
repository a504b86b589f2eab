#pragma once

// The budgets of an output's elements by the bound that its kernel promises, for each batch of its
// own out. Elementwise, a batch has those of its problem (budget.h). Normwise, the magnitude that a
// budget grows with is no element's own but, of all elements alike,
//
//   |alpha| k max|a| max|b| + |beta| max|c|          maxima over the batch's matrices,
//
// which no element's own exceeds. Fast matrix multiplication is bounded in this norm alone: it
// mixes rows and columns (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 2002,
// section 23.2.2). A level of Strassen rounds a term five times more: as quarters of either operand
// are added up, and as up to four products are. Three levels are allowed for, which counts where k
// is small. The worst case has a larger constant, too; measured, one to three levels use at most a
// third of this budget at k = 2 .. 16, a sixth at k = 64 .. 14336.
//
// Not for use outside op/gemm.

#include <vector>

#include "assay/op/gemm/base.h"
#include "assay/op/renewal.h"
#include "assay/tensor/error_bound.h"

namespace assay::gemm {

using Budgets = std::vector<Budget>;  // By batch of out.

// inputs: the instance's own, which are looked at if they were not made from the seeds.
Budgets budgets_of(const Base& base, ErrorBound bound, const OwnInputs& inputs,
                   const InputSeeds& seeds);

}  // namespace assay::gemm
