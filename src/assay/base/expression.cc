#include "assay/base/expression.h"

#include <array>
#include <cmath>
#include <forward_list>
#include <limits>

#include "assay/base/checked.h"
#include "assay/base/expression_machine.h"
#include "assay/base/text.h"

namespace assay {
namespace {

// A value that owns nothing; texts live in the expression, with the caller, or among the held ones.
struct Slot {
  enum class Kind : std::uint8_t { boolean, integer, real, string, missing };
  Kind kind;
  union {
    bool boolean;
    std::int64_t integer;
    double real;
    const char* text;
  };
  std::size_t text_size;

  std::string_view string() const { return {text, text_size}; }

  bool is_number() const { return kind == Kind::integer || kind == Kind::real; }
  double as_real() const { return kind == Kind::integer ? static_cast<double>(integer) : real; }
  // Long enough for every int64 and every double, so that comparing the two kinds is exact.
  long double as_long() const {
    // Not by `?:`, whose two sides would first become doubles.
    if (kind == Kind::integer) return static_cast<long double>(integer);
    return static_cast<long double>(real);
  }

  // Uninitialised on purpose: a stack of these is made for every row.
  Slot() {}
  explicit Slot(bool value) : kind(Kind::boolean), boolean(value) {}
  explicit Slot(std::int64_t value) : kind(Kind::integer), integer(value) {}
  explicit Slot(double value) : kind(Kind::real), real(value) {}
  explicit Slot(std::string_view value)
      : kind(Kind::string), text(value.data()), text_size(value.size()) {}
  explicit Slot(const Value& value) {
    if (const auto* b = std::get_if<bool>(&value)) {
      kind = Kind::boolean, boolean = *b;
    } else if (const auto* i = std::get_if<std::int64_t>(&value)) {
      kind = Kind::integer, integer = *i;
    } else if (const auto* d = std::get_if<double>(&value)) {
      kind = Kind::real, real = *d;
    } else {
      *this = Slot(std::string_view(*std::get_if<std::string>(&value)));
    }
  }

  Value value() const {
    switch (kind) {
      case Kind::boolean:
        return boolean;
      case Kind::integer:
        return integer;
      case Kind::real:
        return real;
      case Kind::missing:
        return false;
      case Kind::string:
        break;
    }
    return std::string(string());
  }
};

std::string describe(const Slot& slot) {
  switch (slot.kind) {
    case Slot::Kind::boolean:
      return slot.boolean ? "true" : "false";
    case Slot::Kind::integer:
      return fmt::format("the integer {}", slot.integer);
    case Slot::Kind::real:
      return fmt::format("the number {}", slot.real);
    case Slot::Kind::missing:
      return "a value that is not there";
    case Slot::Kind::string:
      break;
  }
  return fmt::format("the text '{}'", sanitize(slot.string(), 60));
}

constexpr std::string_view kOverflow = "the result does not fit 64 bits";
constexpr std::string_view kByZero = "division by zero";
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

}  // namespace

// Runs the steps. `Load` turns the index of a name into a slot, or into an error.
class ExpressionMachine {
 public:
  using Op = Expression::Op;
  using Step = Expression::Step;

  explicit ExpressionMachine(const Expression& expression) : expression_(expression) {}

  template <class Load>
  Result<Value> run(const Load& load) {
    const std::vector<Step>& steps = expression_.steps_;
    if (steps.empty()) return fail(ErrorCode::invalid_input, "the expression is empty");
    for (std::size_t at = 0; at < steps.size(); ++at) {
      const Step& step = steps[at];
      switch (step.op) {
        case Op::boolean:
          push(Slot(step.integer != 0));
          break;
        case Op::integer:
          push(Slot(step.integer));
          break;
        case Op::real:
          push(Slot(step.real));
          break;
        case Op::string:
          push(Slot(std::string_view(expression_.strings_[step.operand])));
          break;
        case Op::name: {
          Slot slot;
          if (!load(step.operand, slot)) return unknown(step);
          push(slot);
          break;
        }
        case Op::jump_if_false:
        case Op::jump_if_true:
          if (top().kind == Slot::Kind::missing) {
            // `and` cannot become true any more; `or` can by its other side alone.
            if (step.op == Op::jump_if_false) {
              at = step.operand - 1;
            } else {
              --size_;
              undecided_ = true;
            }
            break;
          }
          if (top().kind != Slot::Kind::boolean) return wants_truth(step);
          if (top().boolean == (step.op == Op::jump_if_true)) {
            at = step.operand - 1;
          } else {
            --size_;
          }
          break;
        case Op::truth:
          if (top().kind == Slot::Kind::missing) break;
          if (top().kind != Slot::Kind::boolean) return wants_truth(step);
          break;
        case Op::logical_not:
          if (undecided_) top().kind = Slot::Kind::missing;
          if (top().kind == Slot::Kind::missing) break;
          if (top().kind != Slot::Kind::boolean) return wants_truth(step);
          top().boolean = !top().boolean;
          break;
        case Op::negate:
        case Op::absolute:
          if (!apply_unary(step)) return failure(step);
          break;
        default:
          if (!apply_binary(step)) return failure(step);
      }
    }
    return top().value();
  }

