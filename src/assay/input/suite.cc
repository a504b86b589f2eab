#include "assay/input/suite.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_map>

#include "assay/base/choices.h"
#include "assay/base/embedded.h"
#include "assay/base/text.h"
#include "assay/input/forms.h"
#include "assay/input/operation_file.h"
#include "assay/input/shape_fields.h"
#include "assay/input/yaml.h"
#include "assay/op/operation.h"

namespace assay::input_suites {
std::span<const EmbeddedFile> embedded_files();
}

namespace assay::input {
namespace {

using Fields = std::map<std::string, YamlField, std::less<>>;

Result<Json> read_value(const FieldRule& rule, const YamlField& field) {
  switch (rule.kind) {
    case FieldRule::Kind::integer: {
      const auto [min, max] = bounds(rule);
      ASSAY_TRY(const int64_t value, field.as_int64(min, max));
      return Json(value);
    }
    case FieldRule::Kind::number: {
      ASSAY_TRY(const double value, field.as_double());
      if (rule.name == "weight" && !(value > 0)) {
        return fail(
            field.error(fmt::format("{} calls make no sense; write a number above 0", value)));
      }
      return Json(value);
    }
    case FieldRule::Kind::text:
    case FieldRule::Kind::dtype: {
      ASSAY_TRY(std::string value, field.as_string());
      if (const auto wrong = text_problem(rule, value)) return fail(field.error(*wrong));
      return Json(std::move(value));
    }
    case FieldRule::Kind::text_list: {
      ASSAY_TRY(std::vector<std::string> values, field.as_strings());
      for (const std::string& value : values) {
        if (const auto wrong = text_problem(rule, value)) return fail(field.error(*wrong));
      }
      return Json(std::move(values));
    }
  }
  return fail(ErrorCode::internal, "field {} has an unknown kind", rule.name);
}

// Checks every field by its rule, so that a wrong default is reported where it stands and once.
Result<Json> read_values(const Fields& fields, const std::vector<FieldRule>& rules) {
  Json values = Json::object();
  for (const auto& [name, field] : fields) {
    ASSAY_TRY(values[name], read_value(*find_rule(rules, name), field));
  }
  return values;
}

Result<Fields> read_fields(const YamlField& map, const std::vector<FieldRule>& rules) {
  ASSAY_TRY(map.only(rule_names(rules)));
  ASSAY_TRY(auto members, map.members());
  Fields fields;
  for (auto& [name, field] : members) fields.emplace(name, std::move(field));
  return fields;
}

class SuiteReader {
 public:
  SuiteReader(const Operation& operation) : operation_(operation), rules_(shape_rules(operation)) {}

  Status read_defaults(const YamlField& map) {
    ASSAY_TRY(defaults_, read_fields(map, rules_));
    if (const auto name = defaults_.find("name"); name != defaults_.end()) {
      return fail(name->second.error("every shape needs a name of its own; write it there"));
    }
    ASSAY_TRY(default_values_, read_values(defaults_, rules_));
    return {};
  }

  Result<Problem> read_shape(const YamlField& map) const {
    ASSAY_TRY(const Fields own, read_fields(map, rules_));
    ASSAY_TRY(Json values, read_values(own, rules_));
    for (const auto& [name, value] : default_values_.items()) {
      if (own.contains(name) || replaced_by_dtype(name, own)) continue;
      values[name] = value;
    }
    auto complete = with_sizes_of_name(std::move(values), rules_);
    if (!complete) return fail(own.find("name")->second.error(complete.error().message));
    for (const FieldRule& rule : rules_) {
      if (!rule.required || complete->contains(rule.name)) continue;
      return fail(
          map.error(fmt::format("has no field '{}', which is needed; {}", rule.name, rule.help)));
    }
    auto problem = operation_.problem(*complete);
    if (problem) return problem;
    return fail(place(problem.error(), map, own));
  }

 private:
  // A shape's own dtype means all operands, so it also wins over types of operands in defaults.
  bool replaced_by_dtype(std::string_view name, const Fields& own) const {
    return own.contains("dtype") && name != "accumulate" &&
           find_rule(rules_, name)->kind == FieldRule::Kind::dtype;
  }

  // The operation knows what is wrong but not where: find the field that it speaks of.
  Error place(const Error& error, const YamlField& map, const Fields& own) const {
    auto [name, sentence] = take_apart(error.message, rules_);
    const FieldRule* rule = find_rule(rules_, name);
    if (rule != nullptr && rule->kind == FieldRule::Kind::dtype && !own.contains(name) &&
        own.contains("dtype")) {
      name = "dtype";
      sentence = error.message;
    }
    if (const auto field = own.find(name); field != own.end()) {
      return field->second.error(sentence, error.code);
    }
    if (const auto field = defaults_.find(name); field != defaults_.end()) {
      return field->second.error(
          fmt::format("{} (for {} in line {})", sentence, map.path(), map.line()), error.code);
    }
    return map.error(error.message, error.code);
  }

