#pragma once

// Right and wrong kernels for tests of the referee.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "assay/op/rmsnorm/rmsnorm.h"

namespace assay::rmsnorm::testing {

enum class Order { forward, backward, lanes, pairwise };

struct Naive {
  Order order = Order::forward;
  std::function<double(double)> sum;    // What each partial sum is stored as; empty: as float.
  std::function<double(double)> input;  // What a sum takes each x for.
  bool rounds_twice = false;            // x / root is rounded to the type of out.
  bool weighs = true;
  double root_factor = 1;
  int64_t rows_written = INT64_MAX;
  int64_t skipped_columns = 0;  // Of the sum: the last ones.
  enum class Sum { exact, as_written, both } sum_with_residual = Sum::as_written;  // Normalised.
  bool adds = true, writes_back = true;  // Where there is a residual.
};

// All outputs, as OutputPlaces has them. In float, or in double where the problem says so; of a
// timed launch where seeds are renewed. What is not written is 0x5a, or what was to be read there.
std::vector<std::byte> run(const Instance& instance, const Naive& how = {},
                           const InputSeeds& seeds = {});

// One element of an output.
double get(const Problem& problem, std::span<const std::byte> outputs, int64_t i, int64_t j,
           size_t operand = kOut);
void put(const Problem& problem, std::span<std::byte> outputs, int64_t i, int64_t j, double value,
         size_t operand = kOut);

}  // namespace assay::rmsnorm::testing
