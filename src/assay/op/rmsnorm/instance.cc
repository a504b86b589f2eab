#include "assay/op/rmsnorm/instance.h"

#include <new>
#include <utility>

#include <fmt/format.h>

#include "assay/op/rmsnorm/compare.h"
#include "assay/op/rmsnorm/inputs.h"

namespace assay::rmsnorm {
namespace {

class RmsnormInstance final : public Instance {
 public:
  RmsnormInstance(Problem problem, const View& view, InputKind kind, Inputs inputs)
      : problem_(std::move(problem)), view_(view), kind_(kind), inputs_(std::move(inputs)) {}

  const Problem& problem() const override { return problem_; }
  InputKind kind() const override { return kind_; }

  std::span<const std::byte> input(size_t operand) const override {
    const MemoryFile* const found = find(operand);
    return found == nullptr ? std::span<const std::byte>() : found->bytes();
  }

  Result<UniqueFd> input_file(size_t operand) const override {
    if (const MemoryFile* found = find(operand)) return found->file();
    return fail(ErrorCode::internal, "operand {} is no input", operand);
  }

  Result<std::unique_ptr<Instance>> derive(uint64_t seed) const override try {
    ASSAY_TRY(Inputs permuted, permute(view_, inputs_, seed));
    return std::make_unique<RmsnormInstance>(problem_, view_, kind_, std::move(permuted));
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::machine, "not enough memory for more inputs of {}", problem_.name());
  }

 private:
  // By the elements' own bound, whatever a kernel promises: no row is mixed with another.
  Check do_check(std::span<const std::span<const std::byte>> outputs, const InputSeeds& seeds,
                 ErrorBound /*bound*/) const override {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Operand& operand = problem_.operands()[kOut + i];
      if (static_cast<int64_t>(outputs[i].size()) >= operand.span_bytes) continue;
      Check check;
      check.elements = check.wrong = static_cast<int64_t>(outputs.size()) * view_.m * view_.n;
      check.operand = operand.role;
      check.first_wrong = fmt::format("{} has {} bytes instead of {}", operand.role,
                                      outputs[i].size(), operand.span_bytes);
      return check;
    }
    const std::span<const std::byte> written = view_.adds ? outputs[1] : outputs[0].first(0);
    if (!seeds.renewed())
      return compare(
          view_,
          {inputs_.x.bytes(), inputs_.w.bytes(), outputs[0], inputs_.residual.bytes(), written},
          kind_ == InputKind::uniform);
    const auto x = renewed(problem_, view_, kX, seeds), w = renewed(problem_, view_, kW, seeds),
               residual = renewed(problem_, view_, kResidual, seeds);
    return compare(view_, {x, w, outputs[0], residual, written}, true);
  }

  const MemoryFile* find(size_t operand) const {
    if (operand == kX) return &inputs_.x;
    if (operand == kResidual && view_.adds) return &inputs_.residual;
    return operand == kW ? &inputs_.w : nullptr;
  }

  Problem problem_;
  View view_;
  InputKind kind_;
  Inputs inputs_;
};

}  // namespace

Result<std::unique_ptr<Instance>> make_rmsnorm_instance(const Problem& problem, InputKind kind,
                                                        uint64_t seed) {
  ASSAY_TRY(const View sizes, view(problem));
  ASSAY_TRY(Inputs inputs, make_inputs(problem, sizes, kind, seed));
  return std::make_unique<RmsnormInstance>(problem, sizes, kind, std::move(inputs));
}

}  // namespace assay::rmsnorm
