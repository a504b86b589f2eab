#include "assay/verify/audit.h"

#include <memory>

#include "assay/op/operation.h"
#include "assay/op/outputs.h"
#include "assay/record/coarse.h"

namespace assay::verify {
namespace {

constexpr double kProducts = 0x1p27;
constexpr uint64_t kSeed = 20;  // Any: impostors do not look.

// As of a kernel that nobody else competes with.
bool is_coarse(const Check& check, ErrorBound bound) {
  ProofSummary proof;
  proof.error_bound = bound;
  proof.ordinary_lines.add(check.ordinary_lines.elements, check.ordinary_lines.sum);
  proof.wide_lines.add(check.wide_lines.elements, check.wide_lines.sum);
  return coarse_arithmetic(proof, {}, false).has_value();
}

}  // namespace

Result<Audit> audit(const Problem& asked, ErrorBound bound) {
  ASSAY_TRY(const Operation* operation, find_operation(asked.operation()));
  ASSAY_TRY(const Problem problem, operation->fewer_outputs(asked, kProducts));
  const size_t bytes = OutputPlaces::of(problem).bytes;
  const auto names = operation->impostors();
  // One without impostors looks for some when it makes uniform inputs.
  if (names.empty())
    ASSAY_TRY(operation->make_instance(problem, InputKind::uniform, kSeed).map([](const auto&) {}));
  enum class Found : uint8_t { nothing, failed, passed };
  std::vector<Found> found(names.size());
  for (const InputKind kind : operation->useful_kinds(problem, bound)) {
    std::unique_ptr<Instance> instance;  // Made where somebody still passes.
    for (size_t i = 0; i < names.size(); ++i) {
      if (found[i] == Found::failed) continue;
      if (!instance) {
        ASSAY_TRY(instance, operation->make_instance(problem, kind, kSeed));
      }
      std::vector<std::byte> output(bytes);
      if (!operation->pretend(i, *instance, output)) continue;
      const Check check = instance->check(output, {}, bound);
      found[i] = check.right && !is_coarse(check, bound) ? Found::passed : Found::failed;
    }
  }
  Audit audit;
  for (size_t i = 0; i < names.size(); ++i)
    (found[i] == Found::failed   ? audit.failed
     : found[i] == Found::passed ? audit.passed
                                 : audit.honest)
        .emplace_back(names[i]);
  return audit;
}

}  // namespace assay::verify
