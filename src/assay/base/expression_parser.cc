// From text to the steps of expression.cc. Precedence, loosest first: or, and, not, comparisons,
// sums, products, unary.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "assay/base/expression.h"
#include "assay/base/expression_machine.h"
#include "assay/base/text.h"

namespace assay {
namespace {

constexpr std::size_t kMaxText = 64 << 10;
constexpr int kMaxNesting = 32;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }
bool is_name_char(char c) { return is_name_start(c) || is_digit(c) || c == '_'; }

enum class Kind { end, name, integer, real, string, sign };

struct Token {
  Kind kind = Kind::end;
  std::string_view text;  // Of a string: without its quotes.
  std::uint32_t column = 1;
  std::uint64_t integer = 0;
  double real = 0;

  bool is(std::string_view sign) const {
    return (kind == Kind::sign || kind == Kind::name) && text == sign;
  }
};

}  // namespace

class ExpressionParser {
 public:
  using Op = Expression::Op;

  explicit ExpressionParser(std::string_view text) { out_.text_ = text; }

  Result<Expression> parse() {
    if (out_.text_.size() > kMaxText) {
      return fail(ErrorCode::invalid_input, "an expression of {} bytes is too long ({} at most)",
                  out_.text_.size(), kMaxText);
    }
    ASSAY_TRY(advance());
    if (token_.kind == Kind::end) return fail(ErrorCode::invalid_input, "the expression is empty");
    ASSAY_TRY(parse_or());
    if (token_.kind != Kind::end) return unexpected("an operator or the end");
    return std::move(out_);
  }

 private:
  tl::unexpected<Error> error(std::uint32_t column, std::string_view sentence) const {
    return fail(expression_error(out_.text_, column, sentence));
  }

  tl::unexpected<Error> unexpected(std::string_view wanted) const {
    if (token_.kind == Kind::end) {
      return error(token_.column, fmt::format("it ends where {} should be", wanted));
    }
    return error(token_.column,
                 fmt::format("'{}' where {} should be", sanitize(token_.text, 40), wanted));
  }

  // ---- text to tokens

  Status advance() {
    const std::string_view text = out_.text_;
    while (at_ < text.size() &&
           (text[at_] == ' ' || text[at_] == '\t' || text[at_] == '\n' || text[at_] == '\r')) {
      ++at_;
    }
    token_ = Token();
    token_.column = static_cast<std::uint32_t>(at_ + 1);
    if (at_ == text.size()) return {};
    const char c = text[at_];
    if (is_digit(c)) return read_number();
    if (is_name_start(c) || c == '_') return read_name();
    if (c == '\'' || c == '"') return read_string();
    static constexpr std::array<std::string_view, 20> kSigns = {
        "==", "!=", "<=", ">=", "&&", "||", "//", "<", ">", "+",
        "-",  "*",  "/",  "%",  "(",  ")",  ",",  "!", "=", "."};
    for (std::string_view sign : kSigns) {
      if (!text.substr(at_).starts_with(sign)) continue;
      if (sign == "=") return error(token_.column, "a comparison is written ==");
      if (sign == ".") return error(token_.column, "a number starts with a digit: 0.5");
      token_.kind = Kind::sign;
      token_.text = text.substr(at_, sign.size());
      at_ += sign.size();
      return {};
    }
    return error(token_.column, fmt::format("'{}' means nothing here",
                                            sanitize(text.substr(at_, utf8_size(c)), 40)));
  }

  static std::size_t utf8_size(char c) {
    const auto lead = static_cast<unsigned char>(c);
    return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  }

  Status read_number() {
    const std::string_view text = out_.text_;
    std::size_t end = at_;
    const auto digits = [&] {
      const std::size_t start = end;
      while (end < text.size() && is_digit(text[end])) ++end;
      return end > start;
    };
    digits();
    bool real = false;
    bool good = true;
    if (end < text.size() && text[end] == '.') {
      real = true;
      ++end;
      good = digits();
    }
    if (good && end < text.size() && (text[end] | 0x20) == 'e') {
      real = true;
      ++end;
      if (end < text.size() && (text[end] == '+' || text[end] == '-')) ++end;
      good = digits();
    }
    if (!good || (end < text.size() && (is_name_char(text[end]) || text[end] == '.'))) {
      return error(token_.column, "this is no number; write 12, 0.5 or 1e-3");
    }
    token_.text = text.substr(at_, end - at_);
    token_.kind = real ? Kind::real : Kind::integer;
    const char* first = token_.text.data();
    const char* last = first + token_.text.size();
    const auto read = real ? std::from_chars(first, last, token_.real)
                           : std::from_chars(first, last, token_.integer);
    if (read.ec != std::errc()) {
      return error(token_.column, real ? "this number is beyond the range of a double"
                                       : "this integer needs more than 64 bits");
    }
    at_ = end;
    return {};
  }

