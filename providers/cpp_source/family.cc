#include "family.h"

#include <algorithm>
#include <filesystem>

#include "assay/base/text.h"
#include "assay/kernel/design_space.h"
#include "call.h"
#include "compile.h"
#include "shim.h"

namespace assay::cpp_source {
namespace {

// Tunables by name, then the problem's sizes.
Lookup lookup(const Design& design, const Problem* problem) {
  return [&design, problem](std::string_view name) -> std::optional<Value> {
    if (const Value* value = design.find(name)) return *value;
    if (problem == nullptr) return std::nullopt;
    return Value(problem->dimension(name));
  };
}

std::string macro_value(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "1" : "0";
  return to_string(value);
}

std::string upper(std::string_view text) {
  std::string copy(text);
  for (char& c : copy)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return copy;
}

class SourceFamily final : public Family {
 public:
  explicit SourceFamily(KernelEntry entry, std::optional<Expression> workspace,
                        std::optional<Expression> prepare_bytes)
      : entry_(std::move(entry)),
        workspace_(std::move(workspace)),
        prepare_bytes_(std::move(prepare_bytes)),
        space_(groups()) {}

  std::string_view name() const override { return entry_.name; }

 private:
  bool is_tunable(std::string_view name) const {
    return std::any_of(entry_.tunables.begin(), entry_.tunables.end(),
                       [&](const KernelEntry::Tunable& tunable) { return tunable.name == name; });
  }

  // Over tunables alone: such a constraint says which rows there are.
  bool is_static(const Expression& expression) const {
    return std::all_of(expression.names().begin(), expression.names().end(),
                       [&](const std::string& name) { return is_tunable(name); });
  }

  std::vector<DesignGroup> groups() const {
    DesignGroup group;
    group.traits.name = entry_.name;
    group.traits.rule = entry_.rule;
    group.traits.specialised_on = entry_.specialised_on;
    group.traits.deterministic = entry_.deterministic;
    group.traits.prepares = !entry_.prepare_entry.empty();
    for (const KernelEntry::Tunable& tunable : entry_.tunables) {
      group.traits.name += fmt::format("_{0}{{{0}}}", tunable.name);
      group.axes.push_back(axis(tunable.name, tunable.values));
    }
    for (const auto& [text, expression] : entry_.constraints) {
      if (!is_static(expression)) continue;
      group.constraints.push_back([constraint = expression](const Design& design) {
        return constraint.evaluate_bool(lookup(design, nullptr)).value_or(false);
      });
    }
    std::vector<DesignGroup> groups;
    groups.push_back(std::move(group));
    return groups;
  }

  // What constraints, workspace and preparation have against a row on a problem; empty: nothing.
  std::optional<Refusal> objection(const Design& design, const Problem& problem) const {
    const Lookup values = lookup(design, &problem);
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
    for (const auto* bytes : {&workspace_, &prepare_bytes_}) {
      if (!*bytes) continue;
      const auto amount = (*bytes)->evaluate_int64(values);
      if (amount && *amount >= 0) continue;
      return Refusal{Reason::workspace, fmt::format("'{}' bytes: {}", (*bytes)->text(),
                                                    amount ? fmt::format("{} is negative", *amount)
                                                           : amount.error().message)};
    }
    return std::nullopt;
  }

  static std::string values_text(const Expression& expression, const Lookup& values) {
    std::string text;
    for (const std::string& name : expression.names()) {
      const auto value = values(name);
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name,
                          value ? to_string(*value) : "nothing");
    }
    return text;
  }

  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    if (query.problem() == nullptr) return space_.enumerate(query, sink);
    space_.enumerate(query, [&](const KernelMetadata& row) {
      if (const auto why = objection(row.design, *query.problem()))
        query.refuse(why->reason, why->sentence);
      else
        sink(row);
    });
  }

  Refusals do_supports(const KernelMetadata& row, const Problem& problem,
                       const Target&) const override {
    Refusals refusals;
    if (const auto why = objection(row.design, problem)) refusals.add(why->reason, why->sentence);
    return refusals;
  }

  std::vector<std::string> macros(const KernelMetadata& row, const MaskedProblem& problem) const {
    std::vector<std::string> macros;
    for (const auto& [name, value] : row.design)
      if (!is_told(entry_, name)) macros.push_back(fmt::format("{}={}", name, macro_value(value)));
    for (const std::string& name : entry_.specialised_on)
      macros.push_back(fmt::format("ASSAY_{}={}", upper(name), problem.dimension(name)));
    // Where the kernel takes several types, it must be told which it has.
    for (const OperandRule& rule : entry_.rule->operands) {
      const Operand* operand = problem.unmasked_types().find_operand(rule.role);
      if (rule.dtypes.size() > 1 && operand != nullptr)
        macros.push_back(
            fmt::format("ASSAY_{}_{}=1", upper(rule.role), upper(to_string(operand->dtype))));
    }
    return macros;
  }

