// What a kernel asks of a problem: types, layouts, multiples, targets.
#include <algorithm>
#include <bit>

#include "assay/base/text.h"
#include "assay/input/entry_reader.h"
#include "assay/input/forms.h"

namespace assay::input {
namespace {

Result<std::vector<DType>> dtypes(const YamlField& field) {
  ASSAY_TRY(const std::vector<std::string> names, field.as_strings());
  if (names.empty()) return fail(field.error("is empty; write a type, for example f32"));
  std::vector<DType> dtypes;
  for (const std::string& name : names) {
    const auto dtype = parse_dtype(name);
    if (!dtype) return fail(field.error(dtype.error().message));
    if (std::find(dtypes.begin(), dtypes.end(), *dtype) != dtypes.end()) {
      return fail(field.error(fmt::format("{} is given twice", name)));
    }
    dtypes.push_back(*dtype);
  }
  return dtypes;
}

Status check_multiple(const YamlField& field, bool bytes, int64_t value) {
  if (bytes && !std::has_single_bit(static_cast<uint64_t>(value))) {
    return fail(field.error(fmt::format("{} is not a power of two; write 16, 32 or 64", value)));
  }
  return {};
}

}  // namespace

OperandRule& EntryReader::rule_operand(std::string_view role) {
  return *std::find_if(rule_.operands.begin(), rule_.operands.end(),
                       [&](const OperandRule& rule) { return rule.role == role; });
}

// A rule for every operand but the optional ones, which get theirs if args names them.
Status EntryReader::read_dtypes() {
  ASSAY_TRY(const auto common, field_.find("dtype"));
  std::vector<DType> all;
  if (common) {
    ASSAY_TRY(all, dtypes(*common));
  }
  for (const KernelWords::Operand& operand : words_->operands) {
    ASSAY_TRY(const auto field, field_.find(operand.role));
    OperandRule rule{.role = operand.role, .dtypes = all};
    if (field) {
      ASSAY_TRY(rule.dtypes, dtypes(*field));
    } else if (operand.optional) {
      const OperandRule* like = rule_.find_operand(operand.layout_of);
      if (like != nullptr) rule.dtypes = like->dtypes;
    } else if (!common) {
      return fail(
          field_.error(fmt::format("has neither '{}' nor 'dtype'; write its type, for "
                                   "example {}: f32",
                                   operand.role, operand.role)));
    }
    rule_.operands.push_back(std::move(rule));
  }
  ASSAY_TRY(const auto accumulate, field_.find("accumulate"));
  if (accumulate) {
    ASSAY_TRY(rule_.accumulate, dtypes(*accumulate));
  }
  return {};
}

// divisibility and alignment: one number for all operands, or a map by operand. Divisibility may
// also name dimensions, which is a constraint.
Status EntryReader::read_multiples(std::string_view what) {
  const bool bytes = what == "alignment";
  const int64_t most = bytes ? kMaxAlignment : kMaxDivisibility;
  ASSAY_TRY(const auto field, field_.find(what));
  if (!field) return {};
  const auto set = [&](OperandRule& rule, int64_t value) {
    (bytes ? rule.alignment : rule.divisibility) = value;
  };
  if (field->kind() != YamlField::Kind::map) {
    ASSAY_TRY(const int64_t value, field->as_int64(1, most));
    ASSAY_TRY(check_multiple(*field, bytes, value));
    for (OperandRule& rule : rule_.operands) set(rule, value);
    return {};
  }
  std::vector<std::string> known;
  for (const OperandRule& rule : rule_.operands) known.push_back(rule.role);
  if (!bytes) known.insert(known.end(), words_->dimensions.begin(), words_->dimensions.end());
  ASSAY_TRY(field->only(known));
  ASSAY_TRY(const auto members, field->members());
  for (const auto& [name, member] : members) {
    ASSAY_TRY(const int64_t value, member.as_int64(1, most));
    ASSAY_TRY(check_multiple(member, bytes, value));
    if (rule_.find_operand(name) != nullptr) {
      set(rule_operand(name), value);
    } else {
      ASSAY_TRY(add_constraint(member, fmt::format("{} % {} == 0", name, value)));
    }
  }
  return {};
}

Status EntryReader::read_targets() {
  ASSAY_TRY(const auto targets, field_.find("targets"));
  if (targets) {
    ASSAY_TRY(const std::vector<std::string> texts, targets->as_strings());
    if (texts.empty()) return fail(targets->error("is empty; leave it out if any target will do"));
    for (const std::string& text : texts) {
      auto target = Target::parse_known(text);
      if (!target) return fail(targets->error(target.error().message));
      rule_.targets.push_back(std::move(*target));
    }
  }
  return {};
}

// An operand that a step brings and the kernel never hears of was left out, or is no step's.
Status EntryReader::read_epilogues() {
  ASSAY_TRY(const auto field, field_.find("epilogues"));
  std::vector<std::string> steps;
  if (field) {
    ASSAY_TRY(rule_.epilogues, field->as_strings());
    if (const Status known = rule_.check_epilogues(); !known)
      return fail(field->error(known.error().message));
    for (auto name = rule_.epilogues.begin(); name != rule_.epilogues.end(); ++name)
      if (std::find(rule_.epilogues.begin(), name, *name) != name)
        return fail(
            field->error(fmt::format("{0} is listed twice; each is an epilogue that the kernel "
                                     "does, and one of two steps is "
                                     "written as a chain, such as {0}+relu",
                                     sanitize(*name, 60))));
    for (const std::string& epilogue : rule_.epilogues)
      for (std::string& step : epilogue_steps(epilogue)) steps.push_back(std::move(step));
  }
  for (const KernelWords::Operand& operand : words_->operands) {
    if (!operand.of_step) continue;
    const bool wanted = std::ranges::find(steps, operand.role) != steps.end();
    const bool passed = rule_.find_operand(operand.role) != nullptr;
    if (wanted && !passed)
      return fail(field->error(fmt::format(
          "has the step {0}, but args does not name {0}, which every such step adds or multiplies",
          operand.role)));
    if (passed && !wanted)
      return fail(field_.error(fmt::format(
          "args names {0}, but no epilogue has the step {0}; write epilogues: [{0}], or a chain "
          "such as {0}+relu",
          operand.role)));
  }
  return {};
}

// Major modes from letters, one for each operand that is not optional; the last may be left out
// and is then t.
Status EntryReader::apply_layout(const YamlField& field, std::string_view layout,
                                 ProblemRule& rule) const {
  std::vector<const KernelWords::Operand*> lettered;
  for (const KernelWords::Operand& operand : words_->operands) {
    if (!operand.optional) lettered.push_back(&operand);
  }
  const bool letters = layout.find_first_not_of("tn") == std::string_view::npos;
  if (layout != "any" &&
      (!letters || layout.size() > lettered.size() || layout.size() + 1 < lettered.size())) {
    return fail(field.error(fmt::format(
        "'{}' is not a layout; write t (row-major) or n (column-major) for each of a, b and "
        "perhaps out, for example tt, or any",
        sanitize(layout, 60))));
  }
  if (layout == "any") return check_strides(field);
  for (size_t i = 0; i < lettered.size(); ++i) {
    const Major major = i < layout.size() && layout[i] == 'n' ? Major::column : Major::row;
    for (OperandRule& operand : rule.operands) {
      const KernelWords::Operand* words = words_->find_operand(operand.role);
      if (operand.role == lettered[i]->role || words->layout_of == lettered[i]->role) {
        operand.major = major;
      }
    }
  }
  return {};
}

// A kernel for any layout must be told the strides.
Status EntryReader::check_strides(const YamlField& field) const {
  for (const OperandRule& operand : rule_.operands) {
    if (operand.prepared) continue;
    const auto& dimensions = words_->find_operand(operand.role)->dimensions;
    if (dimensions.size() < 2) continue;
    for (size_t i = dimensions.size() - 2; i < dimensions.size(); ++i) {
      const std::string name = operand.role + "_" + dimensions[i];
      if (contains(entry_.args, name)) continue;
      return fail(field.error(
          fmt::format("a kernel for any layout needs all strides, but args lacks '{}'", name)));
    }
  }
  return {};
}

Result<std::vector<KernelEntry>> EntryReader::by_layout() const {
  if (!words_->has_layouts) {
    ProblemRule rule = rule_;
    for (OperandRule& operand : rule.operands) operand.major = Major::row;
    KernelEntry entry = entry_;
    entry.rule = std::make_shared<ProblemRule>(std::move(rule));
    return std::vector{std::move(entry)};
  }
  ASSAY_TRY(const YamlField field, field_.at("layout"));
  ASSAY_TRY(const std::vector<std::string> layouts, field.as_strings());
  if (layouts.empty()) return fail(field.error("is empty; write a layout, for example tt"));
  if (const auto twice = repeated(layouts)) {
    return fail(field.error(fmt::format("{} is given twice", *twice)));
  }
  std::vector<KernelEntry> entries;
  for (const std::string& layout : layouts) {
    ProblemRule rule = rule_;
    ASSAY_TRY(apply_layout(field, layout, rule));
    KernelEntry entry = entry_;
    if (layouts.size() > 1) entry.name += "_" + layout;
    entry.rule = std::make_shared<ProblemRule>(std::move(rule));
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace assay::input
