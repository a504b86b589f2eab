#include "assay/input/entry_rows.h"

#include <algorithm>

#include "assay/input/kernel_words.h"
#include "assay/kernel/entry_archive.h"

namespace assay::input {
namespace {

// Tunables by name, then `threads` where it is known, then the problem's sizes.
Lookup lookup(const Design& design, const Problem* problem, int threads) {
  return [&design, problem, threads](std::string_view name) -> std::optional<Value> {
    if (const Value* value = design.find(name)) return *value;
    if (threads > 0 && name == "threads") return Value(int64_t{threads});
    if (problem == nullptr) return std::nullopt;
    return Value(problem->dimension(name));
  };
}

std::string values_text(const Expression& expression, const Lookup& values) {
  std::string text;
  for (const std::string& name : expression.names()) {
    const auto value = values(name);
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name,
                        value ? to_string(*value) : "nothing");
  }
  return text;
}

Result<std::optional<Expression>> parse(const KernelEntry& entry, const char* field,
                                        const std::string& text) {
  if (text.empty()) return std::nullopt;
  auto expression = Expression::parse(text);
  if (!expression)
    return fail(ErrorCode::invalid_input, "{}: {}: {}", entry.origin, field,
                expression.error().message);
  return std::move(*expression);
}

size_t bytes(const std::optional<Expression>& expression, const Lookup& values) {
  if (!expression) return 0;
  const auto amount = expression->evaluate_int64(values);
  return amount && *amount > 0 ? static_cast<size_t>(*amount) : 0;
}

// A kernel that never hears of a distance takes rows, columns and batches to lie side by side: a
// refusal where they do not.
std::optional<Refusal> unspoken_gap(const KernelEntry& entry, const Operand& operand) {
  const OperandRule* rule = entry.rule->find_operand(operand.role);
  const KernelWords* words = find_words(entry.rule->operation);
  const auto* word = words == nullptr ? nullptr : words->find_operand(operand.role);
  const size_t rank = operand.strides.size();
  if (rule == nullptr || word == nullptr || !is_told(entry, operand.role) || rank < 2 ||
      word->dimensions.size() != rank)
    return std::nullopt;
  const size_t inner = rule->major == Major::column ? rank - 2 : rank - 1;
  const size_t outer = 2 * rank - 3 - inner;
  const auto side_by_side = [&](size_t i) {
    if (i == inner) return int64_t{1};
    if (i == outer) return operand.sizes[inner];
    int64_t reach = 1;
    for (size_t d = i + 1; d < rank; ++d)
      reach = std::max(reach, operand.sizes[d] * operand.strides[d]);
    return reach;
  };
  for (size_t i = 0; i < rank; ++i) {
    const std::string name = fmt::format("{}_{}", operand.role, word->dimensions[i]);
    const int64_t expected = side_by_side(i);
    if (operand.sizes[i] <= 1 || operand.strides[i] == expected || is_told(entry, name) ||
        (i == outer && is_told(entry, "ld" + operand.role)))
      continue;
    return Refusal{
        Reason::stride,
        fmt::format("operand {} has steps of {} elements along {}, not {}, and args does "
                    "not name {}{}",
                    operand.role, operand.strides[i], word->dimensions[i], expected, name,
                    i == outer ? " or ld" + operand.role : "")};
  }
  return std::nullopt;
}

}  // namespace

bool is_told(const KernelEntry& entry, std::string_view name) {
  const auto names = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  return names(entry.args) || names(entry.prepare_args);
}

Result<EntryRows> EntryRows::create(KernelEntry entry, const std::vector<DesignAxis>& besides,
                                    std::optional<RunsOn> runs_on) {
  if (!entry.rule) return fail(ErrorCode::invalid_input, "{}: no rule", entry.origin);
  ASSAY_TRY(auto workspace, parse(entry, "workspace", entry.workspace_text));
  ASSAY_TRY(auto prepare_bytes, parse(entry, "prepare.bytes", entry.prepare_bytes_text));
  const RunsOn by_launch = entry.launch ? RunsOn::gpu : RunsOn::cores;
  return EntryRows(std::move(entry), std::move(workspace), std::move(prepare_bytes), besides,
                   runs_on.value_or(by_launch));
}

