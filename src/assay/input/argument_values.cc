#include "assay/input/argument_values.h"

#include <algorithm>

#include "assay/input/kernel_words.h"
#include "assay/input/manifest.h"

namespace assay::input {
namespace {

using Kind = ArgumentValue::Kind;

// a_m and the like.
int64_t stride(const KernelEntry& entry, const Operand& operand, const std::string& dimension) {
  const KernelWords* words = find_words(entry.rule->operation);
  const auto* word = words == nullptr ? nullptr : words->find_operand(operand.role);
  if (word == nullptr) return 0;
  const auto found = std::find(word->dimensions.begin(), word->dimensions.end(), dimension);
  const auto place = static_cast<size_t>(found - word->dimensions.begin());
  return place < operand.strides.size() ? operand.strides[place] : 0;
}

int64_t leading(const Operand& operand) {
  const auto& strides = operand.strides;
  return std::max(strides[strides.size() - 2], strides[strides.size() - 1]);
}

double scalar(const Problem& problem, std::string_view name) {
  const auto found = problem.attributes().find(name);
  const double* value =
      found == problem.attributes().end() ? nullptr : std::get_if<double>(&found->second);
  return value != nullptr ? *value : 0.0;
}

ArgumentValue pointer(const std::string& name, int place) {
  return {.name = name, .kind = Kind::pointer, .place = place};
}
ArgumentValue integer(const std::string& name, int64_t value) {
  return {.name = name, .kind = Kind::integer, .integer = value};
}
ArgumentValue real(const std::string& name, double value) {
  return {.name = name, .kind = Kind::real, .real = value};
}

Result<ArgumentValue> tunable(const Design& design, const std::string& name) {
  if (const Value* value = design.find(name)) {
    if (const auto* number = std::get_if<double>(value)) return real(name, *number);
    if (const auto* truth = std::get_if<bool>(value)) return integer(name, *truth ? 1 : 0);
    if (const auto* whole = std::get_if<int64_t>(value)) return integer(name, *whole);
  }
  return fail(ErrorCode::internal, "'{}' has no value", name);
}

}  // namespace

Result<ArgumentValue> argument_value(const ArgumentSources& sources, const std::string& name) {
  const auto argument = find_argument(sources.entry, name);
  if (!argument) return fail(ErrorCode::internal, "'{}' means nothing", name);
  const auto operands = sources.problem.operands();
  const auto places = static_cast<int>(operands.size());
  const Operand* operand = sources.problem.find_operand(argument->operand);
  switch (argument->kind) {
    case Argument::Kind::operand:
      return pointer(name, operand == nullptr ? -1 : static_cast<int>(operand - operands.data()));
    case Argument::Kind::tensor_map:
      return ArgumentValue{.name = name,
                           .kind = Kind::tensor_map,
                           .place = static_cast<int>(operand - operands.data())};
    case Argument::Kind::workspace:
      return pointer(name, places);
    case Argument::Kind::prepared:
      return pointer(name, places + 1);
    case Argument::Kind::size:
      return integer(name, sources.problem.dimension(argument->dimension));
    case Argument::Kind::stride:
      return integer(name,
                     operand == nullptr ? 0 : stride(sources.entry, *operand, argument->dimension));
    case Argument::Kind::leading:
      return integer(name, operand == nullptr ? 0 : leading(*operand));
    case Argument::Kind::scalar:
      return real(name, scalar(sources.problem, name));
    case Argument::Kind::workspace_bytes:
      return integer(name, static_cast<int64_t>(sources.workspace_bytes));
    case Argument::Kind::threads:
      return integer(name, sources.threads);
    case Argument::Kind::tunable:
      return tunable(sources.row.design, name);
  }
  return fail(ErrorCode::internal, "'{}' has no value", name);
}

Result<std::vector<ArgumentValue>> argument_values(const ArgumentSources& sources,
                                                   const std::vector<std::string>& names) {
  std::vector<ArgumentValue> values;
  for (const std::string& name : names) {
    ASSAY_TRY(values.emplace_back(), argument_value(sources, name));
  }
  return values;
}

}  // namespace assay::input
