#pragma once

// The small language of filters and constraints: `tile_m == 256 and provider == 'openblas'`.
//
//   or ||   and &&   not    == != < <= > >= (they do not chain)   + -   * / // %   unary - !   ( )
//   min(a, b, ...)  max(a, b, ...)  ceil_div(a, b)  abs(a)   names   true false   12  1.5e3  'a'
//   "a"
//
// Integers are 64 bits and checked: overflow is an error. `/` of integers is an integer where it
// divides exactly and a double otherwise; `//` and `%` round towards minus infinity. Text compares
// by == and != only; `and`, `or` and `not` want truth values and stop at the first that decides.
// Names may have dots.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "assay/base/result.h"

namespace assay {

using Value = std::variant<bool, std::int64_t, double, std::string>;
using Lookup = std::function<std::optional<Value>(std::string_view name)>;

class Expression {
 public:
  // Errors are invalid_input and name a 1-based column.
  static Result<Expression> parse(std::string_view text);

  // A name that `lookup` does not know is an error; with `known` it suggests the nearest of them.
  Result<Value> evaluate(const Lookup& lookup, std::span<const std::string> known = {}) const;
  // The fast way for many rows: values[i] belongs to names()[i]. Does not allocate unless the
  // result is a long text.
  Result<Value> evaluate(std::span<const Value> values) const;

  Result<bool> evaluate_bool(const Lookup& lookup, std::span<const std::string> known = {}) const;
  Result<bool> evaluate_bool(std::span<const Value> values) const;
  // For rows that may lack some of the names: null means not there. What is computed or compared
  // with it, or negates it, is not true, like NULL in SQL; the other side of an `or` still counts.
  Result<bool> holds(std::span<const Value* const> values) const;

  // Integers only; a double is an error that names `//` and ceil_div.
  Result<std::int64_t> evaluate_int64(const Lookup& lookup,
                                      std::span<const std::string> known = {}) const;

  // Every name once, in the order of first use.
  const std::vector<std::string>& names() const { return names_; }
  const std::string& text() const { return text_; }

 private:
  friend class ExpressionParser;
  friend class ExpressionMachine;

  enum class Op : std::uint8_t {
    boolean,
    integer,
    real,
    string,
    name,
    negate,
    logical_not,
    truth,
    jump_if_false,
    jump_if_true,
    add,
    subtract,
    multiply,
    divide,
    floor_divide,
    modulo,
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    minimum,
    maximum,
    ceil_div,
    absolute,
  };
  // A step of a stack machine: no recursion, so that long input cannot exhaust the stack.
  struct Step {
    Op op = Op::boolean;
    std::uint32_t column = 0;   // 1-based.
    std::uint32_t operand = 0;  // Index of a name or string, or the step to jump to.
    std::int64_t integer = 0;
    double real = 0;
  };

  std::string text_;
  std::vector<Step> steps_;
  std::vector<std::string> names_;
  std::vector<std::string> strings_;
};

// "true", "12", "1.5", "'text'".
std::string to_string(const Value& value);

}  // namespace assay
