#include "assay/op/gemm/exact_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "assay/base/random.h"

namespace assay::gemm {
namespace {

int64_t exact_range(DType dtype) {
  const int bits = info(dtype).significand_bits;
  return info(dtype).floating ? int64_t{1} << bits : (int64_t{1} << bits) - 1;
}

// value = integer * 2^exponent with an odd integer (0 for 0).
struct Dyadic {
  int64_t integer = 0;
  int exponent = 0;
};
Dyadic dyadic(double value) {
  int exponent = 0;
  auto integer = static_cast<int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  if (integer == 0) return {};
  exponent -= 53;
  while (integer % 2 == 0) integer /= 2, ++exponent;
  return {integer, exponent};
}

// Largest 2^x - 1 that is at most `most` and has at most `bits` bits; at least 1.
int64_t ones_below(int64_t most, int bits) {
  int64_t value = 1;
  for (int x = 1; x < bits && value * 2 + 1 <= most; ++x) value = value * 2 + 1;
  return value;
}

// Bits that a narrower input type would lose: see the header.
int heavy_bits(DType dtype) {
  if (dtype == DType::f64) return 26;
  if (dtype == DType::f32) return 13;
  return info(dtype).significand_bits;
}

// Sizes for the listed indices so that the sum over them of a * b is at most `limit`, which is at
// least their number.
void assign(std::span<const int64_t> indices, int64_t limit, const View& view, ExactPlan& plan) {
  const auto count = static_cast<int64_t>(indices.size());
  if (count == 0) return;
  for (int64_t p : indices) plan.a[p] = plan.b[p] = 1;
  int64_t spare = limit - count;
  const int64_t giants = std::min<int64_t>(4, count);
  const int64_t giant_most = 1 + (count <= giants ? spare : spare / 2) / giants;
  int64_t used = 0;
  for (; used < giants; ++used) {
    const bool on_a = used % 2 == 0;
    const DType dtype = on_a ? view.a : view.b;
    const int64_t giant = ones_below(giant_most, info(dtype).significand_bits);
    if (count > giants && giant < (int64_t{1} << heavy_bits(dtype)) - 1) break;
    (on_a ? plan.a : plan.b)[indices[used]] = giant;
    spare -= giant - 1;
  }
  int64_t heavy_sum = 0;
  int64_t next = used;
  for (; next < count; ++next) {
    const bool on_a = next % 2 == 0;
    const int64_t heavy = (int64_t{1} << heavy_bits(on_a ? view.a : view.b)) - 1;
    if (spare < heavy - 1) break;
    (on_a ? plan.a : plan.b)[indices[next]] = heavy;
    heavy_sum += heavy;
    spare -= heavy - 1;
  }
  if (next < count || heavy_sum == 0) return;
  // Room is left: let the light side of the heavy ones vary too.
  const int64_t factor = 1 + spare / heavy_sum;
  for (int64_t i = used; i < count; ++i) {
    const bool on_a = i % 2 == 0;
    const DType dtype = on_a ? view.b : view.a;
    (on_a ? plan.b : plan.a)[indices[i]] = ones_below(factor, heavy_bits(dtype));
  }
}

std::vector<int64_t> permutation(int64_t count, uint64_t seed) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  const CounterRandom random{seed, 0x706c616e};
  for (int64_t i = count - 1; i > 0; --i)
    std::swap(order[i],
              order[random.below(static_cast<uint64_t>(i), static_cast<uint64_t>(i) + 1)]);
  return order;
}

}  // namespace

