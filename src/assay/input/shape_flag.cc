#include "assay/input/shape_flag.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_set>

#include "assay/base/checked.h"
#include "assay/base/operation_name.h"
#include "assay/base/text.h"
#include "assay/input/operation_file.h"
#include "assay/input/shape_fields.h"
#include "assay/tensor/dtype.h"

namespace assay::input {
namespace {

// A piece of the flag that knows where it stands.
struct FlagPiece {
  std::string_view text;
  size_t column;  // From 1.
  std::string_view flag = "--shape";

  FlagPiece part(size_t begin, size_t end) const {
    return {text.substr(begin, end - begin), column + begin, flag};
  }
  FlagPiece trimmed() const {
    const std::string_view inner = trim(text);
    return {inner,
            inner.empty() ? column : column + static_cast<size_t>(inner.data() - text.data()),
            flag};
  }
  std::vector<FlagPiece> split(char separator) const {
    std::vector<FlagPiece> pieces;
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(separator, begin), text.size());
      pieces.push_back(part(begin, end).trimmed());
      begin = end + 1;
    }
    return pieces;
  }
  Error error(std::string_view sentence, ErrorCode code = ErrorCode::invalid_input) const {
    return {code, fmt::format("{}: column {}: {}", flag, column, sentence)};
  }
  tl::unexpected<Error> wrong(std::string_view sentence) const { return fail(error(sentence)); }
  std::string shown() const { return "'" + sanitize(text, 40) + "'"; }
};

constexpr std::string_view kOperationField = "operation";

FieldRule operation_rule() {
  FieldRule rule{};
  rule.name = kOperationField;
  rule.kind = FieldRule::Kind::text;
  rule.help = "what is computed";
  return rule;
}

// The one that a pair names: its fields are what the other pairs are read by.
Result<const Operation*> operation_of(const FlagPiece& flag) {
  for (const FlagPiece& pair : flag.split(',')) {
    const size_t equals = pair.text.find('=');
    if (equals == std::string_view::npos || trim(pair.text.substr(0, equals)) != kOperationField)
      continue;
    const FlagPiece value = pair.part(equals + 1, pair.text.size()).trimmed();
    const auto found = read_operation(value.text, {});
    if (!found) return value.wrong(found.error().message);
    return *found;
  }
  return find_operation(default_operation());
}

struct Field {
  const FieldRule* rule;
  FlagPiece place;
  std::vector<Json> values;
};

Result<int64_t> integer(FlagPiece piece, int64_t min, int64_t max) {
  int64_t value = 0;
  const char* end = piece.text.data() + piece.text.size();
  const auto [stop, code] = std::from_chars(piece.text.data(), end, value);
  if (code == std::errc::result_out_of_range) {
    return piece.wrong(piece.shown() + " does not fit into 64 bits");
  }
  if (code != std::errc{} || stop != end) {
    return piece.wrong(piece.shown() + " is not an integer; write 64, 1:256:*2 or 1:9:2");
  }
  if (value < min || value > max) {
    return piece.wrong(
        fmt::format("{} is out of range; write an integer from {} to {}", value, min, max));
  }
  return value;
}

tl::unexpected<Error> too_many(FlagPiece piece) {
  return piece.wrong(fmt::format("more than {} problems; use fewer alternatives or longer steps",
                                 kMaxShapeFlagProblems));
}

