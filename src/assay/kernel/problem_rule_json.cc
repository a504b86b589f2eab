#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/kernel/problem_rule.h"

namespace assay {

Json ProblemRule::to_json() const {
  const auto names = [](const std::vector<DType>& dtypes) {
    Json list = Json::array();
    for (DType dtype : dtypes) list.push_back(to_string(dtype));
    return list;
  };
  Json operand_list = Json::array();
  for (const OperandRule& operand : operands) {
    operand_list.push_back({{"role", operand.role},
                            {"dtypes", names(operand.dtypes)},
                            {"major", to_string(operand.major)},
                            {"divisibility", operand.divisibility},
                            {"alignment", operand.alignment},
                            {"prepared", operand.prepared}});
  }
  Json target_list = Json::array();
  for (const Target& target : targets) target_list.push_back(target.to_string());
  Json json = {
      {"operation", operation}, {"operands", operand_list}, {"accumulate", names(accumulate)},
      {"epilogues", epilogues}, {"batch", batch},           {"scalars", scalars},
      {"targets", target_list}};
  if (!epilogue_steps.empty()) json["epilogue_steps"] = epilogue_steps;
  return json;
}

namespace {

Result<std::vector<DType>> read_dtypes(const JsonField& field) {
  std::vector<DType> dtypes;
  ASSAY_TRY(auto items, field.items());
  for (const JsonField& item : items) {
    ASSAY_TRY(std::string name, item.as_string());
    auto dtype = parse_dtype(name);
    if (!dtype) return fail(item.error(ErrorCode::invalid_input, dtype.error().message));
    dtypes.push_back(*dtype);
  }
  return dtypes;
}

Result<OperandRule> read_operand(const JsonField& field) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 8;
  ASSAY_TRY(field.expect_object());
  OperandRule rule;
  ASSAY_TRY(auto role, field.at("role"));
  ASSAY_TRY(rule.role, role.as_string());
  if (!matches_name_rule(rule.role)) {
    return fail(role.error(ErrorCode::invalid_input, "is not a name such as a, b or out"));
  }
  ASSAY_TRY(auto dtypes, field.at("dtypes"));
  ASSAY_TRY(rule.dtypes, read_dtypes(dtypes));
  if (auto major = field.find("major")) {
    ASSAY_TRY(std::string name, major->as_string());
    if (name == "row")
      rule.major = Major::row;
    else if (name == "column")
      rule.major = Major::column;
    else if (name != "any") {
      return fail(major->error(ErrorCode::invalid_input, "must be any, row or column"));
    }
  }
  if (auto number = field.find("divisibility")) {
    ASSAY_TRY(rule.divisibility, number->as_int64(1, kMost));
  }
  if (auto number = field.find("alignment")) {
    ASSAY_TRY(rule.alignment, number->as_int64(1, kMost));
  }
  if (auto truth = field.find("prepared")) {
    ASSAY_TRY(rule.prepared, truth->as_bool());
  }
  return rule;
}

}  // namespace

Result<ProblemRule> ProblemRule::from_json(const Json& json) {
  JsonDocument document;
  document.root = json;
  document.origin = "rule";
  const JsonField root(document);
  ASSAY_TRY(root.expect_object());
  ProblemRule rule;
  ASSAY_TRY(auto operation, root.at("operation"));
  ASSAY_TRY(rule.operation, operation.as_string());
  ASSAY_TRY(auto operands, root.at("operands"));
  ASSAY_TRY(auto items, operands.items());
  for (const JsonField& item : items) {
    ASSAY_TRY(OperandRule operand, read_operand(item));
    if (rule.find_operand(operand.role)) {
      return fail(item.error(ErrorCode::invalid_input, "names a role that stands there already"));
    }
    rule.operands.push_back(std::move(operand));
  }
  if (auto list = root.find("accumulate")) {
    ASSAY_TRY(rule.accumulate, read_dtypes(*list));
  }
  if (auto list = root.find("epilogues")) {
    ASSAY_TRY(auto names, list->items());
    for (const JsonField& name : names) {
      ASSAY_TRY(rule.epilogues.emplace_back(), name.as_string());
      if (const Status known = rule.check_epilogues(); !known)
        return fail(name.error(ErrorCode::invalid_input, known.error().message));
    }
  }
  if (auto list = root.find("epilogue_steps")) {
    ASSAY_TRY(auto names, list->items());
    for (const JsonField& name : names) {
      ASSAY_TRY(rule.epilogue_steps.emplace_back(), name.as_string());
    }
  }
  if (auto truth = root.find("batch")) {
    ASSAY_TRY(rule.batch, truth->as_bool());
  }
  if (auto truth = root.find("scalars")) {
    ASSAY_TRY(rule.scalars, truth->as_bool());
  }
  if (auto list = root.find("targets")) {
    ASSAY_TRY(auto names, list->items());
    for (const JsonField& name : names) {
      ASSAY_TRY(std::string text, name.as_string());
      auto target = Target::parse(text);
      if (!target) return fail(name.error(ErrorCode::invalid_input, target.error().message));
      rule.targets.push_back(std::move(*target));
    }
  }
  return rule;
}

}  // namespace assay
