#include "assay/input/kernel_words.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace assay::input {
namespace {

struct Other {
  const char* name;
  Argument::Kind kind;
};
constexpr Other kOthers[] = {{"workspace", Argument::Kind::workspace},
                             {"workspace_bytes", Argument::Kind::workspace_bytes},
                             {"prepared", Argument::Kind::prepared},
                             {"threads", Argument::Kind::threads}};

}  // namespace

// Operations that users define become known in the course of time.
const KernelWords* find_words(std::string_view operation) {
  static std::mutex mutex;
  static std::map<const Operation*, KernelWords> words;
  const auto known = find_operation(operation);
  if (!known) return nullptr;
  const std::scoped_lock lock(mutex);
  return &words.try_emplace(*known, KernelWords{(*known)->words()}).first->second;
}

std::optional<Argument> KernelWords::find(std::string_view name) const {
  using Kind = Argument::Kind;
  for (const Other& other : kOthers) {
    if (name == other.name) return Argument{other.kind, {}, {}};
  }
  if (std::find(dimensions.begin(), dimensions.end(), name) != dimensions.end()) {
    return Argument{Kind::size, {}, std::string(name)};
  }
  if (has_scalar(name)) {
    return Argument{Kind::scalar, {}, {}};
  }
  for (const Operand& operand : operands) {
    if (name == operand.role) return Argument{Kind::operand, operand.role, {}};
    if (name == "map_" + operand.role) return Argument{Kind::tensor_map, operand.role, {}};
    if (operand.dimensions.size() > 1 && name == "ld" + operand.role)
      return Argument{Kind::leading, operand.role, {}};
    for (const std::string& dimension : operand.dimensions) {
      if (name == operand.role + "_" + dimension) {
        return Argument{Kind::stride, operand.role, dimension};
      }
    }
  }
  return std::nullopt;
}

std::string KernelWords::plain_name(const std::string& name) const {
  constexpr std::string_view kBatch = "batch";
  if (batch.empty() || !name.ends_with(kBatch)) return name;
  const std::string plain = name.substr(0, name.size() - kBatch.size()) + batch;
  return find(plain) ? plain : name;
}

std::vector<std::string> KernelWords::names() const {
  std::vector<std::string> names;
  for (const Operand& operand : operands) names.push_back(operand.role);
  names.insert(names.end(), dimensions.begin(), dimensions.end());
  for (const Operand& operand : operands)
    if (operand.dimensions.size() > 1) names.push_back("ld" + operand.role);
  for (const Operand& operand : operands) {
    for (const std::string& dimension : operand.dimensions) {
      names.push_back(operand.role + "_" + dimension);
    }
  }
  for (const Scalar& scalar : scalars) names.push_back(scalar.name);
  for (const Other& other : kOthers) names.emplace_back(other.name);
  return names;
}

std::optional<Argument> find_argument(const KernelEntry& entry, std::string_view name) {
  for (const KernelEntry::Tunable& tunable : entry.tunables) {
    if (tunable.name == name) return Argument{Argument::Kind::tunable, {}, {}};
  }
  const KernelWords* words = entry.rule ? find_words(entry.rule->operation) : nullptr;
  return words ? words->find(name) : std::nullopt;
}

std::vector<std::string> expression_names(const KernelEntry& entry) {
  std::vector<std::string> names;
  if (const KernelWords* words = entry.rule ? find_words(entry.rule->operation) : nullptr) {
    names = words->dimensions;
  }
  for (const KernelEntry::Tunable& tunable : entry.tunables) names.push_back(tunable.name);
  return names;
}

}  // namespace assay::input
