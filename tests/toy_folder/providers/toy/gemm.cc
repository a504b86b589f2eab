#include "gemm.h"

#include <algorithm>
#include <string>
#include <utility>

#include "assay/device/cpu/cpu_device.h"
#include "assay/kernel/design_space.h"
#include "assay/op/gemm/matrix.h"

namespace assay::toy {
namespace {

struct Bound {
  gemm::View view;
  bool sum_last = false;  // ijp: one output at a time; else ipj: a row of outputs.
  gemm::Places places;

  int run(void* const* data) const {
    const auto* left = static_cast<const float*>(data[places.a]);
    const auto* right = static_cast<const float*>(data[places.b]);
    auto* to = static_cast<float*>(data[places.out]);
    for (int64_t i = 0; i < view.m; ++i) {
      float* row = to + i * view.out_m;
      std::fill(row, row + view.n, 0.0f);
      const int64_t outer = sum_last ? view.n : view.k, inner = sum_last ? view.k : view.n;
      for (int64_t x = 0; x < outer; ++x) {
        for (int64_t y = 0; y < inner; ++y) {
          const int64_t j = sum_last ? x : y, p = sum_last ? y : x;
          row[j] += left[i * view.a_m + p] * right[p * view.b_k + j];
        }
      }
    }
    return 0;
  }
};

int launch(const void* state, void* const* data) {
  return static_cast<const Bound*>(state)->run(data);
}

DesignSpace space() {
  ProblemRule rule;
  for (const char* role : {"a", "b", "out"})
    rule.operands.push_back({.role = role, .dtypes = {DType::f32}, .major = Major::row});
  rule.batch = false;
  rule.targets = {Target{.arch = cpu::host_target().arch, .features = {}}};
  DesignGroup group;
  group.traits.name = "loops_{order}";
  group.traits.rule = std::make_shared<const ProblemRule>(std::move(rule));
  group.axes = {axis("order", {std::string("ijp"), std::string("ipj")})};
  std::vector<DesignGroup> groups;
  groups.push_back(std::move(group));
  return DesignSpace(std::move(groups));
}

class GemmFamily final : public Family {
 public:
  std::string_view name() const override { return "gemm"; }

 private:
  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    space_.enumerate(query, sink);
  }

  Result<Artifact> do_compile(const KernelMetadata&, const MaskedProblem&, const Target&,
                              const CompileContext&) const override {
    return Artifact::without_bytes({{"code", "built in"}});
  }

  Status do_bind(const KernelMetadata& row, const Binding& binding,
                 std::vector<Step>& steps) const override {
    auto bound = std::make_shared<Bound>();
    ASSAY_TRY(bound->view, gemm::view(binding.problem));
    const Value* order = row.design.find("order");
    bound->sum_last = order != nullptr && *order == Value(std::string("ijp"));
    bound->places = gemm::places_of(binding.problem);
    steps.push_back(HostStep{&launch, std::move(bound)});
    return {};
  }

  DesignSpace space_ = space();
};

}  // namespace

std::shared_ptr<const Family> make_gemm_family() { return std::make_shared<const GemmFamily>(); }

}  // namespace assay::toy
