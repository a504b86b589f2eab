#include "assay/op/gemm/freivalds.h"

#include <algorithm>

#include "assay/base/random.h"

namespace assay::gemm {

uint64_t modulo(Wide value) {
  const Wide prime = kPrime;
  // 2^61 is 1 modulo the prime, so high bits fold onto low ones.
  Wide folded = (value & prime) + (value >> 61);
  folded = (folded & prime) + (folded >> 61);
  if (folded < 0) folded += prime;
  if (folded >= prime) folded -= prime;
  return static_cast<uint64_t>(folded);
}

uint64_t multiply_modulo(uint64_t x, int64_t factor) {
  return modulo(static_cast<Wide>(x) * factor);
}

void ResidueSum::add(const double* integers, const uint64_t* residues, int64_t count) {
  // Terms are below 2^114, so 4096 of them and a residue fit 127 bits.
  for (int64_t from = 0; from < count; from += 4096) {
    const int64_t end = std::min(count, from + 4096);
    Wide sum = 0;
    for (int64_t i = from; i < end; ++i)
      sum +=
          static_cast<Wide>(static_cast<int64_t>(integers[i])) * static_cast<int64_t>(residues[i]);
    sum_ = static_cast<Wide>(modulo(sum_)) + modulo(sum);
  }
}

std::vector<uint64_t> random_residues(int64_t count, uint64_t seed) {
  const CounterRandom random{seed, 0x667265697661};  // A stream of its own.
  std::vector<uint64_t> residues(static_cast<size_t>(count));
  for (size_t i = 0; i < residues.size(); ++i) residues[i] = random.below(i, kPrime);
  return residues;
}

std::vector<uint64_t> times_residues(const Matrix& matrix, const std::vector<uint64_t>& residues,
                                     int64_t step) {
  std::vector<ResidueSum> sums(static_cast<size_t>(matrix.batches * matrix.rows));
  for_each_tile_parallel(matrix, [&](int64_t batch, Range rows, Range columns, double* tile) {
    load_tile(matrix, batch, rows, columns, tile);
    for (int64_t i = 0; i < rows.count; ++i)
      sums[static_cast<size_t>(batch * matrix.rows + rows[i])].add(
          tile + i * columns.count, residues.data() + batch * step + columns.first, columns.count);
  });
  std::vector<uint64_t> result(sums.size());
  for (size_t i = 0; i < sums.size(); ++i) result[i] = sums[i].value();
  return result;
}

}  // namespace assay::gemm