  Status read_name() {
    const std::string_view text = out_.text_;
    std::size_t end = at_;
    while (true) {
      while (end < text.size() && is_name_char(text[end])) ++end;
      const bool dotted = end + 1 < text.size() && text[end] == '.' &&
                          (is_name_start(text[end + 1]) || text[end + 1] == '_');
      if (!dotted) break;
      ++end;
    }
    token_.kind = Kind::name;
    token_.text = text.substr(at_, end - at_);
    at_ = end;
    return {};
  }

  Status read_string() {
    const std::string_view text = out_.text_;
    const std::size_t end = text.find(text[at_], at_ + 1);
    if (end == text.npos) return error(token_.column, "the closing quote is missing");
    token_.kind = Kind::string;
    token_.text = text.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return {};
  }

  // ---- tokens to steps; `depth_` is how many values lie on the machine's stack

  std::size_t emit(Op op, std::uint32_t column, int effect, std::uint32_t operand = 0) {
    Expression::Step step;
    step.op = op;
    step.column = column;
    step.operand = operand;
    out_.steps_.push_back(step);
    depth_ += effect;
    return out_.steps_.size() - 1;
  }

  Status emit_value(Expression::Step step) {
    if (++depth_ > kExpressionStack) return error(step.column, "this is too deeply nested");
    out_.steps_.push_back(step);
    return {};
  }

  static std::uint32_t index_in(std::vector<std::string>& list, std::string_view text) {
    const auto at = std::find(list.begin(), list.end(), text);
    if (at != list.end()) return static_cast<std::uint32_t>(at - list.begin());
    list.emplace_back(text);
    return static_cast<std::uint32_t>(list.size() - 1);
  }

  // Counts one level of nesting for as long as it lives: recursion here ends before the stack does.
  struct Nested {
    explicit Nested(int& level) : level_(++level) {}
    ~Nested() { --level_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    int& level_;
  };
  Status check_nesting() const {
    if (nesting_ <= kMaxNesting) return {};
    return error(token_.column, fmt::format("nested deeper than {} levels", kMaxNesting));
  }

  // `a or b`: if a decides, the jump keeps it as the result; else b takes its place.
  Status parse_logical(std::string_view word, std::string_view sign, Op jump,
                       Status (ExpressionParser::*operand)()) {
    ASSAY_TRY((this->*operand)());
    while (token_.is(word) || token_.is(sign)) {
      const std::uint32_t column = token_.column;
      ASSAY_TRY(advance());
      const std::size_t at = emit(jump, column, -1);
      ASSAY_TRY((this->*operand)());
      emit(Op::truth, column, 0);
      out_.steps_[at].operand = static_cast<std::uint32_t>(out_.steps_.size());
    }
    return {};
  }

  Status parse_or() {
    const Nested nested(nesting_);
    ASSAY_TRY(check_nesting());
    return parse_logical("or", "||", Op::jump_if_true, &ExpressionParser::parse_and);
  }

  Status parse_and() {
    return parse_logical("and", "&&", Op::jump_if_false, &ExpressionParser::parse_not);
  }

  Status parse_not() {
    if (!token_.is("not")) return parse_comparison();
    const Nested nested(nesting_);
    ASSAY_TRY(check_nesting());
    const std::uint32_t column = token_.column;
    ASSAY_TRY(advance());
    ASSAY_TRY(parse_not());
    emit(Op::logical_not, column, 0);
    return {};
  }

  struct Operator {
    std::string_view sign;
    Op op;
  };

  const Operator* operator_here(std::span<const Operator> operators) const {
    for (const Operator& candidate : operators) {
      if (token_.kind == Kind::sign && token_.is(candidate.sign)) return &candidate;
    }
    return nullptr;
  }

  Status parse_comparison() {
    static constexpr std::array<Operator, 6> kOperators = {{{"==", Op::equal},
                                                            {"!=", Op::not_equal},
                                                            {"<=", Op::less_equal},
                                                            {">=", Op::greater_equal},
                                                            {"<", Op::less},
                                                            {">", Op::greater}}};
    ASSAY_TRY(parse_sum());
    const Operator* comparison = operator_here(kOperators);
    if (comparison == nullptr) return {};
    const std::uint32_t column = token_.column;
    ASSAY_TRY(advance());
    ASSAY_TRY(parse_sum());
    emit(comparison->op, column, -1);
    if (operator_here(kOperators) != nullptr) {
      return error(token_.column, "comparisons do not chain; write a < b and b < c");
    }
    return {};
  }

  Status parse_sum() {
    static constexpr std::array<Operator, 2> kOperators = {{{"+", Op::add}, {"-", Op::subtract}}};
    return parse_left_to_right(kOperators, &ExpressionParser::parse_product);
  }

