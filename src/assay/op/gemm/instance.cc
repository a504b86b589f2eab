#include "assay/op/gemm/instance.h"

#include <mutex>
#include <new>
#include <optional>

#include "assay/op/calculator.h"
#include "assay/op/gemm/calculated_check.h"
#include "assay/op/gemm/compare.h"
#include "assay/op/gemm/epilogue_check.h"
#include "assay/op/gemm/methods.h"
#include "assay/op/gemm/renewed_check.h"

namespace assay::gemm {
namespace {

// A base seen through a mapping: the base's own inputs where that is the identity.
class GemmInstance final : public CalculatedInstance {
 public:
  explicit GemmInstance(std::shared_ptr<const Base> base)
      : base_(std::move(base)), mapping_(Mapping::identity(base_->view)) {}

  static Result<std::unique_ptr<Instance>> derived(std::shared_ptr<const Base> base,
                                                   Mapping mapping) {
    auto instance = std::make_unique<GemmInstance>(std::move(base));
    instance->mapping_ = std::move(mapping);
    ASSAY_TRY(instance->permute_inputs());
    return instance;
  }

  const Problem& problem() const override { return base_->problem; }
  InputKind kind() const override { return base_->kind; }

  std::span<const std::byte> input(size_t operand) const override {
    const MemoryFile* const found = find(operand);
    return found == nullptr ? std::span<const std::byte>() : found->bytes();
  }

  Result<UniqueFd> input_file(size_t operand) const override {
    if (const MemoryFile* found = find(operand)) return found->file();
    return fail(ErrorCode::internal, "operand {} is no input", operand);
  }

  Check do_check(std::span<const std::span<const std::byte>> outputs, const InputSeeds& seeds,
                 ErrorBound bound) const override {
    const std::span<const std::byte> output = outputs.front();
    const int64_t needed = base_->problem.find_operand("out")->span_bytes;
    if (static_cast<int64_t>(output.size()) < needed) {
      Check check;
      check.elements = elements();
      check.wrong = check.elements;
      check.first_wrong = fmt::format("out has {} bytes instead of {}", output.size(), needed);
      return check;
    }
    return *judged(bound, [&](ErrorBound by) -> Result<Check> {
      if (!base_->epilogue.empty())
        return seeds.renewed() ? look_at_epilogue(*base_, output, seeds, by)
                               : compare_epilogue(*base_, mapping_, own(), output, by);
      return seeds.renewed() ? renewed_.check(*base_, output, seeds, by)
                             : compare(*base_, mapping_, own(), output, by);
    });
  }

  Result<Check> check_on(Calculator& calculator, const void* output, const InputSeeds& seeds,
                         ErrorBound bound) const override try {
    return judged(bound, [&](ErrorBound by) {
      return calculated_.check(calculator, *base_, own(), output, seeds, by);
    });
  } catch (const std::bad_alloc&) {
    return out_of_memory("comparing outputs");
  }

  Status prepare_check() const override try {
    (void)base_->reference();
    return {};
  } catch (const std::bad_alloc&) {
    return out_of_memory("the reference");
  }

  Status prepare_check_on(Calculator& calculator) const override try {
    return calculated_.prepare(calculator, *base_, own());
  } catch (const std::bad_alloc&) {
    return out_of_memory("the reference");
  }

  Result<std::unique_ptr<Instance>> derive(uint64_t seed) const override try {
    return derived(base_, Mapping::random(base_->view, base_->epilogue, seed).after(mapping_));
  } catch (const std::bad_alloc&) {
    return out_of_memory("more inputs");
  }

 private:
  // compare(bound) compares. What is wrong elementwise is held against the other bound, too: its
  // maker may not know that it has to be declared.
  template <class Compare>
  Result<Check> judged(ErrorBound bound, Compare compare) const {
    if (leaves_out(base_->view, base_->kind, bound)) {
      Check check;
      check.right = true;
      check.elements = elements();
      check.method = method::kLeftOut;
      return check;
    }
    ASSAY_TRY(Check check, compare(bound));
    if (check.right || bound == ErrorBound::normwise ||
        leaves_out(base_->view, base_->kind, ErrorBound::normwise))
      return check;
    ASSAY_TRY(const Check other, compare(ErrorBound::normwise));
    check.within_normwise = other.right;
    return check;
  }

