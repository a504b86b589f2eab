#pragma once

// Freivalds' check of an integer product, row by row: out = a b implies out r = a (b r) for any
// vector r. Modulo a prime, with r drawn from all residues, a row of out that is wrong anywhere
// passes with probability 1 / (2^61 - 1), in time for one pass over each matrix. (Freivalds,
// Probabilistic machines can use less running time, IFIP 1977.) Not for use outside op/gemm.

#include <cstdint>
#include <vector>

#include "assay/op/gemm/tiles.h"

namespace assay::gemm {

inline constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

__extension__ typedef __int128 Wide;

// value modulo kPrime, in [0, kPrime).
uint64_t modulo(Wide value);
uint64_t multiply_modulo(uint64_t x, int64_t factor);

// Sums of integers (at most 2^53 in size) times residues.
class ResidueSum {
 public:
  void add(const double* integers, const uint64_t* residues, int64_t count);
  uint64_t value() const { return modulo(sum_); }

 private:
  Wide sum_ = 0;
};

// residues[j]: uniform in [0, kPrime), deterministic in the seed.
std::vector<uint64_t> random_residues(int64_t count, uint64_t seed);

// result[batch * rows + i] = sum over j of matrix(i, j) * residues[batch * step + j]: step 0 uses
// the same vector for every batch. The elements must be integers of at most 2^53.
std::vector<uint64_t> times_residues(const Matrix& matrix, const std::vector<uint64_t>& residues,
                                     int64_t step);

}  // namespace assay::gemm