EntryRows::EntryRows(KernelEntry entry, std::optional<Expression> workspace,
                     std::optional<Expression> prepare_bytes,
                     const std::vector<DesignAxis>& besides, RunsOn runs_on)
    : entry_(std::move(entry)),
      workspace_(std::move(workspace)),
      prepare_bytes_(std::move(prepare_bytes)),
      space_(groups(besides)),
      runs_on_(runs_on) {}

// Over tunables alone: such a constraint says which rows there are.
bool EntryRows::is_static(const Expression& expression) const {
  return std::all_of(
      expression.names().begin(), expression.names().end(), [&](const std::string& name) {
        return std::any_of(entry_.tunables.begin(), entry_.tunables.end(),
                           [&](const auto& tunable) { return tunable.name == name; });
      });
}

std::vector<DesignGroup> EntryRows::groups(const std::vector<DesignAxis>& besides) const {
  DesignGroup group;
  group.traits.name = entry_.name;
  group.traits.rule = entry_.rule;
  group.traits.specialised_on = entry_.specialised_on;
  group.traits.deterministic = entry_.deterministic;
  group.traits.error_bound = entry_.error_bound;
  group.traits.prepares = !entry_.prepare_entry.empty();
  group.traits.dependent_launch = entry_.launch && entry_.launch->dependent;
  group.traits.call = call_of(entry_);
  for (const KernelEntry::Tunable& tunable : entry_.tunables) {
    group.traits.name += fmt::format("_{0}{{{0}}}", tunable.name);
    group.axes.push_back(axis(tunable.name, tunable.values));
  }
  group.axes.insert(group.axes.end(), besides.begin(), besides.end());
  for (const auto& [text, expression] : entry_.constraints) {
    if (!is_static(expression)) continue;
    group.constraints.push_back([constraint = expression](const Design& design) {
      return constraint.evaluate_bool(lookup(design, nullptr, 0)).value_or(false);
    });
  }
  std::vector<DesignGroup> groups;
  groups.push_back(std::move(group));
  return groups;
}

std::optional<Refusal> EntryRows::objection(const Design& design, const Problem& problem) const {
  const Lookup values = lookup(design, &problem, 1);
  for (const auto& [text, expression] : entry_.constraints) {
    const auto holds = expression.evaluate_bool(values);
    if (!holds)
      return Refusal{Reason::constraint,
                     fmt::format("constraint '{}': {}", text, holds.error().message)};
    if (!*holds)
      return Refusal{Reason::constraint, fmt::format("'{}' does not hold for {}", text,
                                                     values_text(expression, values))};
  }
  for (const Operand& operand : problem.operands())
    if (auto why = unspoken_gap(entry_, operand)) return why;
  for (const auto& [field, amount_of] :
       {std::pair("workspace", &workspace_), std::pair("prepare.bytes", &prepare_bytes_)}) {
    if (!*amount_of) continue;
    const auto amount = (*amount_of)->evaluate_int64(values);
    if (amount && *amount >= 0) continue;
    return Refusal{Reason::workspace, fmt::format("{}: '{}' bytes: {}", field, (*amount_of)->text(),
                                                  amount ? fmt::format("{} is negative", *amount)
                                                         : amount.error().message)};
  }
  return std::nullopt;
}

void EntryRows::enumerate(const Query& query, const MetadataSink& sink) const {
  const bool for_gpu = runs_on_ == RunsOn::gpu;
  if (query.target() != nullptr && query.target()->is_gpu() != for_gpu)
    return query.refuse(Reason::target, for_gpu ? "device code runs on a GPU: give --device gpu"
                                                : "host code runs on the CPU: leave --device out");
  if (query.problem() == nullptr) return space_.enumerate(query, sink);
  space_.enumerate(query, [&](const KernelMetadata& row) {
    if (const auto why = objection(row.design, *query.problem()))
      query.refuse(why->reason, why->sentence);
    else
      sink(row);
  });
}

Result<int64_t> EntryRows::evaluate(const Expression& expression, const Design& design,
                                    const Problem& problem) {
  return expression.evaluate_int64(lookup(design, &problem, 0));
}

size_t EntryRows::workspace_bytes(const Design& design, const Problem& problem, int threads) const {
  return bytes(workspace_, lookup(design, &problem, threads));
}

size_t EntryRows::prepare_bytes(const Design& design, const Problem& problem) const {
  return bytes(prepare_bytes_, lookup(design, &problem, 0));
}

}  // namespace assay::input
