#include "assay/input/entry_family.h"

#include <fmt/format.h>

namespace assay::input {
namespace {

std::string macro_value(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "1" : "0";
  return to_string(value);
}

std::string upper(std::string_view text) {
  std::string copy(text);
  for (char& letter : copy)
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  return copy;
}

std::string type_macro(const Operand& operand) {
  return fmt::format("ASSAY_{}_{}=1", upper(operand.role), upper(to_string(operand.dtype)));
}

}  // namespace

std::vector<std::string> EntryFamily::macros(const KernelMetadata& row,
                                             const MaskedProblem& problem, TypeMacros types) const {
  std::vector<std::string> macros;
  for (const auto& [name, value] : row.design)
    if (!is_told(entry(), name)) macros.push_back(fmt::format("{}={}", name, macro_value(value)));
  for (const std::string& name : entry().specialised_on)
    macros.push_back(fmt::format("ASSAY_{}={}", upper(name), problem.dimension(name)));
  const Problem& typed = problem.unmasked_types();
  if (types == TypeMacros::all)
    for (const Operand& operand : typed.operands()) macros.push_back(type_macro(operand));
  else
    for (const OperandRule& rule : entry().rule->operands)
      if (const Operand* operand = typed.find_operand(rule.role);
          rule.dtypes.size() > 1 && operand != nullptr)
        macros.push_back(type_macro(*operand));
  return macros;
}

size_t EntryFamily::do_workspace_bytes(const KernelMetadata& row, const Problem& problem,
                                       int threads) const {
  return rows_.workspace_bytes(row.design, problem, threads);
}

void HostFamily::do_enumerate(const Query& query, const MetadataSink& sink) const {
  rows().enumerate(query, sink);
}

Refusals HostFamily::do_supports(const KernelMetadata& row, const Problem& problem,
                                 const Target&) const {
  Refusals refusals;
  if (const auto why = rows().objection(row.design, problem))
    refusals.add(why->reason, why->sentence);
  return refusals;
}

}  // namespace assay::input
