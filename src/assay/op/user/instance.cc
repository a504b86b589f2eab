#include "assay/op/user/instance.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "assay/base/random.h"
#include "assay/op/user/compare.h"
#include "assay/op/user/inputs.h"
#include "assay/op/user/problem.h"

namespace assay::user {
namespace {

// Of one look at a timed output: a run has hundreds. A slower reference says of one in so many, and
// of one in four at least: a long launch has a few dozen looks in all, and a kernel that does
// nothing in them is to be seen in some.
constexpr double kLookSeconds = 0.02;
constexpr uint64_t kMostForOne = 4;
constexpr uint64_t kDraws = 0x6c6f6f6b;  // A stream of its own.

struct Values {
  std::vector<std::vector<double>> inputs;
  std::vector<double> expected;
};

class UserInstance final : public Instance {
 public:
  UserInstance(const Definition& definition, Problem problem, InputKind kind, uint64_t seed,
               std::shared_ptr<Reference> reference)
      : definition_(definition),
        problem_(std::move(problem)),
        kind_(kind),
        seed_(seed),
        reference_(std::move(reference)) {}

  Status make() {
    ASSAY_TRY(inputs_, make_inputs(problem_, kind_, seed_));
    ASSAY_TRY(Values values, evaluate(inputs_));
    expected_ = std::move(values.expected);
    return {};
  }

  Status audit() const {
    ASSAY_TRY(const auto others, make_inputs(problem_, kind_, seed_ + 1));
    ASSAY_TRY(const Values other_values, evaluate(others));
    ASSAY_TRY(const std::string changed, change_of_reference());
    if (!changed.empty()) return fail(reference_->wrong(changed));
    ASSAY_TRY(const auto inputs, widen(inputs_));
    std::vector<AuditedInput> audited;
    for (size_t i = 0; i < inputs.size(); ++i)
      audited.push_back({problem_.operands()[i].role, inputs[i]});
    const std::string impostor =
        find_impostor(output(), tolerance(), audited, expected_, other_values.expected);
    if (impostor.empty()) return {};
    return fail(ErrorCode::invalid_input, "{}", impostor);
  }

  const Problem& problem() const override { return problem_; }
  InputKind kind() const override { return kind_; }
  std::span<const std::byte> input(size_t operand) const override {
    return operand < inputs_.size() ? inputs_[operand].bytes() : std::span<const std::byte>();
  }
  Result<UniqueFd> input_file(size_t operand) const override {
    if (operand < inputs_.size() && operand != output_of(problem_)) return inputs_[operand].file();
    return fail(ErrorCode::internal, "operand {} is no input", operand);
  }
  // Nothing is known of what permuted inputs would give.
  Result<std::unique_ptr<Instance>> derive(uint64_t seed) const override try {
    auto made = std::make_unique<UserInstance>(definition_, problem_, kind_, seed, reference_);
    ASSAY_TRY(made->make());
    return made;
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::machine, "not enough memory for more inputs of {}", problem_.name());
  }

 private:
  const Operand& output() const { return problem_.operands()[output_of(problem_)]; }
  Tolerance tolerance() const { return tolerance_of(definition_, problem_); }

  template <class Bytes>
  Result<std::vector<std::vector<double>>> widen(const std::vector<Bytes>& inputs) const {
    std::vector<std::vector<double>> values(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (i == output_of(problem_)) continue;
      if constexpr (std::is_same_v<Bytes, MemoryFile>)
        values[i] = widened(problem_.operands()[i], inputs[i].bytes());
      else
        values[i] = widened(problem_.operands()[i], inputs[i]);
    }
    return values;
  }

  template <class Bytes>
  Result<Values> evaluate(const std::vector<Bytes>& inputs) const {
    Values values;
    ASSAY_TRY(values.inputs, widen(inputs));
    auto out = reference_->run(values.inputs);
    if (!out)
      return fail(out.error().code, "{}, for inputs that are {}", out.error().message,
                  to_string(kind_));
    values.expected = std::move(*out);
    return values;
  }

  // What it says of the same inputs now, where that is not what it said; empty: the same.
  Result<std::string> change_of_reference() const {
    ASSAY_TRY(const Values again, evaluate(inputs_));
    const auto element = first_difference(tolerance(), expected_, again.expected);
    if (!element) return std::string();
    return "does not repeat itself on the same inputs: " +
           difference_text(output(), expected_, again.expected, *element);
  }

  // A kernel is not to blame for a reference that has changed its mind.
  Check blamed(Check check) const {
    if (check.right) return check;
    const auto changed = change_of_reference();
    if (!changed)
      check.first_wrong = changed.error().message;
    else if (!changed->empty())
      check.first_wrong = reference_->wrong(*changed).message;
    return check;
  }

  Check do_check(std::span<const std::span<const std::byte>> outputs, const InputSeeds& seeds,
                 ErrorBound /*bound*/) const override {
    const std::span<const std::byte> output_bytes = outputs.front();
    if (!seeds.renewed()) return blamed(compare(output(), tolerance(), expected_, output_bytes));
    if (!looks_at(seeds)) {
      Check check;
      check.right = true;
      check.method = method::kNotThis;
      check.elements = elements_of(output());
      return check;
    }
    std::vector<std::vector<std::byte>> inputs(problem_.operands().size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (i == output_of(problem_)) continue;
      inputs[i].resize(static_cast<size_t>(problem_.operands()[i].span_bytes));
      renew(timed_renewal_of(definition_, problem_, i, seeds), inputs[i]);
    }
    const auto values = evaluate(inputs);
    if (values) return blamed(compare(output(), tolerance(), values->expected, output_bytes));
    Check check;
    check.elements = check.wrong = elements_of(output());
    check.method = method::kEvery;
    check.first_wrong = values.error().message;
    return check;
  }

  // Which launches are looked at is known to nobody who makes or sees their inputs.
  bool looks_at(const InputSeeds& seeds) const {
    const double wanted = std::ceil(reference_->seconds() / kLookSeconds);
    const auto one_in = static_cast<uint64_t>(std::min(wanted, double{kMostForOne}));
    return one_in <= 1 || CounterRandom{seed_, kDraws}.below(seeds.launch, one_in) == 0;
  }

  const Definition& definition_;
  Problem problem_;
  InputKind kind_;
  uint64_t seed_;
  std::shared_ptr<Reference> reference_;
  std::vector<MemoryFile> inputs_;
  std::vector<double> expected_;
};

}  // namespace

Result<std::unique_ptr<Instance>> make_user_instance(const Definition& definition,
                                                     const Problem& problem, InputKind kind,
                                                     uint64_t seed,
                                                     std::shared_ptr<Reference> reference) try {
  auto made = std::make_unique<UserInstance>(definition, problem, kind, seed, std::move(reference));
  ASSAY_TRY(made->make());
  if (kind == InputKind::uniform) ASSAY_TRY(made->audit());
  return made;
} catch (const std::bad_alloc&) {
  return fail(ErrorCode::machine, "not enough memory for inputs of {}", problem.name());
}

}  // namespace assay::user
