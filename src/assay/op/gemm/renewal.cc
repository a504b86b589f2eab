#include "assay/op/gemm/renewal.h"

#include <algorithm>

#include "assay/base/random.h"
#include "assay/op/gemm/exact_plan.h"
#include "assay/op/gemm/lines.h"
#include "assay/op/gemm/ranges.h"

namespace assay::gemm {
namespace {

constexpr uint64_t kOddLines = 0x6f6464;  // A stream of its own.

// Which lines are odd depends on the seed.
void set_lines(Renewal& renewal, const LinePlan& plan, int64_t k) {
  renewal.odd_dimension = plan.of_b ? 2 : 1;
  renewal.high = plan.high;
  renewal.reach = static_cast<uint32_t>(plan.high - plan.low);
  if (plan.has_wide()) {
    renewal.odd_step = std::min(plan.lines, LinePlan::kLinesForEach);
    renewal.odd_first = static_cast<int64_t>(
        CounterRandom{renewal.key, kOddLines}.below(0, static_cast<uint64_t>(renewal.odd_step)));
    renewal.parts = plan.counting;
    renewal.part = std::max(k / plan.counting, int64_t{1});
  } else {
    renewal.odd_step = 1;
    renewal.drawn_are_small = true;
    renewal.part = LinePlan::kForEachSmall;
    renewal.parts = k / renewal.part;
  }
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
  if (which.role != "a" && which.role != "b" && which.role != "c") {  // Of an epilogue.
    const auto limits = exact_limits(*sizes);
    const int64_t most = limits ? limits->addend : 0;
    if (ranges.integers) set_integers(renewal, -most, most);
    return renewal;
  }
  if (!ranges.integers) {
    const LinePlan plan = plan_lines(problem, *sizes);
    if (which.role == "c") {
      renewal.scale = ranges.scale_c();
    } else if ((which.role == "b") == plan.of_b) {
      renewal.scale = plan.scale;
      set_lines(renewal, plan, sizes->k);
    }
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
  set_integers(renewal, most == 127 && !flips ? -128 : -most, most);
  return renewal;
}

}  // namespace assay::gemm