  Result<Artifact> do_compile(const KernelMetadata& row, const MaskedProblem& problem,
                              const Target& target, const CompileContext& context) const override {
    return compile(
        {.entry = entry_, .macros = macros(row, problem), .target = target, .context = context});
  }

  size_t bytes(const std::optional<Expression>& expression, const KernelMetadata& row,
               const Problem& problem) const {
    if (!expression) return 0;
    const auto amount = expression->evaluate_int64(lookup(row.design, &problem));
    return amount && *amount > 0 ? static_cast<size_t>(*amount) : 0;
  }

  size_t do_workspace_bytes(const KernelMetadata& row, const Problem& problem, int) const override {
    return bytes(workspace_, row, problem);
  }

  Status do_prepare(const KernelMetadata& row, const Binding& binding,
                    Prepared& prepared) const override {
    ASSAY_TRY(const std::span<std::byte> memory,
              prepared.allocate(bytes(prepare_bytes_, row, binding.problem)));
    ASSAY_TRY(const HostStep step, bind(row, binding, entry_.prepare_args, "assay_prepare"));
    std::vector<void*> data(binding.data.begin(), binding.data.end());
    data.push_back(nullptr);
    data.push_back(memory.data());
    const int code = step.function(step.state.get(), data.data());
    if (code != 0)
      return fail(ErrorCode::failed, "{} returned {}", entry_.prepare_entry, code_text(code));
    return {};
  }

  static std::string code_text(int code) {
    return code == kNarrowed ? "nothing: a size does not fit into the integer that it takes"
                             : std::to_string(code);
  }

  Status do_bind(const KernelMetadata& row, const Binding& binding,
                 std::vector<Step>& steps) const override {
    ASSAY_TRY(HostStep step, bind(row, binding, entry_.args, "assay_call"));
    steps.push_back(std::move(step));
    return {};
  }

  Result<HostStep> bind(const KernelMetadata& row, const Binding& binding,
                        const std::vector<std::string>& args, const char* symbol) const {
    return bind_call({.entry = entry_,
                      .row = row,
                      .binding = binding,
                      .args = args,
                      .symbol = symbol,
                      .workspace_bytes = bytes(workspace_, row, binding.problem)});
  }

  KernelEntry entry_;
  std::optional<Expression> workspace_, prepare_bytes_;
  DesignSpace space_;
};

Result<std::optional<Expression>> parse(const KernelEntry& entry, const char* field,
                                        const std::string& text) {
  if (text.empty()) return std::nullopt;
  auto expression = Expression::parse(text);
  if (!expression)
    return fail(ErrorCode::invalid_input, "{}: {}: {}", entry.origin, field,
                expression.error().message);
  return std::move(*expression);
}

// entry may name a function in a namespace: "mine::gemm".
bool is_function_name(std::string_view text) {
  const auto is_word = [](std::string_view word) {
    return !word.empty() && !(word[0] >= '0' && word[0] <= '9') &&
           word.find_first_not_of(
               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$") ==
               std::string_view::npos;
  };
  for (size_t at = 0;;) {
    const size_t end = text.find("::", at);
    if (!is_word(text.substr(at, end - at))) return false;
    if (end == std::string_view::npos) return true;
    at = end + 2;
  }
}

}  // namespace

Result<std::shared_ptr<const Family>> make_family(const KernelEntry& entry) {
  if (!entry.rule) return fail(ErrorCode::invalid_input, "{}: no rule", entry.origin);
  std::vector<std::string> functions = {entry.entry};
  if (!entry.prepare_entry.empty()) functions.push_back(entry.prepare_entry);
  for (const std::string& function : functions) {
    if (is_function_name(function)) continue;
    return fail(ErrorCode::invalid_input, "{}: entry: '{}' cannot be a function's name",
                entry.origin, sanitize(function, 60));
  }
  std::error_code failed;
  if (!std::filesystem::is_regular_file(entry.source, failed))
    return fail(ErrorCode::not_found, "{}: source: there is no file '{}'", entry.origin,
                sanitize(entry.source.string(), 300));
  ASSAY_TRY(shim_text(entry));  // Arguments that cannot be passed are known now.
  ASSAY_TRY(auto workspace, parse(entry, "workspace", entry.workspace_text));
  ASSAY_TRY(auto prepare_bytes, parse(entry, "prepare.bytes", entry.prepare_bytes_text));
  return std::make_shared<const SourceFamily>(entry, std::move(workspace),
                                              std::move(prepare_bytes));
}

}  // namespace assay::cpp_source
