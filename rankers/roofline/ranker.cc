#include "assay/kernel/ranker.h"

#include <string_view>

#include "assay/base/json.h"
#include "estimate.h"

namespace assay::roofline {
namespace {

// What breaks ties between rows of one design, by what they ask of a problem: far smaller than what
// the model is wrong by. Narrow loads go through threads and not the copy engine; room for a C that
// the problem lacks costs stages.
constexpr double kNarrow = 1.01, kIdleC = 1.001;
constexpr int64_t kCopyEngineBytes = 16;

double tie_breaker(const ProblemRule& rule, bool has_c) {
  double factor = 1;
  for (const OperandRule& operand : rule.operands) {
    if (operand.role == "c" && !has_c) factor *= kIdleC;
    if ((operand.role == "a" || operand.role == "b") && operand.alignment > 1 &&
        operand.alignment < kCopyEngineBytes)
      factor *= kNarrow;
  }
  return factor;
}

class RooflineScorer final : public Scorer {
  void do_score(std::span<const KernelMetadata> rows, const Problem& problem,
                const DeviceFacts& device, Scores& scores) const override {
    const auto all = [&](const char* why) {
      scores.unscored[why] += static_cast<int64_t>(rows.size());
    };
    if (device.capability < 7) return all("its model is of GPUs with tensor cores");
    const auto view = gemm::view(problem);
    if (!view) return all("its model is of GEMM alone");
    const Gpu gpu = gpu_of(device);
    const Work work = work_of(*view, device.capability);
    TileReader reader;
    TileDesign tile;
    const ProblemRule* rule = nullptr;  // Of the row before.
    double factor = 1;
    for (size_t i = 0; i < rows.size(); ++i) {
      std::string_view why = reader.read(rows[i].design, tile);
      if (why.empty() && accumulator_registers(tile, work) > kMostRegisters)
        why = "its sums need more registers than a thread can have";
      if (!why.empty()) {
        ++scores.unscored[std::string(why)];
        continue;
      }
      if (rule != &rows[i].rule()) {
        rule = &rows[i].rule();
        factor = tie_breaker(*rule, view->has_c);
      }
      scores.costs[i] = factor * estimate_seconds(tile, work, gpu);
    }
  }
};

class Roofline final : public Ranker {
 public:
  const RankerInfo& info() const override {
    static const RankerInfo info = {
        .name = "roofline",
        .summary = "waves, tails and bytes of tiles on a GPU, from its data sheet",
        .licence = "as assay",
        .library = "",
        .packages = {},
        .rank = 10};
    return info;
  }

 private:
  Result<std::unique_ptr<Scorer>> do_open(const ProviderSettings&) const override {
    return std::make_unique<RooflineScorer>();
  }
};

}  // namespace

std::unique_ptr<Ranker> make_ranker() { return std::make_unique<Roofline>(); }

}  // namespace assay::roofline
