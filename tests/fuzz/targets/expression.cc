// Filters and constraints.

#include "assay/base/expression.h"

#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(expression) {
  const auto read = Expression::parse(bytes);
  if (!fuzz::is_read(read)) return;
  // Names by their length: some of each type, and some that are not there.
  const auto value_of = [](std::string_view name) -> std::optional<Value> {
    switch (name.size() % 5) {
      case 0:
        return Value(std::string("text"));
      case 1:
        return Value(int64_t{-7});
      case 2:
        return Value(2.5);
      case 3:
        return Value(true);
      default:
        return std::nullopt;
    }
  };
  std::vector<Value> values;
  std::vector<const Value*> present;
  values.reserve(read->names().size());
  bool all_known = true;
  for (const std::string& name : read->names()) {
    const auto value = value_of(name);
    all_known = all_known && value;
    values.push_back(value.value_or(Value(false)));
    present.push_back(value ? &values.back() : nullptr);
  }
  const auto looked_up = read->evaluate(value_of, read->names());
  fuzz::is_read(looked_up);
  const auto holds = read->holds(present);
  fuzz::is_read(holds);
  const auto again = Expression::parse(read->text());
  if (!fuzz::is_read_again(again)) return;
  fuzz::expect(again->names() == read->names(), "its own text has other names");
  if (!all_known) return;
  const auto fast = again->evaluate(values);
  fuzz::expect(fast.has_value() == looked_up.has_value(), "one way finds a value, one an error");
  if (fast && looked_up)
    fuzz::expect_same(to_string(*fast), to_string(*looked_up), "two ways find two values");
}

}  // namespace assay
