#include "cli/show/entry_list.h"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "assay/base/checked.h"
#include "assay/base/operation_name.h"
#include "assay/base/text.h"
#include "assay/input/manifest.h"
#include "assay/op/operation.h"
#include "assay/report/words.h"
#include "cli/files/user_files.h"
#include "cli/show/race_text.h"

namespace assay::cli {
namespace {

constexpr size_t kShownKernels = 12;

// Values of an attribute that no tunable says: a provider's own, which a problem decides.
size_t values_besides(const BroughtEntry& brought) {
  if (brought.kernels.empty() ||
      brought.kernels.front().design.size() <= brought.entry.tunables.size())
    return 1;
  std::set<std::string> values;
  for (const KernelMetadata& kernel : brought.kernels) {
    std::string row;
    for (const auto& [name, value] : kernel.design)
      if (std::ranges::find(brought.entry.tunables, name, &KernelEntry::Tunable::name) ==
          brought.entry.tunables.end())
        row += assay::to_string(value) + ' ';
    values.insert(std::move(row));
  }
  return values.size();
}

// Tunables' values in every combination.
std::int64_t points_of(const BroughtEntry& brought) {
  const KernelEntry& entry = brought.entry;
  auto points = static_cast<std::int64_t>(values_besides(brought));
  for (const KernelEntry::Tunable& tunable : entry.tunables)
    points = checked_mul(points, static_cast<std::int64_t>(tunable.values.size()))
                 .value_or(std::numeric_limits<std::int64_t>::max());
  return points;
}

// Whether it holds or not depends on the shape, not on the tunables alone.
bool asks_the_shape(const KernelEntry& entry, const Expression& constraint) {
  return std::ranges::any_of(constraint.names(), [&](const std::string& name) {
    return std::ranges::find(entry.tunables, name, &KernelEntry::Tunable::name) ==
           entry.tunables.end();
  });
}

std::string provider_of(const BroughtEntry& brought) {
  return brought.kernels.empty() ? brought.entry.provider : brought.kernels.front().provider();
}

std::string dtypes_text(const std::vector<DType>& dtypes) {
  std::vector<std::string> names;
  for (const DType dtype : dtypes) names.emplace_back(to_string(dtype));
  return join(names, "|");
}

std::string operand_text(const OperandRule& rule) {
  std::string text = rule.role + ' ' + dtypes_text(rule.dtypes);
  if (rule.major != Major::any) text += fmt::format(" {}-major", to_string(rule.major));
  if (rule.prepared) text += " prepared";
  if (rule.divisibility != 1) text += fmt::format(" in multiples of {}", rule.divisibility);
  if (rule.alignment != 1) text += fmt::format(" aligned to {} bytes", rule.alignment);
  return text;
}

std::string rule_text(const ProblemRule& rule) {
  std::vector<std::string> parts;
  for (const OperandRule& operand : rule.operands) parts.push_back(operand_text(operand));
  std::string text = fmt::format("{}: {}", operation_title(rule.operation), join(parts, ", "));
  if (!rule.accumulate.empty()) text += "; sums in " + dtypes_text(rule.accumulate);
  if (const auto operation = find_operation(rule.operation)) {
    const OperationWords& words = (*operation)->words();
    if (!words.batch.empty()) text += rule.batch ? "; batched" : "; not batched";
    std::vector<std::string> scalars;
    for (const auto& scalar : words.scalars) scalars.push_back(scalar.name);
    if (rule.scalars && !scalars.empty()) text += "; " + join(scalars, " and ");
  }
  if (!rule.epilogues.empty()) text += "; epilogues " + join(rule.epilogues, ", ");
  if (!rule.epilogue_steps.empty())
    text += "; epilogues of the steps " + join(rule.epilogue_steps, ", ");
  std::vector<std::string> targets;
  for (const Target& target : rule.targets) targets.push_back(target.to_string());
  if (!targets.empty()) text += "; on " + join(targets, " or ");
  return text;
}

std::string values_text(const std::vector<Value>& values) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(assay::to_string(value));
  return join(texts, ", ");
}

Json value_json(const Value& value) {
  return std::visit([](const auto& one) { return Json(one); }, value);
}

std::string names_text(const BroughtEntry& brought) {
  std::vector<std::string> names;
  for (size_t i = 0; i < brought.kernels.size() && i < kShownKernels; ++i)
    names.push_back(brought.kernels[i].name());
  std::string text = names.empty() ? "" : ": " + join(names, ", ");
  if (brought.kernels.size() > kShownKernels)
    text += fmt::format(" and {} more (--json)", brought.kernels.size() - kShownKernels);
  return text;
}

// A plug-in describes its kernels itself: what each of its rules takes, once.
std::string text_of_plugin(const BroughtEntry& brought, const report::TextStyle& style) {
  std::vector<std::string> rules;
  for (const KernelMetadata& kernel : brought.kernels)
    if (std::string rule = rule_text(kernel.rule()); std::ranges::find(rules, rule) == rules.end())
      rules.push_back(std::move(rule));
  std::string out;
  for (const std::string& rule : rules) out += line_text({"takes", sanitize(rule, 4000)}, style);
  return out +
         line_text({"kernels",
                    sanitize(fmt::format("{}{}", report::thousands(std::ssize(brought.kernels)),
                                         names_text(brought)),
                             4000)},
                   style);
}

std::string text_of(const BroughtEntry& brought, const report::TextStyle& style) {
  const KernelEntry& entry = brought.entry;
  std::string out;
  const auto line = [&](const char* label, const std::string& text) {
    out += line_text({label, sanitize(text, 4000)}, style);
  };
  line("entry", fmt::format("{}   {}, {}", entry.name, provider_of(brought), entry.origin));
  if (!entry.rule) return out + text_of_plugin(brought, style);
  line("takes", rule_text(*entry.rule));
  if (entry.error_bound != ErrorBound::elementwise)
    line("promises", fmt::format("{} errors", to_string(entry.error_bound)));
  line("called", fmt::format("{}({})", entry.entry, join(entry.args, ", ")));
  if (!entry.prepare_entry.empty())
    line("packed", fmt::format("{}({}), {} bytes", entry.prepare_entry,
                               join(entry.prepare_args, ", "), entry.prepare_bytes_text));
  if (!entry.workspace_text.empty()) line("workspace", entry.workspace_text + " bytes");
  for (const KernelEntry::Tunable& tunable : entry.tunables)
    line("tunable", fmt::format("{}: {}", tunable.name, values_text(tunable.values)));
  for (const auto& [text, expression] : entry.constraints)
    line("needs", text + (asks_the_shape(entry, expression) ? "   (asked of each shape)" : ""));
  line("kernels",
       fmt::format("{} of {} point{} legal{}", report::thousands(std::ssize(brought.kernels)),
                   report::thousands(points_of(brought)), points_of(brought) == 1 ? "" : "s",
                   names_text(brought)));
  return out;
}

Json json_of(const BroughtEntry& brought) {
  const KernelEntry& entry = brought.entry;
  Json tunables = Json::object(), constraints = Json::array(), kernels = Json::array();
  for (const KernelEntry::Tunable& tunable : entry.tunables) {
    Json& values = tunables[tunable.name] = Json::array();
    for (const Value& value : tunable.values) values.push_back(value_json(value));
  }
  for (const auto& [text, expression] : entry.constraints)
    constraints.push_back(
        {{"text", text}, {"asked_of_each_shape", asks_the_shape(entry, expression)}});
  for (const KernelMetadata& kernel : brought.kernels)
    kernels.push_back(kernel.own_json(kernel.id()));
  Json json = {{"name", entry.name},
               {"provider", provider_of(brought)},
               {"source", entry.source.string()},
               {"origin", entry.origin},
               {"entry", entry.entry},
               {"rule", entry.rule ? entry.rule->to_json() : Json(nullptr)},
               {"args", entry.args},
               {"tunables", std::move(tunables)},
               {"constraints", std::move(constraints)},
               {"points", points_of(brought)},
               {"legal", brought.kernels.size()},
               {"kernels", std::move(kernels)},
               {"flags", entry.flags},
               {"specialised_on", entry.specialised_on},
               {"workspace", entry.workspace_text},
               {"deterministic", entry.deterministic},
               {"error", std::string(to_string(entry.error_bound))},
               {"prepare", nullptr}};
  if (!entry.prepare_entry.empty())
    json["prepare"] = {{"entry", entry.prepare_entry},
                       {"args", entry.prepare_args},
                       {"bytes", entry.prepare_bytes_text}};
  return json;
}

}  // namespace

Result<std::vector<BroughtEntry>> bring_entries(const sweep::Request& request,
                                                std::span<const input::KernelSource> files) {
  sweep::Request alone = request;
  alone.pool.providers.clear();
  alone.pool.filter.clear();
  alone.pool.kernels.assign(files.begin(), files.end());
  ASSAY_TRY(sweep::Discovery found, sweep::discover(alone, nullptr, ""));
  std::vector<BroughtEntry> entries;
  for (const input::KernelSource& file : files) {
    for (const KernelEntry& entry : file.entries) {
      BroughtEntry& brought = entries.emplace_back(BroughtEntry{entry, {}});
      for (process::OfferedKernel& row : found.rows)
        if (row.metadata.family() == entry.name) brought.kernels.push_back(row.metadata);
    }
  }
  return entries;
}

Json entries_json(const std::vector<BroughtEntry>& entries) {
  Json list = Json::array();
  for (const BroughtEntry& brought : entries) list.push_back(json_of(brought));
  return list;
}

std::string entries_text(const std::vector<BroughtEntry>& entries, const report::TextStyle& style) {
  std::string out;
  for (const BroughtEntry& brought : entries) out += text_of(brought, style) + '\n';
  return out;
}

}  // namespace assay::cli
