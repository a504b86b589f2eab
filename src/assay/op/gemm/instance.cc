#include "assay/op/gemm/instance.h"

#include <mutex>
#include <new>

#include "assay/op/gemm/compare.h"
#include "assay/op/gemm/variation.h"
#include "assay/op/gemm/varied_check.h"

namespace assay::gemm {
namespace {

// A base seen through a mapping: the base's own inputs where that is the identity.
class GemmInstance final : public Instance {
 public:
  explicit GemmInstance(std::shared_ptr<const Base> base)
      : base_(std::move(base)), mapping_(Mapping::identity(base_->view)) {}

  GemmInstance(std::shared_ptr<const Base> base, Mapping mapping)
      : base_(std::move(base)), mapping_(std::move(mapping)), derived_(true) {
    const View& view = base_->view;
    a_ = permuted(matrix_a(view), base_->inputs.a, mapping_.l, mapping_.m, mapping_.k);
    b_ = permuted(matrix_b(view), base_->inputs.b, mapping_.l, mapping_.k, mapping_.n);
    if (view.has_c)
      c_ = permuted(matrix_c(view), base_->inputs.c, mapping_.l, mapping_.m, mapping_.n);
  }

  const Problem& problem() const override { return base_->problem; }
  InputKind kind() const override { return base_->kind; }

  std::span<const std::byte> input(size_t operand) const override {
    const auto operands = base_->problem.operands();
    if (operand >= operands.size()) return {};
    const std::string& role = operands[operand].role;
    if (role == "a") return derived_ ? a_ : base_->inputs.a;
    if (role == "b") return derived_ ? b_ : base_->inputs.b;
    if (role == "c") return derived_ ? c_ : base_->inputs.c;
    return {};
  }

  Check check(std::span<const std::byte> output, uint64_t variation) const override {
    const int64_t needed = base_->problem.find_operand("out")->span_bytes;
    if (static_cast<int64_t>(output.size()) < needed) {
      Check check;
      check.elements = base_->view.l * base_->view.m * base_->view.n;
      check.wrong = check.elements;
      check.first_wrong = fmt::format("out has {} bytes instead of {}", output.size(), needed);
      return check;
    }
    if (variation == 0 || varied_operand_of(base_->problem) > 1)
      return compare(*base_, mapping_, derived_ ? c_ : base_->inputs.c, output);
    const VariedInputs own = {derived_ ? a_ : base_->inputs.a, derived_ ? b_ : base_->inputs.b,
                              derived_ ? c_ : base_->inputs.c};
    std::call_once(projection_once_, [&] { projection_ = make_projection(*base_, own); });
    return check_varied(*base_, projection_, own, output, variation);
  }

  Result<std::unique_ptr<Instance>> derive(uint64_t seed) const override try {
    return std::make_unique<GemmInstance>(base_,
                                          Mapping::random(base_->view, seed).after(mapping_));
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::machine, "not enough memory for more inputs of {}",
                base_->problem.name());
  }

 private:
  std::shared_ptr<const Base> base_;
  Mapping mapping_;
  bool derived_ = false;
  std::vector<std::byte> a_, b_, c_;
  mutable std::once_flag projection_once_;
  mutable Projection projection_;
};

}  // namespace

Result<std::unique_ptr<Instance>> make_gemm_instance(const Problem& problem, InputKind kind,
                                                     uint64_t seed) {
  ASSAY_TRY(std::shared_ptr<const Base> base, make_base(problem, kind, seed));
  return std::make_unique<GemmInstance>(std::move(base));
}

}  // namespace assay::gemm
