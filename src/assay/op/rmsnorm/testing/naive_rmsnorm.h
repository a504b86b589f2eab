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
};

// In float, or in double where the problem says so; of a timed launch where seeds are renewed. What
// is not written is 0x5a.
std::vector<std::byte> run(const Instance& instance, const Naive& how = {},
                           const InputSeeds& seeds = {});

// One element of out.
double get(const Problem& problem, std::span<const std::byte> out, int64_t i, int64_t j);
void put(const Problem& problem, std::span<std::byte> out, int64_t i, int64_t j, double value);

}  // namespace assay::rmsnorm::testing