Status add_range(FlagPiece item, const FieldRule& rule, std::vector<Json>& values) {
  const std::vector<FlagPiece> parts = item.split(':');
  const auto [min, max] = bounds(rule);
  ASSAY_TRY(const int64_t first, integer(parts[0], min, max));
  if (parts.size() == 1) {
    values.emplace_back(first);
    return {};
  }
  if (parts.size() > 3)
    return item.wrong("a range is FIRST:LAST, FIRST:LAST:STEP or FIRST:LAST:*FACTOR");
  ASSAY_TRY(const int64_t last, integer(parts[1], min, max));
  if (first > last) {
    return item.wrong(fmt::format(
        "the range ends at {}, before its start {}; write the smaller first", last, first));
  }
  int64_t step = 1;
  bool geometric = false;
  if (parts.size() == 3) {
    FlagPiece amount = parts[2];
    geometric = amount.text.starts_with('*');
    if (geometric || amount.text.starts_with('+')) amount = amount.part(1, amount.text.size());
    ASSAY_TRY(step, integer(amount, geometric ? 2 : 1, std::numeric_limits<int64_t>::max()));
    if (geometric && first < 1) {
      return parts[0].wrong("a range with a factor must start at 1 or more");
    }
  }
  for (std::optional<int64_t> value = first; value && *value <= last;
       value = geometric ? checked_mul(*value, step) : checked_add(*value, step)) {
    if (std::ssize(values) >= kMaxShapeFlagProblems) return too_many(item);
    values.emplace_back(*value);
  }
  return {};
}

Result<Json> number(FlagPiece piece) {
  double value = 0;
  const char* end = piece.text.data() + piece.text.size();
  const auto [stop, code] = std::from_chars(piece.text.data(), end, value);
  if (code == std::errc::result_out_of_range)
    return piece.wrong(piece.shown() + " does not fit into a double");
  if (code != std::errc{} || stop != end || !std::isfinite(value)) {
    return piece.wrong(piece.shown() + " is not a number; write 1 or 0.5");
  }
  return Json(value);
}

Status add_values(FlagPiece item, const FieldRule& rule, std::vector<Json>& values) {
  switch (rule.kind) {
    case FieldRule::Kind::integer:
      return add_range(item, rule, values);
    case FieldRule::Kind::number: {
      ASSAY_TRY(Json value, number(item));
      if (rule.name == "weight" && !(value.get<double>() > 0)) {
        return item.wrong("a weight is a number above 0");
      }
      values.push_back(std::move(value));
      return {};
    }
    case FieldRule::Kind::text:
    case FieldRule::Kind::dtype:
      if (item.text.empty()) return item.wrong(fmt::format("{} has no value", rule.name));
      if (const auto wrong = text_problem(rule, item.text)) return item.wrong(*wrong);
      values.emplace_back(std::string(item.text));
      return {};
    case FieldRule::Kind::text_list: {
      Json list = Json::array();
      if (!item.text.empty() && item.text != "none") {
        for (const FlagPiece& part : item.split('+')) {
          if (part.text.empty()) return part.wrong("a name is missing beside '+'");
          if (const auto wrong = text_problem(rule, part.text)) return part.wrong(*wrong);
          list.push_back(std::string(part.text));
        }
      }
      values.push_back(std::move(list));
      return {};
    }
  }
  return {};
}

