#include "assay/base/expression.h"

#include <limits>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::optional<Value> names(std::string_view name) {
  static const std::map<std::string, Value, std::less<>> kValues = {
      {"m", std::int64_t{128}},
      {"tile_m", std::int64_t{64}},
      {"zero", std::int64_t{0}},
      {"scale", 0.5},
      {"packed", true},
      {"provider", std::string("openblas")},
      {"long_name", std::string("a text that is too long to be stored without allocation")},
      {"a.b", std::int64_t{5}},
      {"nan", std::numeric_limits<double>::quiet_NaN()},
      {"least", std::numeric_limits<std::int64_t>::min()}};
  const auto at = kValues.find(name);
  return at == kValues.end() ? std::nullopt : std::optional(at->second);
}

// The result as text, or the error's.
std::string eval(std::string_view text) {
  static const std::vector<std::string> kKnown = {"m", "tile_m", "provider", "packed"};
  const auto expression = Expression::parse(text);
  if (!expression) {
    EXPECT_EQ(expression.error().code, ErrorCode::invalid_input);
    return expression.error().message;
  }
  const auto value = expression->evaluate(names, kKnown);
  if (value) return to_string(*value);
  EXPECT_EQ(value.error().code, ErrorCode::invalid_input);
  return value.error().message;
}

TEST(Expression, Arithmetic) {
  EXPECT_EQ(eval("1 + 2 * 3"), "7");
  EXPECT_EQ(eval("(1 + 2) * 3"), "9");
  EXPECT_EQ(eval("10 - 4 - 3"), "3");
  EXPECT_EQ(eval("-2 * -3"), "6");
  EXPECT_EQ(eval("--2"), "2");
  EXPECT_EQ(eval("1.5e1 + 1"), "16");
  EXPECT_EQ(eval("m * scale"), "64");
  EXPECT_EQ(eval("a.b + 1"), "6");
}

TEST(Expression, DivisionIsExactOrReal) {
  EXPECT_EQ(eval("6 / 3"), "2");
  EXPECT_EQ(eval("7 / 2"), "3.5");
  EXPECT_TRUE(
      std::holds_alternative<std::int64_t>(Expression::parse("6 / 3")->evaluate(names).value()));
  EXPECT_EQ(eval("1.0 / 4"), "0.25");
}

TEST(Expression, FloorAndModuloRoundTowardsMinusInfinity) {
  EXPECT_EQ(eval("7 // 2"), "3");
  EXPECT_EQ(eval("-7 // 2"), "-4");
  EXPECT_EQ(eval("7 // -2"), "-4");
  EXPECT_EQ(eval("-7 // -2"), "3");
  EXPECT_EQ(eval("7 % 3"), "1");
  EXPECT_EQ(eval("-7 % 3"), "2");
  EXPECT_EQ(eval("7 % -3"), "-2");
  EXPECT_EQ(eval("-6 % 3"), "0");
  EXPECT_EQ(eval("-7.5 // 2"), "-4");
  EXPECT_EQ(eval("-7.5 % 2"), "0.5");
  EXPECT_EQ(eval("least % -1"), "0");
}

TEST(Expression, Functions) {
  EXPECT_EQ(eval("min(3, 1, 2)"), "1");
  EXPECT_EQ(eval("max(3, 1, 2.5)"), "3");
  EXPECT_EQ(eval("min(1, 0.5)"), "0.5");
  EXPECT_EQ(eval("ceil_div(7, 2)"), "4");
  EXPECT_EQ(eval("ceil_div(8, 2)"), "4");
  EXPECT_EQ(eval("ceil_div(-7, 2)"), "-3");
  EXPECT_EQ(eval("abs(-4) + abs(2.5)"), "6.5");
  EXPECT_EQ(eval("ceil_div(m, tile_m) * max(1, 2)"), "4");
}

TEST(Expression, ComparisonsAndText) {
  EXPECT_EQ(eval("tile_m == 64 and provider == 'openblas'"), "true");
  EXPECT_EQ(eval("provider != \"openblas\""), "false");
  EXPECT_EQ(eval("1 == 1.0"), "true");
  EXPECT_EQ(eval("packed == true"), "true");
  EXPECT_EQ(eval("1 < 2"), "true");
  EXPECT_EQ(eval("2 <= 1"), "false");
  EXPECT_EQ(eval("nan == nan"), "false");
  EXPECT_EQ(eval("long_name == 'x'"), "false");
  EXPECT_EQ(eval("'it is \"so\"'"), "'it is \"so\"'");
  // Doubles cannot tell these two integers apart.
  EXPECT_EQ(eval("9007199254740993 == 9007199254740992.0"), "false");
}

