#include "assay/op/gemm/instance.h"

#include <mutex>
#include <new>

#include "assay/op/calculator.h"
#include "assay/op/gemm/calculated_check.h"
#include "assay/op/gemm/compare.h"
#include "assay/op/gemm/variation.h"
#include "assay/op/gemm/varied_check.h"

namespace assay::gemm {
namespace {

// A base seen through a mapping: the base's own inputs where that is the identity.
class GemmInstance final : public CalculatedInstance {
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
    const VariedInputs inputs = own();
    std::call_once(projection_once_, [&] { projection_ = make_projection(*base_, inputs); });
    return check_varied(*base_, projection_, inputs, output, variation);
  }

  Result<Check> check_on(Calculator& calculator, const void* output,
                         uint64_t variation) const override try {
    return calculated_.check(calculator, *base_, own(), output, variation);
  } catch (const std::bad_alloc&) {
    return out_of_memory("comparing outputs");
  }

  Status prepare_check() const override try {
    (void)base_->reference();
    return {};
  } catch (const std::bad_alloc&) {
    return out_of_memory("the reference");
  }

  Result<std::unique_ptr<Instance>> derive(uint64_t seed) const override try {
    return std::make_unique<GemmInstance>(base_,
                                          Mapping::random(base_->view, seed).after(mapping_));
  } catch (const std::bad_alloc&) {
    return out_of_memory("more inputs");
  }

 private:
  tl::unexpected<Error> out_of_memory(std::string_view what) const {
    return fail(ErrorCode::machine, "not enough memory for {} of {}", what, base_->problem.name());
  }

  VariedInputs own() const {
    const Inputs& inputs = base_->inputs;
    return {derived_ ? a_ : inputs.a, derived_ ? b_ : inputs.b, derived_ ? c_ : inputs.c};
  }

  std::shared_ptr<const Base> base_;
  Mapping mapping_;
  bool derived_ = false;
  std::vector<std::byte> a_, b_, c_;
  mutable std::once_flag projection_once_;
  mutable Projection projection_;
  mutable CalculatedCheck calculated_;
};

}  // namespace

Result<std::unique_ptr<Instance>> make_gemm_instance(const Problem& problem, InputKind kind,
                                                     uint64_t seed) {
  ASSAY_TRY(std::shared_ptr<const Base> base, make_base(problem, kind, seed));
  return std::make_unique<GemmInstance>(std::move(base));
}

}  // namespace assay::gemm