  const Operation& operation_;
  std::vector<FieldRule> rules_;
  Fields defaults_;
  Json default_values_ = Json::object();
};

Result<Suite> suite_from(const YamlField& file) {
  if (file.kind() != YamlField::Kind::map) {
    return fail(
        file.error("a suite is a map with the fields suite and shapes; "
                   "for example shapes: [{name: square, m: 64, n: 64, k: 64}]"));
  }
  ASSAY_TRY(only(file, suite_form(*built_in_operations().front())));
  Suite suite;
  suite.origin = file.origin();
  ASSAY_TRY(const YamlField name, file.at("suite"));
  ASSAY_TRY(suite.name, name.as_string());
  if (!matches_name_rule(suite.name)) {
    return fail(name.error(
        fmt::format("'{}' cannot be a name; use letters, digits, '_', '.' and '-', at most 200",
                    sanitize(suite.name, 60))));
  }
  std::string operation_name(default_operation());
  ASSAY_TRY(const auto operation_field, file.find("operation"));
  if (operation_field) {
    ASSAY_TRY(operation_name, operation_field->as_string());
  }
  const auto operation =
      read_operation(operation_name, std::filesystem::path(file.origin()).parent_path());
  if (!operation) {
    return fail((operation_field ? *operation_field : file).error(operation.error().message));
  }
  SuiteReader reader(**operation);
  ASSAY_TRY(const auto defaults, file.find("defaults"));
  if (defaults) ASSAY_TRY(reader.read_defaults(*defaults));

  ASSAY_TRY(const YamlField list, file.at("shapes"));
  ASSAY_TRY(const std::vector<YamlField> shapes, list.items());
  if (shapes.empty()) return fail(list.error("is empty; write at least one shape"));
  std::unordered_map<std::string, int> lines;
  for (const YamlField& shape : shapes) {
    ASSAY_TRY(Problem problem, reader.read_shape(shape));
    const auto [earlier, fresh] = lines.emplace(problem.name(), shape.line());
    if (!fresh) {
      return fail(
          shape.error(fmt::format("the name '{}' is given twice, first in line {}; names are "
                                  "unique in a suite",
                                  problem.name(), earlier->second)));
    }
    suite.problems.push_back(std::move(problem));
  }
  return suite;
}

}  // namespace

Result<Suite> parse_suite(std::string_view text, std::string_view origin) {
  ASSAY_TRY(const YamlField file, parse_yaml(text, origin));
  return suite_from(file);
}

Result<Suite> read_suite(const std::filesystem::path& path) {
  ASSAY_TRY(const YamlField file, read_yaml(path));
  return suite_from(file);
}

std::span<const EmbeddedSuite> embedded_suites() {
  static const std::vector<EmbeddedSuite> suites = [] {
    std::vector<EmbeddedSuite> list;
    for (const EmbeddedFile& file : input_suites::embedded_files()) {
      std::string_view name = file.name;
      if (name.ends_with(".yaml")) name.remove_suffix(5);
      list.push_back({name, file.content});
    }
    std::sort(list.begin(), list.end(),
              [](const EmbeddedSuite& a, const EmbeddedSuite& b) { return a.name < b.name; });
    return list;
  }();
  return suites;
}

Result<Suite> find_suite(std::string_view name_or_file) {
  std::vector<std::string> names;
  for (const EmbeddedSuite& suite : embedded_suites()) {
    if (suite.name == name_or_file) {
      return parse_suite(suite.text, fmt::format("embedded suite {}", suite.name));
    }
    names.emplace_back(suite.name);
  }
  std::error_code ignored;
  const bool like_a_file = name_or_file.find('/') != std::string_view::npos ||
                           name_or_file.ends_with(".yaml") || name_or_file.ends_with(".yml");
  if (like_a_file || std::filesystem::is_regular_file(name_or_file, ignored)) {
    return read_suite(name_or_file);
  }
  return fail(ErrorCode::not_found, "'{}' is neither a suite nor a file{}",
              sanitize(name_or_file, 60),
              did_you_mean(name_or_file, names, "suites are " + join(names, ", ")));
}

Result<Suite> select(const Suite& suite, std::span<const std::string> names) {
  if (names.empty()) return suite;
  std::vector<std::string> known;
  for (const Problem& problem : suite.problems) known.push_back(problem.name());
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    constexpr size_t kShown = 12;
    const std::vector<std::string> first(known.begin(),
                                         known.begin() + std::min(kShown, known.size()));
    return fail(
        ErrorCode::invalid_input, "--shapes: suite {} has no shape '{}'{}", suite.name,
        sanitize(name, 60),
        did_you_mean(
            name, known,
            "it has " + join(first, ", ") +
                (known.size() > kShown ? fmt::format(" and {} more", known.size() - kShown) : "")));
  }
  Suite chosen{.name = suite.name, .problems = {}, .origin = suite.origin};
  for (const Problem& problem : suite.problems) {
    if (std::find(names.begin(), names.end(), problem.name()) != names.end()) {
      chosen.problems.push_back(problem);
    }
  }
  return chosen;
}

}  // namespace assay::input
