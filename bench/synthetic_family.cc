#include "bench/synthetic_family.h"

#include <utility>

#include "assay/kernel/design_space.h"
#include "assay/op/gemm/gemm.h"

namespace assay::bench {
namespace {

DesignAxis numbers(std::string name, int64_t count) {
  std::vector<Value> values;
  for (int64_t i = 0; i < count; ++i) values.emplace_back(i);
  return axis(std::move(name), std::move(values));
}

DesignSpace make_space(int64_t rows) {
  ProblemRule rule;
  for (const char* role : {"a", "b", "out"})
    rule.operands.push_back({.role = role, .dtypes = {DType::f32}});
  rule.accumulate = {DType::f32};
  rule.batch = false;
  DesignGroup group;
  group.traits.name = "synthetic_{tile_m}_{tile_n}_{stages}";
  group.traits.rule = std::make_shared<const ProblemRule>(std::move(rule));
  group.axes = {numbers("tile_m", (rows + 99) / 100), numbers("tile_n", 10), numbers("stages", 10)};
  std::vector<DesignGroup> groups;
  groups.push_back(std::move(group));
  return DesignSpace(std::move(groups));
}

// Pointers in the problem's order: a, b, out.
int multiply(const void* state, void* const* data) {
  const auto& view = *static_cast<const gemm::View*>(state);
  const auto* a = static_cast<const float*>(data[0]);
  const auto* b = static_cast<const float*>(data[1]);
  auto* out = static_cast<float*>(data[2]);
  for (int64_t m = 0; m < view.m; ++m) {
    for (int64_t n = 0; n < view.n; ++n) {
      float sum = 0;
      for (int64_t k = 0; k < view.k; ++k)
        sum += a[m * view.a_m + k * view.a_k] * b[k * view.b_k + n * view.b_n];
      out[m * view.out_m + n * view.out_n] = sum;
    }
  }
  return 0;
}

class SyntheticFamily final : public Family {
 public:
  SyntheticFamily(int64_t rows, Synthetic kind) : space_(make_space(rows)), kind_(kind) {}
  std::string_view name() const override { return "synthetic"; }

 private:
  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    space_.enumerate(query, sink);
  }
  Result<Artifact> do_compile(const KernelMetadata&, const MaskedProblem&, const Target&,
                              const CompileContext&) const override {
    return Artifact::without_bytes(
        {{"function", kind_ == Synthetic::nothing ? "do_nothing" : "multiply"}});
  }
  Status do_bind(const KernelMetadata&, const Binding& binding,
                 std::vector<Step>& steps) const override {
    if (kind_ == Synthetic::nothing) {
      steps.push_back(HostStep{&do_nothing, nullptr});
      return {};
    }
    ASSAY_TRY(const gemm::View view, gemm::view(binding.problem));
    steps.push_back(HostStep{&multiply, std::make_shared<const gemm::View>(view)});
    return {};
  }

  DesignSpace space_;
  Synthetic kind_;
};

}  // namespace

// Reads what it is given, so that no compiler leaves the call out.
__attribute__((noinline)) int do_nothing(const void* state, void* const* data) {
  asm volatile("" : : "r"(state), "r"(data) : "memory");
  return 0;
}

std::shared_ptr<const Family> make_synthetic_family(int64_t rows, Synthetic kind) {
  return std::make_shared<const SyntheticFamily>(rows, kind);
}

}  // namespace assay::bench
