#include "assay/input/shape_defaults.h"

#include <algorithm>
#include <optional>
#include <set>

#include "assay/base/operation_name.h"
#include "assay/base/text.h"
#include "assay/input/kernel_words.h"
#include "assay/input/operation_file.h"
#include "assay/input/shape_fields.h"
#include "assay/tensor/dtype.h"

namespace assay::input {
namespace {

constexpr std::string_view kOperation = "operation";

// Letters as --shape writes them; empty where some operand may lie in more than one way.
std::string layout_of(const ProblemRule& rule, const KernelWords& words) {
  std::string letters;
  for (const KernelWords::Operand& operand : words.operands) {
    if (operand.optional) continue;
    const OperandRule* asked = rule.find_operand(operand.role);
    if (asked == nullptr || asked->major == Major::any) return {};
    letters += asked->major == Major::row ? 't' : 'n';
  }
  // Rows are what an output is of that nobody mentions.
  if (letters.size() > 2 && letters.back() == 't') letters.pop_back();
  return letters;
}

// One field for all operands if they agree, else one for each.
ShapeFields types_of(const ProblemRule& rule, const std::vector<FieldRule>& known) {
  ShapeFields fields;
  std::set<std::string> types;
  for (const OperandRule& operand : rule.operands) {
    const FieldRule* field = find_rule(known, operand.role);
    if (field == nullptr || field->kind != FieldRule::Kind::dtype) continue;
    if (operand.dtypes.size() != 1) return {};
    fields.emplace_back(operand.role, to_string(operand.dtypes.front()));
    types.insert(fields.back().second);
  }
  if (types.size() == 1 && find_rule(known, "dtype") != nullptr) return {{"dtype", *types.begin()}};
  return fields;
}

ShapeFields fields_of(const KernelEntry& entry) {
  const KernelWords* words = entry.rule ? find_words(entry.rule->operation) : nullptr;
  const auto operation = entry.rule ? find_operation(entry.rule->operation)
                                    : Result<const Operation*>(fail(ErrorCode::not_found, ""));
  if (words == nullptr || !operation) return {};
  const std::vector<FieldRule> known = shape_rules(**operation);
  ShapeFields fields = types_of(*entry.rule, known);
  const std::string layout = layout_of(*entry.rule, *words);
  if (!layout.empty() && find_rule(known, "layout") != nullptr)
    fields.emplace_back("layout", layout);
  const auto& epilogues = entry.rule->epilogues;
  if (epilogues.size() == 1 && epilogues.front() != "none" &&
      find_rule(known, "epilogue") != nullptr)
    fields.emplace_back("epilogue", epilogues.front());
  if (entry.rule->operation != default_operation())
    fields.emplace_back(kOperation, operation_title(entry.rule->operation));
  return fields;
}

// Of a list without it the default.
std::string_view operation_of(const ShapeFields& fields) {
  const auto found = std::ranges::find(fields, kOperation, &ShapeFields::value_type::first);
  return found == fields.end() ? default_operation() : std::string_view(found->second);
}

// As read_operation() has it.
std::string title_of(std::string_view text) {
  if (!is_operation_file(text)) return std::string(text);
  const auto read = read_operation_file(text);
  return std::string(read ? operation_title((*read)->name()) : text);
}

bool names_some_type(const std::set<std::string_view>& named) {
  for (const Operation* operation : built_in_operations())
    for (const FieldRule& rule : shape_rules(*operation))
      if (rule.kind == FieldRule::Kind::dtype && named.contains(rule.name)) return true;
  return false;
}

}  // namespace

ShapeFields only_fields(std::span<const KernelEntry> entries) {
  std::optional<ShapeFields> common;
  for (const KernelEntry& entry : entries) {
    const ShapeFields fields = fields_of(entry);
    if (!common) common = fields;
    std::erase_if(*common, [&](const auto& field) {
      return std::ranges::find(fields, field) == fields.end();
    });
  }
  return common.value_or(ShapeFields());
}

ShapeFields open_fields(std::string_view flag, const ShapeFields& fields) {
  std::set<std::string_view> named;
  for (const std::string_view pair : split(flag, ',')) {
    const size_t equals = pair.find('=');
    const std::string_view name = trim(pair.substr(0, equals));
    named.insert(name);
    // Fields of another operation's kernels mean nothing there.
    if (name == kOperation && equals != std::string_view::npos &&
        title_of(trim(pair.substr(equals + 1))) != operation_of(fields))
      return {};
  }
  // Fields of types: whoever names one of them has thought of all.
  const auto is_type = [](std::string_view name) { return name != "layout" && name != kOperation; };
  const bool names_type = names_some_type(named);
  ShapeFields open;
  for (const auto& field : fields) {
    if (is_type(field.first) && names_type) continue;
    if (!named.contains(field.first)) open.push_back(field);
  }
  return open;
}

}  // namespace assay::input
