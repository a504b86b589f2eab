#include "bench/synthetic_family.h"

#include <utility>

#include "assay/kernel/design_space.h"

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
  DesignGroup group;
  group.traits.name = "nothing_{tile_m}_{tile_n}_{stages}";
  group.traits.rule = std::make_shared<const ProblemRule>(std::move(rule));
  group.axes = {numbers("tile_m", (rows + 99) / 100), numbers("tile_n", 10), numbers("stages", 10)};
  std::vector<DesignGroup> groups;
  groups.push_back(std::move(group));
  return DesignSpace(std::move(groups));
}

class SyntheticFamily final : public Family {
 public:
  explicit SyntheticFamily(int64_t rows) : space_(make_space(rows)) {}
  std::string_view name() const override { return "nothing"; }

 private:
  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    space_.enumerate(query, sink);
  }
  Result<Artifact> do_compile(const KernelMetadata&, const MaskedProblem&, const Target&,
                              const CompileContext&) const override {
    return Artifact::without_bytes({{"function", "do_nothing"}});
  }
  Status do_bind(const KernelMetadata&, const Binding&, std::vector<Step>& steps) const override {
    steps.push_back(HostStep{&do_nothing, nullptr});
    return {};
  }

  DesignSpace space_;
};

}  // namespace

// Reads what it is given, so that no compiler leaves the call out.
__attribute__((noinline)) int do_nothing(const void* state, void* const* data) {
  asm volatile("" : : "r"(state), "r"(data) : "memory");
  return 0;
}

std::shared_ptr<const Family> make_synthetic_family(int64_t rows) {
  return std::make_shared<const SyntheticFamily>(rows);
}

}  // namespace assay::bench