Result<ExactLimits> exact_limits(const View& view) {
  const auto refuse = [](std::string_view field, double value) {
    return fail(ErrorCode::unsupported, "{}: {} has too many bits for exact outputs", field, value);
  };
  const Dyadic alpha = dyadic(view.alpha), beta = dyadic(view.has_c ? view.beta : 0);
  // Only negative exponents make the quantum: a large factor is an integer of its own.
  const int exponent = std::min({0, alpha.exponent, beta.exponent});
  ExactLimits limits;
  limits.quantum = std::ldexp(1, exponent);
  const double ia = std::ldexp(view.alpha, -exponent);
  const double ib = view.has_c ? std::ldexp(view.beta, -exponent) : 0;
  if (beta.exponent < -16 || std::fabs(ib) > 0x1p31) return refuse("beta", view.beta);
  if (alpha.exponent < -16 || std::fabs(ia) > 0x1p31) return refuse("alpha", view.alpha);
  limits.ia = static_cast<int64_t>(ia);
  limits.ib = static_cast<int64_t>(ib);
  const int64_t factor = std::max<int64_t>(1, std::abs(limits.ia));
  int64_t sum = exact_range(view.accumulate), output = exact_range(view.out);
  if (view.has_c) {
    const int64_t weight = std::max<int64_t>(1, std::abs(limits.ib));
    limits.c = std::min<int64_t>(15, std::min(sum, output) / 4 / weight);
    if (limits.c < 1) return refuse("beta", view.beta);
    sum -= limits.c * weight;
    output -= limits.c * weight;
  }
  output >>= view.epilogue_factors;
  if (view.epilogue_addends > 0) {
    limits.addend = std::min<int64_t>(7, std::min(sum, output) / 4 / view.epilogue_addends);
    if (limits.addend < 1)
      return fail(ErrorCode::unsupported, "out: it has too few bits for exact outputs");
    sum -= limits.addend * view.epilogue_addends;
    output -= limits.addend * view.epilogue_addends;
  }
  limits.sum = sum / factor;
  limits.output = std::min(limits.sum, output / factor);
  if (limits.output < 1) return refuse("alpha", view.alpha);
  return limits;
}

ExactPlan plan_exact_blocks(const View& view, const ExactLimits& limits) {
  constexpr int64_t kRoom = 16;
  const int64_t limit = std::max<int64_t>(std::min(limits.output, limits.sum / kRoom), 1);
  ExactPlan plan;
  plan.sparse_b = view.n >= view.m;
  plan.group = (view.k + limit - 1) / limit;
  const int64_t terms = (view.k + plan.group - 1) / plan.group;
  const auto size = static_cast<int64_t>(std::sqrt(static_cast<double>(limit / terms)));
  const auto within = [&](DType dtype) {
    return ones_below(std::max<int64_t>(size, 1), heavy_bits(dtype));
  };
  plan.a.assign(static_cast<size_t>(view.k), within(view.a));
  plan.b.assign(static_cast<size_t>(view.k), within(view.b));
  plan.source.resize(static_cast<size_t>(view.k));
  std::iota(plan.source.begin(), plan.source.end(), int64_t{0});
  return plan;
}

ExactPlan plan_exact(const View& view, const ExactLimits& limits, uint64_t seed) {
  const int64_t k = view.k;
  ExactPlan plan;
  plan.a.assign(static_cast<size_t>(k), 1);
  plan.b.assign(static_cast<size_t>(k), 0);
  plan.source.resize(static_cast<size_t>(k));
  std::iota(plan.source.begin(), plan.source.end(), int64_t{0});
  plan.sparse_b = view.n >= view.m;
  const std::vector<int64_t> order = permutation(k, seed);
  const std::span<const int64_t> all(order);
  const bool paired = k >= 8 && limits.sum / 4 >= limits.output;
  if (!paired) {
    if (k > limits.output) {
      plan.group = (k + limits.output - 1) / limits.output;
      plan.b.assign(static_cast<size_t>(k), 1);
      return plan;
    }
    assign(all, limits.output, view, plan);
    return plan;
  }
  int64_t alone = std::clamp<int64_t>(limits.output, 1, k / 4);
  if ((k - alone) % 2 != 0) alone += alone < limits.output ? 1 : -1;
  alone = std::max<int64_t>(alone, 1);
  assign(all.first(alone), limits.output, view, plan);
  const int64_t room = (limits.sum - limits.output) / 2;
  const int64_t pairs = std::min((k - alone) / 2, room);
  assign(all.subspan(alone, pairs), room, view, plan);
  for (int64_t i = 0; i < pairs; ++i) plan.source[order[alone + pairs + i]] = order[alone + i];
  return plan;  // Indices left over have b = 0.
}

}  // namespace assay::gemm
