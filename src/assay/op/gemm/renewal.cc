#include "assay/op/gemm/renewal.h"

#include <algorithm>

#include "assay/base/random.h"
#include "assay/op/gemm/exact_plan.h"
#include "assay/op/gemm/ranges.h"

namespace assay::gemm {
namespace {

constexpr int64_t kWideEvery = 64;  // Rows: enough that tiles of rows meet one now and then.
constexpr uint32_t kReach = 40, kReachOfHalf = 13;  // Binades; f16's normal ones below 1.
constexpr uint64_t kWideRows = 0x77696465;          // A stream of its own.

// Which rows are wide depends on the seed.
void widen(Renewal& renewal) {
  const int64_t step = std::min(renewal.sizes[1], kWideEvery);
  renewal.wide_step = std::max(step, int64_t{1});
  renewal.wide_first = static_cast<int64_t>(
      CounterRandom{renewal.key, kWideRows}.below(0, static_cast<uint64_t>(renewal.wide_step)));
  renewal.reach = renewal.dtype == DType::f16 ? kReachOfHalf : kReach;
}

void set_integers(Renewal& renewal, int64_t low, int64_t high) {
  renewal.low = low;
  renewal.count = static_cast<uint32_t>(high - low + 1);
}

}  // namespace

Renewal renewal_of(const Problem& problem, size_t operand, const InputSeeds& seeds) {
  Renewal renewal;
  renewal.sizes = {0, 0, 0};
  const auto sizes = view(problem);
  if (!sizes || operand >= problem.operands().size()) return renewal;
  const Operand& which = problem.operands()[operand];
  renewal.dtype = which.dtype;
  const bool flips = which.role == "b" && varies(which) && varies(*problem.find_operand("a"));
  renewal.key = varies(which) && !flips ? seeds.launch : seeds.set;
  renewal.flip_key = flips ? seeds.launch : 0;
  renewal.stream = operand + 1;
  std::ranges::copy(which.sizes, renewal.sizes.begin());
  std::ranges::copy(which.strides, renewal.strides.begin());
  const Ranges ranges(*sizes);
  if (!ranges.integers) {
    renewal.scale = which.role == "a" ? ranges.scale_a() : which.role == "c" ? ranges.scale_c() : 1;
    if (which.role == "a") widen(renewal);
    return renewal;
  }
  if (which.role == "c") {
    const auto limits = exact_limits(*sizes);
    const int64_t most = limits ? limits->c : 0;
    set_integers(renewal, -most, most);
    return renewal;
  }
  const int64_t most = ranges.most_integer();
  // -128 has no negative.
  set_integers(renewal, which.role == "b" && most == 127 && !flips ? -128 : -most, most);
  return renewal;
}

}  // namespace assay::gemm
