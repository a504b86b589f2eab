#pragma once

// Integers for the kind `exact`: which sizes they may have so that every product, every partial sum
// in any order and every output is exact, while a kernel that computes in anything narrower than
// declared is not. Not for use outside op/gemm.
//
// - Sums: the sum of |a||b| over k stays within 2^p of the accumulate type (2^31 - 1 for s32),
//   after alpha and c. So any order, blocking or split of k gives the same bits.
// - Outputs: they stay within 2^p of out's type. Where out is much narrower than the sums (256 for
//   bf16, under sums of f32), most indices of k come in pairs at random places whose products
//   cancel exactly; partial sums are large, so that a narrower accumulator loses bits and leaves a
//   remainder, and a skipped index shows because its partner stays. The others alone make the
//   output.
// - Every index of k contributes to every output where that fits. Values of magnitude 1 meet
//   "heavy" ones on the other side, odd numbers of 13 bits for f32 and the whole significand for
//   f16, bf16 and s8, which tf32, f16 or bf16 cannot hold; four "very heavy" ones reach close to
//   the limit (20 bits for f32), which two bf16 parts cannot hold either.
// - Where k exceeds the limit, only every g-th index is not zero on the sparse side, at
//   offsets that change from column to column, so that all indices are seen by some column.

#include <cstdint>
#include <vector>

#include "assay/op/gemm/gemm.h"

namespace assay::gemm {

// alpha = ia q and beta = ib q with integers ia, ib and a power of two q: out / q is an integer.
struct ExactLimits {
  int64_t ia = 1, ib = 0;
  double quantum = 1;  // q
  int64_t sum = 0;     // Largest sum of |a||b|.
  int64_t output = 0;  // Largest |a x b| of an output, at most sum.
  int64_t c = 0;       // Largest |c|.
  int64_t addend = 0;  // Largest of an epilogue's operands that are added; factors are 1 or 2.
};

// Unsupported where alpha or beta have too many bits, or out too few: with the reason.
Result<ExactLimits> exact_limits(const View& view);

// Per index of k. |a(i, p)| <= a[source[p]] for all i, likewise b; the values of p are those of
// source[p], with b negated where p != source[p].
struct ExactPlan {
  std::vector<int64_t> a, b;
  std::vector<int64_t> source;
  int64_t group = 1;     // g above; 1: dense.
  bool sparse_b = true;  // The sparse side is b, by columns; else a, by rows.
};

ExactPlan plan_exact(const View& view, const ExactLimits& limits, uint64_t seed);

// Of the kind `exact_blocks`: all indices alike, so small that the sums stay exact with blocks
// added up before they are multiplied. With sizes A and B three levels of Strassen have partial
// sums of at most 12 k A B (each level doubles a term's factors and halves their number, and three
// products are added); 16 leave room for other such orders.
ExactPlan plan_exact_blocks(const View& view, const ExactLimits& limits);

// Whether element (p, index of the column or row) of the sparse side is not zero.
inline bool is_active(const ExactPlan& plan, int64_t p, int64_t index) {
  if (plan.group == 1) return true;
  uint64_t mixed = (static_cast<uint64_t>(p / plan.group) << 32) + static_cast<uint64_t>(index);
  mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9;  // The finaliser of splitmix64.
  mixed = (mixed ^ mixed >> 32) * 0x94d049bb133111eb;
  const auto offset = static_cast<int64_t>((mixed >> 33) % static_cast<uint64_t>(plan.group));
  return p % plan.group == offset;
}

}  // namespace assay::gemm
