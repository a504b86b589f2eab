#include "costly.h"

#include <algorithm>
#include <cstdlib>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/kernel/design_space.h"
#include "assay/op/gemm/gemm.h"
#include "assay/op/gemm/matrix.h"

namespace assay::costly {
namespace {

struct Bound {
  gemm::View view;
  gemm::Places places;
  int64_t laps = 1;
};

int launch(const void* state, void* const* data) {
  const auto& bound = *static_cast<const Bound*>(state);
  const gemm::View& view = bound.view;
  const auto* a = static_cast<const float*>(data[bound.places.a]);
  const auto* b = static_cast<const float*>(data[bound.places.b]);
  auto* out = static_cast<float*>(data[bound.places.out]);
  for (int64_t lap = 0; lap < bound.laps; ++lap) {
    for (int64_t m = 0; m < view.m; ++m) {
      for (int64_t n = 0; n < view.n; ++n) {
        float sum = 0;
        for (int64_t k = 0; k < view.k; ++k)
          sum += a[m * view.a_m + k * view.a_k] * b[k * view.b_k + n * view.b_n];
        out[m * view.out_m + n * view.out_n] = sum;
        asm volatile("" : : "r"(out) : "memory");
      }
    }
  }
  return 0;
}

DesignGroup group(const std::string& name, double compile_seconds, DesignAxis axis) {
  ProblemRule rule;
  for (const char* role : {"a", "b", "out"})
    rule.operands.push_back({.role = role, .dtypes = {DType::f32}});
  rule.batch = false;
  DesignGroup group;
  group.traits.name = name;
  group.traits.compile_seconds = compile_seconds;
  group.traits.rule = std::make_shared<const ProblemRule>(std::move(rule));
  group.axes = {std::move(axis)};
  return group;
}

DesignSpace space() {
  constexpr int64_t kRows = 12, kFast = 5;
  DesignAxis rows{{"number", "laps"}, {}};
  for (int64_t number = 0; number < kRows; ++number)
    rows.choices.push_back({number, number == kFast ? int64_t{1} : int64_t{6}});
  std::vector<DesignGroup> groups;
  groups.push_back(group("costly_{number}", 45, std::move(rows)));
  groups.push_back(group("costly_default", 45, {{"default", "laps"}, {{true, int64_t{6}}}}));
  groups.push_back(group("costly_free", 0, {{"laps"}, {{int64_t{6}}}}));
  return DesignSpace(std::move(groups));
}

class CostlyFamily final : public Family {
 public:
  std::string_view name() const override { return "gemm"; }

 private:
  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    space_.enumerate(query, sink);
  }

  Result<Artifact> do_compile(const KernelMetadata& row, const MaskedProblem&, const Target&,
                              const CompileContext& context) const override {
    return context.cache->get_or_build(
        {{"kernel", row.name()}},
        [&](const std::filesystem::path& folder) -> Result<ArtifactCache::Built> {
          ASSAY_TRY(write_file_atomic((folder / "kernel").string(), row.name()));
          return ArtifactCache::Built{"kernel", {{"kernel", row.name()}}};
        });
  }

  Status do_bind(const KernelMetadata& row, const Binding& binding,
                 std::vector<Step>& steps) const override {
    auto bound = std::make_shared<Bound>();
    ASSAY_TRY(bound->view, gemm::view(binding.problem));
    bound->places = gemm::places_of(binding.problem);
    bound->laps = row.design.integer("laps", 1);
    steps.push_back(HostStep{&launch, std::move(bound)});
    return {};
  }

  DesignSpace space_ = space();
};

class Costly final : public Provider {
 public:
  const ProviderInfo& info() const override {
    static const ProviderInfo info = [] {
      ProviderInfo made;
      made.name = "costly";
      made.role = ProviderRole::stock;
      made.rank = 10;
      return made;
    }();
    return info;
  }

 private:
  Availability do_availability(const ProviderSettings&) const override {
    Availability availability;
    availability.available = true;
    return availability;
  }
  Result<std::vector<std::shared_ptr<const Family>>> do_families(
      const ProviderSettings&) const override {
    return std::vector<std::shared_ptr<const Family>>{std::make_shared<const CostlyFamily>()};
  }
};

// Of a kernel's number, on problems with so many rows.
using Cost = std::optional<double> (*)(int64_t number, int64_t rows);

class NumberScorer final : public Scorer {
 public:
  explicit NumberScorer(Cost cost) : cost_(cost) {}

 private:
  void do_score(std::span<const KernelMetadata> rows, const Problem& problem, const DeviceFacts&,
                Scores& scores) const override {
    const auto& sizes = problem.operands()[0].sizes;  // Of a: m and k come last.
    const int64_t rows_of_problem = sizes[sizes.size() - 2];
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t number = rows[i].design.integer("number", -1);
      const auto cost = number < 0 ? std::nullopt : cost_(number, rows_of_problem);
      if (cost)
        scores.costs[i] = *cost;
      else
        ++scores.unscored["its number says nothing"];
    }
  }
  Cost cost_;
};

class NumberRanker final : public Ranker {
 public:
  NumberRanker(std::string name, Cost cost) : cost_(cost) {
    info_.name = std::move(name);
    if (cost_ == nullptr) info_.packages = {"libcostly"};
  }
  const RankerInfo& info() const override { return info_; }

 private:
  Result<std::unique_ptr<Scorer>> do_open(const ProviderSettings&) const override {
    if (cost_ == nullptr) return fail(ErrorCode::unsupported, "there is no libcostly.so");
    return std::make_unique<NumberScorer>(cost_);
  }
  RankerInfo info_;
  Cost cost_;
};

}  // namespace

std::unique_ptr<Provider> make_provider() { return std::make_unique<Costly>(); }

std::vector<std::unique_ptr<Ranker>> make_rankers() {
  const auto of = [](const char* name, Cost cost) {
    return std::make_unique<NumberRanker>(name, cost);
  };
  std::vector<std::unique_ptr<Ranker>> rankers;
  rankers.push_back(of("by_number", [](int64_t number, int64_t) {
    return number % 2 == 1 ? std::optional<double>(static_cast<double>(number)) : std::nullopt;
  }));
  rankers.push_back(of("worst_first", [](int64_t number, int64_t) {
    return std::optional<double>(-static_cast<double>(number));
  }));
  rankers.push_back(of("roofline", [](int64_t, int64_t) { return std::optional<double>(); }));
  rankers.push_back(of("missing", nullptr));
  rankers.push_back(
      of("crashing", [](int64_t, int64_t) -> std::optional<double> { std::abort(); }));
  rankers.push_back(of("hanging", [](int64_t, int64_t rows) -> std::optional<double> {
    constexpr int64_t kHangsOn = 13;
    while (rows == kHangsOn) ::pause();
    return std::nullopt;
  }));
  return rankers;
}

}  // namespace assay::costly

namespace assay {

std::vector<std::unique_ptr<Provider>> built_in_providers() {
  std::vector<std::unique_ptr<Provider>> providers;
  providers.push_back(costly::make_provider());
  return providers;
}

std::vector<std::unique_ptr<Ranker>> built_in_rankers() { return costly::make_rankers(); }

}  // namespace assay