TEST(Expression, LogicStopsAtTheFirstThatDecides) {
  EXPECT_EQ(eval("false and 1 / zero == 1"), "false");
  EXPECT_EQ(eval("true or missing"), "true");
  EXPECT_EQ(eval("false or false or true"), "true");
  EXPECT_EQ(eval("true && !false || false"), "true");
  EXPECT_EQ(eval("not m == 1"), "true") << "not binds looser than ==";
  EXPECT_EQ(eval("!packed == false"), "true") << "! binds tighter than ==";
  EXPECT_EQ(eval("true or true and false"), "true");
  EXPECT_EQ(eval("not not packed"), "true");
}

TEST(Expression, IntegersAreChecked) {
  EXPECT_EQ(eval("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(eval("-9223372036854775808"), "-9223372036854775808");
  EXPECT_THAT(eval("9223372036854775808"), HasSubstr("column 1: this integer needs more than"));
  EXPECT_THAT(eval("1 + 99999999999999999999"), HasSubstr("column 5: this integer needs more"));
  EXPECT_THAT(eval("9223372036854775807 + 1"), HasSubstr("column 21: the result does not fit"));
  EXPECT_THAT(eval("least - 1"), HasSubstr("column 7: the result does not fit"));
  EXPECT_THAT(eval("m * 9223372036854775807"), HasSubstr("does not fit"));
  EXPECT_THAT(eval("-least"), HasSubstr("column 1: the result does not fit"));
  EXPECT_THAT(eval("abs(least)"), HasSubstr("does not fit"));
  EXPECT_THAT(eval("least // -1"), HasSubstr("does not fit"));
  EXPECT_THAT(eval("least / -1"), HasSubstr("does not fit"));
  EXPECT_THAT(eval("1e308 * 10"), HasSubstr("not a finite number"));
  EXPECT_THAT(eval("1e999"), HasSubstr("range of a double"));
}

TEST(Expression, DivisionByZeroHasAColumn) {
  for (const char* text : {"m / zero", "m // 0", "m % 0", "ceil_div(m, 0)", "1.5 / 0", "2.0 % 0"}) {
    EXPECT_THAT(eval(text), HasSubstr("division by zero")) << text;
  }
  EXPECT_THAT(eval("1 + m / zero"), HasSubstr("column 7:"));
}

TEST(Expression, TypesDoNotMix) {
  EXPECT_THAT(eval("m + provider"), HasSubstr("column 3: this wants numbers, not the text"));
  EXPECT_THAT(eval("m == provider"), HasSubstr("column 3: the integer 128 cannot be compared"));
  EXPECT_THAT(eval("packed == 1"), HasSubstr("cannot be compared"));
  EXPECT_THAT(eval("provider < 'x'"), HasSubstr("compares by == and != only"));
  EXPECT_THAT(eval("m and packed"), HasSubstr("column 3: this wants true or false"));
  EXPECT_THAT(eval("packed and m"), HasSubstr("column 8: this wants true or false"));
  EXPECT_THAT(eval("not m"), HasSubstr("true or false"));
  EXPECT_THAT(eval("-packed"), HasSubstr("wants a number"));
  EXPECT_THAT(eval("true + true"), HasSubstr("wants numbers"));
  EXPECT_THAT(eval("ceil_div(1.5, 2)"), HasSubstr("wants integers"));
}

TEST(Expression, UnknownNamesGetASuggestion) {
  EXPECT_THAT(eval("1 + tile_n"),
              HasSubstr("column 5: unknown name 'tile_n'; did you mean 'tile_m'"));
  EXPECT_THAT(eval("Provider == 'x'"), HasSubstr("did you mean 'provider'"));
  EXPECT_THAT(eval("sqrt(2)"), HasSubstr("column 1: there is no function 'sqrt'"));
}

TEST(Expression, SyntaxErrorsHaveColumns) {
  EXPECT_THAT(eval(""), HasSubstr("empty"));
  EXPECT_THAT(eval("  "), HasSubstr("empty"));
  EXPECT_THAT(eval("1 +"), HasSubstr("column 4: it ends where a value should be"));
  EXPECT_THAT(eval("(1"), HasSubstr("column 1: the closing parenthesis is missing"));
  EXPECT_THAT(eval("1)"), HasSubstr("column 2: ')'"));
  EXPECT_THAT(eval("m = 1"), HasSubstr("column 3: a comparison is written =="));
  EXPECT_THAT(eval("1 < m < 3"), HasSubstr("column 7: comparisons do not chain"));
  EXPECT_THAT(eval("m $ 1"), HasSubstr("column 3: '$' means nothing"));
  EXPECT_THAT(eval("m ** 2"), HasSubstr("column 4: '*' where a value"));
  EXPECT_THAT(eval("'open"), HasSubstr("column 1: the closing quote is missing"));
  EXPECT_THAT(eval("12abc"), HasSubstr("column 1: this is no number"));
  EXPECT_THAT(eval("1."), HasSubstr("no number"));
  EXPECT_THAT(eval("1e"), HasSubstr("no number"));
  EXPECT_THAT(eval("0x10"), HasSubstr("no number"));
  EXPECT_THAT(eval(".5"), HasSubstr("starts with a digit"));
  EXPECT_THAT(eval("a b"), HasSubstr("column 3: 'b'"));
  EXPECT_THAT(eval("min(1)"), HasSubstr("min takes at least 2 arguments, not 1"));
  EXPECT_THAT(eval("abs(1, 2)"), HasSubstr("abs takes 1 argument, not 2"));
  EXPECT_THAT(eval("ceil_div(1, 2, 3)"), HasSubstr("takes 2 arguments, not 3"));
  EXPECT_THAT(eval("min()"), HasSubstr("column 5: ')' where a value"));
  EXPECT_THAT(eval("1 == not true"), HasSubstr("parentheses"));
  EXPECT_THAT(eval("m; system('x')"), HasSubstr("column 2: ';' means nothing"));
  EXPECT_THAT(eval("m & 1"), HasSubstr("column 3: '&' means nothing"));
}

TEST(Expression, ErrorsQuotePrintably) {
  EXPECT_THAT(eval("m \x1b[31m"), HasSubstr("column 3: '\\x1b'"));
  EXPECT_LT(eval(std::string(10'000, '+')).size(), 300u);
}

TEST(Expression, HostileDepthAndLengthAreBounded) {
  EXPECT_THAT(eval(std::string(20'000, '(')), HasSubstr("nested deeper"));
  EXPECT_THAT(eval(std::string(20'000, '-') + "1"), HasSubstr("nested deeper"));
  EXPECT_THAT(eval(std::string(20'000, '!') + "true"), HasSubstr("nested deeper"));
  std::string nots, sum = "1", all = "true", list = "min(1", mins, abs = "abs(1";
  for (int i = 0; i < 10'000; ++i) {
    nots += "not ";
    sum += "+1";
    all += i < 5'000 ? " and true" : "";
    list += ",2";
    mins += "min(1,";
    abs += ",1";
  }
  EXPECT_THAT(eval(nots + "true"), HasSubstr("nested deeper"));
  EXPECT_THAT(eval(mins), HasSubstr("nested deeper"));
  EXPECT_THAT(eval(abs + ")"), HasSubstr("nested"));
  EXPECT_EQ(eval(sum), "10001") << "long is fine, deep is not";
  EXPECT_EQ(eval(all), "true");
  EXPECT_EQ(eval(list + ")"), "1");
  EXPECT_THAT(eval(std::string(1 << 20, ' ')), HasSubstr("too long"));
  // The deepest legal nesting, with every level of precedence waiting for its right side.
  std::string deepest;
  for (int i = 0; i < 30; ++i) deepest += "false or true and 1 == 1 + 1 * ceil_div(1, 0 + (1 * (";
  EXPECT_THAT(eval(deepest), HasSubstr("nested deeper"));
  std::string legal = "1", tail;
  for (int i = 0; i < 31; ++i) legal = "1 + 2 * max(1, " + legal + ")";
  EXPECT_NE(eval(legal).substr(0, 6), "column");
}

TEST(Expression, SurvivesEveryTruncation) {
  const std::string text = "not (m % 8 == 0 and provider == 'a.b') or min(1, 2.5e3) >= abs(-x)";
  ASSERT_TRUE(Expression::parse(text));
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto expression = Expression::parse(text.substr(0, size));
    if (expression) (void)expression->evaluate(names);
  }
}

TEST(Expression, ListsNamesOnceInOrder) {
  EXPECT_THAT(Expression::parse("b + a * b + min(c.d, true and 1 == 'a')")->names(),
              ElementsAre("b", "a", "c.d"));
}

TEST(Expression, TakesValuesInTheOrderOfNames) {
  const auto expression = Expression::parse("tile_m == 64 and provider == 'openblas'");
  ASSERT_THAT(expression->names(), ElementsAre("tile_m", "provider"));
  std::vector<Value> row = {std::int64_t{64}, std::string("openblas")};
  EXPECT_TRUE(expression->evaluate_bool(row).value());
  row[1] = std::string("onednn");
  EXPECT_FALSE(expression->evaluate_bool(row).value());
  row.pop_back();
  EXPECT_EQ(expression->evaluate_bool(row).error().code, ErrorCode::internal);
}

TEST(Expression, TypedResultsSayWhatIsWrong) {
  EXPECT_THAT(Expression::parse("m + 1")->evaluate_bool(names).error().message,
              HasSubstr("the integer 129, but must be true or false"));
  EXPECT_EQ(Expression::parse("m + 1")->evaluate_int64(names).value(), 129);
  EXPECT_THAT(Expression::parse("m / 3")->evaluate_int64(names).error().message,
              HasSubstr("// and ceil_div"));
  EXPECT_FALSE(Expression().evaluate(names)) << "an expression that was never parsed";
}

}  // namespace
}  // namespace assay