Result<std::vector<Field>> read_fields(FlagPiece flag, const std::vector<FieldRule>& rules) {
  std::vector<Field> fields;
  if (trim(flag.text).empty()) return flag.wrong("is empty; write m=64,n=4096,k=4096,dtype=f32");
  for (const FlagPiece& pair : flag.split(',')) {
    if (pair.text.empty()) return pair.wrong("a field is missing beside ','; write FIELD=VALUE");
    const size_t equals = pair.text.find('=');
    if (equals == std::string_view::npos) {
      return pair.wrong(pair.shown() + " has no '='; write FIELD=VALUE, for example m=64");
    }
    const FlagPiece name = pair.part(0, equals).trimmed();
    const FieldRule* rule = find_rule(rules, name.text);
    if (rule == nullptr) {
      const std::vector<std::string> known = rule_names(rules);
      const std::string similar = nearest(name.text, known);
      return name.wrong(fmt::format(
          "there is no field {}; {}", name.shown(),
          similar.empty() ? "known are " + join(known, ", ") : "did you mean '" + similar + "'?"));
    }
    if (std::any_of(fields.begin(), fields.end(), [&](const Field& f) { return f.rule == rule; })) {
      return name.wrong(fmt::format("{} is given twice; write its alternatives as {}=1|2|4",
                                    rule->name, rule->name));
    }
    Field field{rule, name, {}};
    const FlagPiece values = pair.part(equals + 1, pair.text.size());
    if (const size_t next = values.text.find('='); next != std::string_view::npos)
      return values.part(0, next).wrong(
          "fields are separated by commas; write m=64,n=4096,k=4096,dtype=f32");
    for (const FlagPiece& item : values.split('|')) {
      ASSAY_TRY(add_values(item, *rule, field.values));
      if (std::ssize(field.values) > kMaxShapeFlagProblems) return too_many(item);
    }
    std::set<Json> seen;
    for (const Json& value : field.values) {
      if (seen.insert(value).second) continue;
      return values.wrong(fmt::format("{} = {} is given twice", rule->name, canonical(value)));
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

std::string name_part(const Json& value) {
  std::string text;
  if (value.is_array()) {
    for (const Json& part : value) text += (text.empty() ? "" : "-") + part.get<std::string>();
    if (text.empty()) text = "none";
  } else {
    text = value.is_string() ? value.get<std::string>() : canonical(value);
    // fp32, float32 and f32 are one problem.
    if (const auto dtype = parse_dtype(text)) text = to_string(*dtype);
  }
  for (char& character : text) {
    if (!matches_name_rule(std::string_view(&character, 1)) && character != '.') character = '_';
  }
  return text;
}

// Says all that was asked for, so that two flags that ask for different things never share a name,
// in the rules' order: flags that say the same in another order do.
std::string make_name(const Json& values, std::vector<Field> fields, const Operation& operation) {
  std::ranges::sort(fields, {}, &Field::rule);  // Pointers into the list of rules.
  std::string name(short_operation_name(operation.name()));
  if (values.contains("role")) name = name_part(values["role"]);
  if (values.contains("name")) name = values["name"].get<std::string>();
  const auto add = [&](const Field& field) {
    const Json& value = values[field.rule->name];
    const bool named = field.rule->kind == FieldRule::Kind::integer ||
                       field.rule->kind == FieldRule::Kind::number ||
                       field.rule->kind == FieldRule::Kind::text_list;
    name +=
        "_" + (named ? field.rule->name + (value.is_array() ? "-" : "") : "") + name_part(value);
  };
  for (const Field& field : fields) {
    if (field.rule->kind == FieldRule::Kind::integer) add(field);
  }
  for (const Field& field : fields) {
    const std::string& rule = field.rule->name;
    if (field.rule->kind == FieldRule::Kind::integer || rule == "name" || rule == "role") continue;
    if (rule == "weight" && field.values.size() == 1) continue;
    add(field);
  }
  return name;
}

Result<Problem> make_problem(const Operation& operation, Json values,
                             const std::vector<Field>& fields, const std::vector<FieldRule>& rules,
                             FlagPiece flag) {
  const auto place = [&](std::string_view name) {
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&](const Field& f) { return f.rule->name == name; });
    return field == fields.end() ? flag : field->place;
  };
  auto complete = with_sizes_of_name(std::move(values), rules);
  if (!complete) return place("name").wrong(complete.error().message);
  for (const FieldRule& rule : rules) {
    if (rule.required && !complete->contains(rule.name)) {
      return flag.wrong(fmt::format("{} is missing; {}", rule.name, rule.help));
    }
  }
  auto problem = operation.problem(*complete);
  if (problem) return problem;
  const Error& error = problem.error();
  return fail(place(take_apart(error.message, rules).field).error(error.message, error.code));
}

// The one shape whose fields were given as several: "m=4 n=8 k=8". Empty if they make none.
std::string one_shape(std::span<const std::string> flags) {
  std::vector<std::string> fields;
  for (const std::string& flag : flags)
    for (const std::string_view field : split(flag, ','))
      if (std::ranges::find(fields, field) == fields.end()) fields.emplace_back(field);
  std::string joined = join(fields, ",");
  return parse_shape_flag(joined) ? joined : std::string();
}

}  // namespace

