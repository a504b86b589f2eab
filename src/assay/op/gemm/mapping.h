#pragma once

// How a derived instance's indices and signs map to those of the instance that has the reference.
// Not for use outside op/gemm.

#include <cstdint>
#include <span>
#include <vector>

#include "assay/op/gemm/base.h"
#include "assay/op/gemm/epilogue.h"

namespace assay::gemm {

// One dimension: derived index i is base index from[i], negated where negative[i] is 1.
struct Axis {
  std::vector<int64_t> from;
  std::vector<uint8_t> negative;

  static Axis identity(int64_t size);
  static Axis random(int64_t size, bool flip, uint64_t seed, uint64_t stream);
  Axis after(const Axis& inner) const;  // First this one's indices, then those of `inner`.
  std::vector<int64_t> inverse() const;
};

// a(i, p) = +-base a(m.from[i], k.from[p]); b, c and out likewise. Signs along k cancel.
struct Mapping {
  Axis l, m, n, k;
  Axis out;  // Columns of out: n, or half of it behind a gate, whose pairs stay together.

  static Mapping identity(const View& view);
  // Permutes everything. Signs are flipped for floats only, since -128 has no negative in s8, and
  // in front of an epilogue along k alone: what follows need not be odd.
  static Mapping random(const View& view, const Epilogue& epilogue, uint64_t seed);
  Mapping after(const Mapping& inner) const;
};

// An operand at `to` as it is at `bytes`, with rows, columns and batches permuted and negated as
// the axes say.
void permute(const Matrix& matrix, std::span<const std::byte> bytes, std::span<std::byte> to,
             const Axis& batches, const Axis& rows, const Axis& columns);

}  // namespace assay::gemm