  std::span<const std::string> known;  // For suggestions.

 private:
  void push(Slot slot) { stack_[size_++] = slot; }
  Slot& top() { return stack_[size_ - 1]; }

  tl::unexpected<Error> error(const Step& step, std::string_view sentence) const {
    return fail(expression_error(expression_.text_, step.column, sentence));
  }

  tl::unexpected<Error> failure(const Step& step) const { return error(step, problem_); }

  tl::unexpected<Error> wants_truth(const Step& step) {
    return error(step,
                 fmt::format("this wants true or false on both sides, but {} is neither; write a "
                             "comparison",
                             describe(top())));
  }

  tl::unexpected<Error> unknown(const Step& step) const {
    const std::string& name = expression_.names_[step.operand];
    return error(step,
                 fmt::format("unknown name '{}'{}", sanitize(name, 60), did_you_mean(name, known)));
  }

  bool refuse(std::string_view problem) {
    problem_ = problem;
    return false;
  }

  bool apply_unary(const Step& step) {
    Slot& value = top();
    if (value.kind == Slot::Kind::missing) return true;
    if (!value.is_number()) {
      return refuse(fmt::format("this wants a number, not {}", describe(value)));
    }
    const bool absolute = step.op == Op::absolute;
    if (value.kind == Slot::Kind::real) {
      value.real = absolute ? std::fabs(value.real) : -value.real;
      return true;
    }
    if (absolute && value.integer >= 0) return true;
    if (value.integer == kLeast) return refuse(kOverflow);
    value.integer = -value.integer;
    return true;
  }

  bool apply_binary(const Step& step) {
    const Slot right = top();
    --size_;
    Slot& left = top();
    if (left.kind == Slot::Kind::missing || right.kind == Slot::Kind::missing) {
      left.kind = Slot::Kind::missing;
      return true;
    }
    const bool numbers = left.is_number() && right.is_number();
    if (step.op >= Op::equal && step.op <= Op::greater_equal) {
      return compare(step.op, left, right, numbers);
    }
    if (!numbers) {
      return refuse(
          fmt::format("this wants numbers, not {}", describe(left.is_number() ? right : left)));
    }
    if (step.op == Op::minimum || step.op == Op::maximum) {
      const bool right_is_less = right.as_long() < left.as_long();
      if (right_is_less == (step.op == Op::minimum)) left = right;
      return true;
    }
    if (left.kind == Slot::Kind::integer && right.kind == Slot::Kind::integer) {
      return combine_integers(step.op, left, right.integer);
    }
    if (step.op == Op::ceil_div) return refuse("ceil_div wants integers");
    return combine_reals(step.op, left, right.as_real());
  }

  bool compare(Op op, Slot& left, const Slot& right, bool numbers) {
    if (numbers) {
      const long double a = left.as_long();
      const long double b = right.as_long();
      switch (op) {
        case Op::equal:
          left = Slot(a == b);
          break;
        case Op::not_equal:
          left = Slot(a != b);
          break;
        case Op::less:
          left = Slot(a < b);
          break;
        case Op::less_equal:
          left = Slot(a <= b);
          break;
        case Op::greater:
          left = Slot(a > b);
          break;
        default:
          left = Slot(a >= b);
      }
      return true;
    }
    if (left.kind != right.kind) {
      return refuse(fmt::format("{} cannot be compared with {}", describe(left), describe(right)));
    }
    if (op != Op::equal && op != Op::not_equal) {
      return refuse(fmt::format("{} compares by == and != only", describe(left)));
    }
    const bool same = left.kind == Slot::Kind::boolean ? left.boolean == right.boolean
                                                       : left.string() == right.string();
    left = Slot(same == (op == Op::equal));
    return true;
  }