Result<std::vector<Problem>> parse_shape_flag(std::string_view text) {
  const FlagPiece flag{text, 1};
  if (text.size() > 100'000) return flag.wrong("more than 100,000 characters; use a suite file");
  ASSAY_TRY(const Operation* chosen, operation_of(flag));
  const Operation& operation = *chosen;
  std::vector<FieldRule> rules = shape_rules(operation);
  rules.push_back(operation_rule());
  ASSAY_TRY(std::vector<Field> fields, read_fields(flag, rules));
  std::erase_if(fields, [](const Field& field) { return field.rule->name == kOperationField; });
  int64_t count = 1;
  for (const Field& field : fields) {
    count *= std::ssize(field.values);  // Each factor and the product so far are at most 100,000.
    if (count > kMaxShapeFlagProblems) return too_many(field.place);
  }
  const bool named =
      count == 1 && std::any_of(fields.begin(), fields.end(),
                                [](const Field& field) { return field.rule->name == "name"; });

  std::vector<Problem> problems;
  problems.reserve(static_cast<size_t>(count));
  std::unordered_set<std::string> names;
  for (int64_t index = 0; index < count; ++index) {
    Json values = Json::object();
    int64_t rest = index;
    for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
      values[field->rule->name] =
          field->values[static_cast<size_t>(rest % std::ssize(field->values))];
      rest /= std::ssize(field->values);
    }
    if (!named) {
      std::string name = make_name(values, fields, operation);
      // Texts may differ only in characters that names cannot have.
      for (int copy = 2; !names.insert(name).second; ++copy) {
        name = fmt::format("{}_{}", make_name(values, fields, operation), copy);
      }
      values["name"] = std::move(name);
    }
    if (!values.contains("constant") && find_rule(rules, "constant") != nullptr) {
      values["constant"] = operation.words().weights;
    }
    ASSAY_TRY(Problem problem, make_problem(operation, std::move(values), fields, rules, flag));
    problems.push_back(std::move(problem));
  }
  return problems;
}

Result<std::vector<int64_t>> parse_size_list(std::string_view text, std::string_view flag) {
  const FlagPiece list{text, 1, flag};
  FieldRule rule{};
  rule.min = 1;
  rule.max = std::numeric_limits<int32_t>::max();
  std::vector<Json> values;
  for (const FlagPiece& item : list.split(text.find('|') == std::string_view::npos ? ',' : '|')) {
    if (item.text.empty()) return item.wrong("a size is missing; write 16, 1,8,64 or 1:256:*2");
    ASSAY_TRY(add_range(item, rule, values));
  }
  std::vector<int64_t> sizes;
  std::unordered_set<int64_t> seen;
  for (const Json& value : values) {
    sizes.push_back(value.get<int64_t>());
    if (!seen.insert(sizes.back()).second)
      return list.wrong(fmt::format("{} is given twice", sizes.back()));
  }
  return sizes;
}

Result<Suite> parse_shape_flags(std::span<const std::string> flags) {
  Suite suite{.name = "command-line", .problems = {}, .origin = "--shape"};
  std::unordered_set<std::string> names;
  for (const std::string& flag : flags) {
    auto parsed = parse_shape_flag(flag);
    if (!parsed) {
      const std::string meant = flags.size() > 1 ? one_shape(flags) : std::string();
      if (meant.empty()) return fail(parsed.error());
      return fail(ErrorCode::invalid_input, "{}; fields of one shape are joined by commas: {}",
                  parsed.error().message, sanitize(meant, 200));
    }
    for (Problem& problem : *parsed) {
      if (!names.insert(problem.name()).second) {
        return fail(ErrorCode::invalid_input,
                    "--shape {}: {} is asked for twice; remove one, or give them names with name=",
                    sanitize(flag, 80), problem.name());
      }
      suite.problems.push_back(std::move(problem));
    }
    if (std::ssize(suite.problems) > kMaxShapeFlagProblems) {
      return fail(ErrorCode::invalid_input, "--shape: more than {} problems in all",
                  kMaxShapeFlagProblems);
    }
  }
  return suite;
}

}  // namespace assay::input
