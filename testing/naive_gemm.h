#pragma once

// Right and wrong GEMMs for tests of the referee.

#include <cstdint>
#include <functional>
#include <vector>

#include "assay/op/gemm/gemm.h"
#include "assay/op/operation.h"

namespace assay::gemm::testing {

enum class Order { forward, backward, pairwise, lanes, fused };

struct Naive {
  Order order = Order::forward;
  std::function<double(double)> input;  // What the kernel makes of each a and b; empty: nothing.
  std::optional<DType> accumulate;      // Instead of the declared one.
  int64_t skipped_k = 0;                // Last indices of k that it forgets.
  int64_t rows_written = INT64_MAX;     // Of each batch.
  int64_t batches_written = INT64_MAX;
  // Of an epilogue: steps from the first on that it does, columns of out that get it, and whether
  // sums are rounded to out's type ahead of it, as where it is a kernel of its own.
  size_t steps = 99;
  int64_t columns_with_epilogue = INT64_MAX;
  bool unfused = false;
};

// Out as a kernel would leave it that found out full of 0x5a.
std::vector<std::byte> run(const Instance& instance, const Naive& how = {});
// The same of a timed launch, whose inputs are made from seeds (Operation::renewal).
std::vector<std::byte> run(const Instance& instance, const InputSeeds& seeds,
                           const Naive& how = {});

// One element of a matrix of the problem ("a", "b", "out", "c") within its bytes.
double get(const Problem& problem, std::string_view role, std::span<const std::byte> bytes,
           int64_t l, int64_t i, int64_t j);
void put(const Problem& problem, std::string_view role, std::vector<std::byte>& bytes, int64_t l,
         int64_t i, int64_t j, double value);
// Flips one bit of an element.
void flip(const Problem& problem, std::vector<std::byte>& out, int64_t l, int64_t i, int64_t j,
          int bit);

}  // namespace assay::gemm::testing