  bool combine_integers(Op op, Slot& left, std::int64_t b) {
    const std::int64_t a = left.integer;
    std::optional<std::int64_t> result;
    switch (op) {
      case Op::add:
        result = checked_add(a, b);
        break;
      case Op::subtract:
        result = checked_sub(a, b);
        break;
      case Op::multiply:
        result = checked_mul(a, b);
        break;
      default:
        if (b == 0) return refuse(kByZero);
        // The least integer over -1 traps, and is the only quotient that does not fit.
        if (b == -1) {
          if (op == Op::modulo) {
            result = 0;
          } else {
            result = checked_sub(0, a);
          }
          break;
        }
        const std::int64_t quotient = a / b;
        const std::int64_t rest = a % b;
        const bool same_sign = (rest < 0) == (b < 0);
        if (op == Op::divide) {
          if (rest == 0) {
            result = quotient;
            break;
          }
          left = Slot(static_cast<double>(a) / static_cast<double>(b));
          return true;
        }
        if (op == Op::modulo) result = rest != 0 && !same_sign ? rest + b : rest;
        if (op == Op::floor_divide) result = rest != 0 && !same_sign ? quotient - 1 : quotient;
        if (op == Op::ceil_div) result = rest != 0 && same_sign ? quotient + 1 : quotient;
    }
    if (!result) return refuse(kOverflow);
    left.integer = *result;
    return true;
  }

  bool combine_reals(Op op, Slot& left, double b) {
    const double a = left.as_real();
    double result = 0;
    switch (op) {
      case Op::add:
        result = a + b;
        break;
      case Op::subtract:
        result = a - b;
        break;
      case Op::multiply:
        result = a * b;
        break;
      default:
        if (b == 0) return refuse(kByZero);
        if (op == Op::divide) result = a / b;
        if (op == Op::floor_divide) result = std::floor(a / b);
        if (op == Op::modulo) {
          result = std::fmod(a, b);
          if (result != 0 && (result < 0) != (b < 0)) result += b;
        }
    }
    if (!std::isfinite(result)) return refuse("the result is not a finite number");
    left = Slot(result);
    return true;
  }

  const Expression& expression_;
  std::array<Slot, kExpressionStack> stack_;
  int size_ = 0;
  bool undecided_ = false;  // A side of an `or` was missing: its negation is not known.
  std::string problem_;
};

Error expression_error(std::string_view text, std::uint32_t column, std::string_view sentence) {
  return {ErrorCode::invalid_input,
          fmt::format("column {}: {} (in \"{}\")", column, sentence, sanitize(text, 120))};
}

Result<Value> Expression::evaluate(const Lookup& lookup, std::span<const std::string> known) const {
  std::forward_list<std::string>
      held;  // Texts that the lookup returned; a list does not move them.
  ExpressionMachine machine(*this);
  machine.known = known;
  return machine.run([&](std::uint32_t index, Slot& slot) {
    std::optional<Value> value = lookup(names_[index]);
    if (!value) return false;
    if (auto* text = std::get_if<std::string>(&*value)) {
      slot = Slot(std::string_view(held.emplace_front(std::move(*text))));
    } else {
      slot = Slot(*value);
    }
    return true;
  });
}

Result<Value> Expression::evaluate(std::span<const Value> values) const {
  if (values.size() != names_.size()) {
    return fail(ErrorCode::internal, "an expression of {} names was given {} values", names_.size(),
                values.size());
  }
  return ExpressionMachine(*this).run([&](std::uint32_t index, Slot& slot) {
    slot = Slot(values[index]);
    return true;
  });
}

namespace {

Result<bool> as_truth(const Expression& expression, Result<Value> value) {
  if (!value) return fail(std::move(value.error()));
  if (const bool* truth = std::get_if<bool>(&*value)) return *truth;
  return fail(expression_error(
      expression.text(), 1,
      fmt::format("the whole is {}, but must be true or false", describe(Slot(*value)))));
}

}  // namespace

Result<bool> Expression::holds(std::span<const Value* const> values) const {
  if (values.size() != names_.size()) {
    return fail(ErrorCode::internal, "an expression of {} names was given {} values", names_.size(),
                values.size());
  }
  return as_truth(*this, ExpressionMachine(*this).run([&](std::uint32_t index, Slot& slot) {
    if (values[index]) {
      slot = Slot(*values[index]);
    } else {
      slot = Slot(false);
      slot.kind = Slot::Kind::missing;
    }
    return true;
  }));
}

Result<bool> Expression::evaluate_bool(const Lookup& lookup,
                                       std::span<const std::string> known) const {
  return as_truth(*this, evaluate(lookup, known));
}

Result<bool> Expression::evaluate_bool(std::span<const Value> values) const {
  return as_truth(*this, evaluate(values));
}

Result<std::int64_t> Expression::evaluate_int64(const Lookup& lookup,
                                                std::span<const std::string> known) const {
  ASSAY_TRY(const Value value, evaluate(lookup, known));
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  return fail(expression_error(
      text_, 1,
      fmt::format("the whole is {}, but must be an integer; // and ceil_div divide to one",
                  describe(Slot(value)))));
}

std::string to_string(const Value& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return fmt::format("'{}'", sanitize(std::get<std::string>(value)));
}

}  // namespace assay