  tl::unexpected<Error> out_of_memory(std::string_view what) const {
    return fail(ErrorCode::machine, "not enough memory for {} of {}", what, base_->problem.name());
  }

  Status permute_inputs() {
    const View& view = base_->view;
    const Inputs& from = base_->inputs;
    const Mapping& by = mapping_;
    derived_.emplace();
    const auto make = [&](MemoryFile& to, std::string_view role, const Matrix& matrix,
                          const MemoryFile& pristine, const Axis& rows,
                          const Axis& columns) -> Status {
      ASSAY_TRY(to, allocate_input(*base_->problem.find_operand(role)));
      permute(matrix, pristine.bytes(), to.writable_bytes(), by.l, rows, columns);
      return to.seal();
    };
    ASSAY_TRY(make(derived_->a, "a", matrix_a(view), from.a, by.m, by.k));
    ASSAY_TRY(make(derived_->b, "b", matrix_b(view), from.b, by.k, by.n));
    if (view.has_c) ASSAY_TRY(make(derived_->c, "c", matrix_c(view), from.c, by.m, by.n));
    bool gated = false;
    for (const EpilogueStep& step : base_->epilogue.steps()) {
      gated = gated || step.is_gate();
      if (!step.has_operand()) continue;
      const Operand& operand = *base_->problem.find_operand(step.name());
      const Matrix matrix = matrix_of(operand);
      ASSAY_TRY(MemoryFile to, allocate_input(operand));
      const MemoryFile& pristine = from.more[derived_->more.size()];
      permute(matrix, pristine.bytes(), to.writable_bytes(),
              matrix.batches == view.l ? by.l : Axis::identity(matrix.batches),
              matrix.rows == view.m ? by.m : Axis::identity(matrix.rows),
              matrix.columns == 1 ? Axis::identity(1)
              : gated             ? by.out
                                  : by.n);
      ASSAY_TRY(to.seal());
      derived_->more.push_back(std::move(to));
    }
    return {};
  }

  const MemoryFile* find(size_t operand) const {
    const auto operands = base_->problem.operands();
    if (operand >= operands.size()) return nullptr;
    const std::string& role = operands[operand].role;
    const Inputs& inputs = base_->inputs;
    if (role == "a") return derived_ ? &derived_->a : &inputs.a;
    if (role == "b") return derived_ ? &derived_->b : &inputs.b;
    if (role == "c") return derived_ ? &derived_->c : &inputs.c;
    const std::vector<MemoryFile>& more = derived_ ? derived_->more : inputs.more;
    size_t place = 0;
    for (const EpilogueStep& step : base_->epilogue.steps()) {
      if (!step.has_operand()) continue;
      if (role == step.name()) return &more[place];
      ++place;
    }
    return nullptr;
  }

  int64_t elements() const { return base_->view.l * base_->view.m * base_->view.out_columns; }

  OwnInputs own() const {
    const Inputs& inputs = base_->inputs;
    OwnInputs own = derived_
                        ? OwnInputs{derived_->a.bytes(), derived_->b.bytes(), derived_->c.bytes()}
                        : OwnInputs{inputs.a.bytes(), inputs.b.bytes(), inputs.c.bytes()};
    for (const MemoryFile& file : derived_ ? derived_->more : inputs.more)
      own.more.push_back(file.bytes());
    return own;
  }

  struct Operands {
    MemoryFile a, b, c;
    std::vector<MemoryFile> more;
  };

  std::shared_ptr<const Base> base_;
  Mapping mapping_;
  std::optional<Operands> derived_;
  RenewedCheck renewed_;
  mutable CalculatedCheck calculated_;
};

}  // namespace

bool leaves_out(const View& view, InputKind kind, ErrorBound bound) {
  return bound == ErrorBound::normwise && info(view.out).floating &&
         (kind == InputKind::non_finite || kind == InputKind::exact);
}

Result<std::unique_ptr<Instance>> make_gemm_instance(const Problem& problem, InputKind kind,
                                                     uint64_t seed) {
  ASSAY_TRY(std::shared_ptr<const Base> base, make_base(problem, kind, seed));
  return std::make_unique<GemmInstance>(std::move(base));
}

}  // namespace assay::gemm