  Status parse_product() {
    static constexpr std::array<Operator, 4> kOperators = {
        {{"*", Op::multiply}, {"//", Op::floor_divide}, {"/", Op::divide}, {"%", Op::modulo}}};
    return parse_left_to_right(kOperators, &ExpressionParser::parse_unary);
  }

  Status parse_left_to_right(std::span<const Operator> operators,
                             Status (ExpressionParser::*operand)()) {
    ASSAY_TRY((this->*operand)());
    while (const Operator* found = operator_here(operators)) {
      const std::uint32_t column = token_.column;
      ASSAY_TRY(advance());
      ASSAY_TRY((this->*operand)());
      emit(found->op, column, -1);
    }
    return {};
  }

  Status parse_unary() {
    const bool minus = token_.is("-");
    if (!minus && !token_.is("!")) return parse_primary(false);
    const Nested nested(nesting_);
    ASSAY_TRY(check_nesting());
    const std::uint32_t column = token_.column;
    ASSAY_TRY(advance());
    // The least integer has no positive twin, so a literal takes its sign along.
    if (minus && token_.kind == Kind::integer) return parse_primary(true);
    ASSAY_TRY(parse_unary());
    emit(minus ? Op::negate : Op::logical_not, column, 0);
    return {};
  }

  Status parse_primary(bool negative) {
    Expression::Step step;
    step.column = token_.column;
    switch (token_.kind) {
      case Kind::integer: {
        constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
        if (token_.integer > kMost + (negative ? 1 : 0)) {
          return error(token_.column, "this integer needs more than 64 bits");
        }
        step.op = Op::integer;
        step.integer = static_cast<std::int64_t>(negative ? 0 - token_.integer : token_.integer);
        ASSAY_TRY(emit_value(step));
        return advance();
      }
      case Kind::real:
        step.op = Op::real;
        step.real = token_.real;
        ASSAY_TRY(emit_value(step));
        return advance();
      case Kind::string:
        step.op = Op::string;
        step.operand = index_in(out_.strings_, token_.text);
        ASSAY_TRY(emit_value(step));
        return advance();
      case Kind::name:
        return parse_name(step);
      default:
        break;
    }
    if (!token_.is("(")) return unexpected("a value");
    const std::uint32_t opened = token_.column;
    ASSAY_TRY(advance());
    ASSAY_TRY(parse_or());
    return close(opened);
  }

  Status close(std::uint32_t opened) {
    if (token_.is(")")) return advance();
    if (token_.kind == Kind::end) return error(opened, "the closing parenthesis is missing");
    return unexpected("an operator or ')'");
  }

  Status parse_name(Expression::Step step) {
    const std::string_view name = token_.text;
    if (name == "true" || name == "false") {
      step.op = Op::boolean;
      step.integer = name == "true";
      ASSAY_TRY(emit_value(step));
      return advance();
    }
    if (name == "not") return error(step.column, "put parentheses around: (not ...)");
    if (name == "and" || name == "or") return unexpected("a value");
    ASSAY_TRY(advance());
    if (token_.is("(")) return parse_call(name, step.column);
    step.op = Op::name;
    step.operand = index_in(out_.names_, name);
    return emit_value(step);
  }

  Status parse_call(std::string_view name, std::uint32_t column) {
    struct Function {
      std::string_view name;
      Op op;
      int least, most;  // Arguments; most 0: any number.
    };
    static constexpr std::array<Function, 4> kFunctions = {{{"min", Op::minimum, 2, 0},
                                                            {"max", Op::maximum, 2, 0},
                                                            {"ceil_div", Op::ceil_div, 2, 2},
                                                            {"abs", Op::absolute, 1, 1}}};
    const auto* function = std::find_if(kFunctions.begin(), kFunctions.end(),
                                        [&](const Function& f) { return f.name == name; });
    if (function == kFunctions.end()) {
      return error(column, fmt::format("there is no function '{}', only min, max, ceil_div and abs",
                                       sanitize(name, 60)));
    }
    const std::uint32_t opened = token_.column;
    int arguments = 0;
    do {
      ASSAY_TRY(advance());
      ASSAY_TRY(parse_or());
      ++arguments;
      if (function->most == 1) continue;
      // Folded at once, so that a long list needs no more stack than a short one.
      if (arguments > 1) emit(function->op, column, -1);
    } while (token_.is(","));
    if (function->most == 1) emit(function->op, column, 0);
    const bool too_many = function->most != 0 && arguments > function->most;
    if (token_.is(")") && (arguments < function->least || too_many)) {
      return error(column, fmt::format("{} takes {}{} argument{}, not {}", name,
                                       function->most == 0 ? "at least " : "", function->least,
                                       function->least == 1 ? "" : "s", arguments));
    }
    return close(opened);
  }

  Expression out_;
  Token token_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int nesting_ = 0;
};

Result<Expression> Expression::parse(std::string_view text) {
  return ExpressionParser(text).parse();
}

}  // namespace assay
