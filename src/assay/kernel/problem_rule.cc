#include "assay/kernel/problem_rule.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>

#include "assay/base/operation_name.h"
#include "assay/base/text.h"
#include "assay/op/operation.h"

namespace assay {
namespace {

// "f32", "f32 or bf16", "f32, f16 or bf16".
template <class List, class Text>
std::string either(const List& list, const Text& text) {
  std::string joined;
  size_t at = 0;
  for (const auto& item : list) {
    if (at > 0) joined += at + 1 == list.size() ? " or " : ", ";
    joined += text(item);
    ++at;
  }
  return joined;
}

std::string dtype_name(DType dtype) { return std::string(to_string(dtype)); }

// Which of the last two dimensions holds neighbours in memory; -1 where neither does. A vector
// stored as a matrix may count for both, and `wanted` decides.
int contiguous_dimension(const Operand& operand, Major wanted) {
  const int rank = static_cast<int>(operand.strides.size());
  if (rank == 0) return -1;
  if (rank == 1) return operand.strides[0] == 1 ? 0 : -1;
  const auto leads = [&](int inner, int outer) {
    if (operand.strides[inner] != 1) return false;
    // Rows that overlap are no matrix of that order.
    return operand.sizes[outer] <= 1 || operand.strides[outer] >= operand.sizes[inner];
  };
  const int row = leads(rank - 1, rank - 2) ? rank - 1 : -1;
  const int column = leads(rank - 2, rank - 1) ? rank - 2 : -1;
  if (wanted == Major::row) return row;
  if (wanted == Major::column) return column;
  return row >= 0 ? row : column;
}

// "k=100" where exactly one of the problem's dimensions has the size, else "the contiguous size
// 100".
std::string name_size(const Problem& problem, int64_t size) {
  std::string_view only;
  int same = 0;
  for (const auto& [name, value] : problem.dimensions()) {
    if (value != size) continue;
    only = name;
    ++same;
  }
  return same == 1 ? fmt::format("{}={}", only, size) : fmt::format("the contiguous size {}", size);
}

// Whether stride elements are a whole number of `alignment` bytes, without multiplying.
bool stride_aligned(int64_t stride, int64_t element_bits, int64_t alignment) {
  const int64_t bits = alignment * 8;
  return stride % (bits / std::gcd(bits, element_bits)) == 0;
}

void match_layout(const OperandRule& rule, const Operand& operand, const Problem& problem,
                  Refusals& refusals) {
  const int contiguous = contiguous_dimension(operand, rule.major);
  if (rule.major != Major::any && contiguous < 0) {
    const Major other = rule.major == Major::row ? Major::column : Major::row;
    if (contiguous_dimension(operand, other) >= 0) {
      refusals.add(Reason::layout,
                   fmt::format("operand {} is {}-major; this takes {}-major", operand.role,
                               to_string(other), to_string(rule.major)));
    } else {
      refusals.add(Reason::stride,
                   fmt::format("operand {} has strides {}: this takes {}-major, one apart in the "
                               "{} of its last two dimensions",
                               operand.role,
                               either(operand.strides, [](int64_t s) { return std::to_string(s); }),
                               to_string(rule.major), rule.major == Major::row ? "last" : "first"));
    }
    return;
  }
  if (rule.divisibility > 1) {
    if (contiguous < 0) {
      refusals.add(Reason::stride,
                   fmt::format("operand {} is contiguous in neither of its last two dimensions",
                               operand.role));
    } else if (const int64_t size = operand.sizes[contiguous]; size % rule.divisibility != 0) {
      refusals.add(Reason::divisibility,
                   fmt::format("{} is not a multiple of {} (operand {})", name_size(problem, size),
                               rule.divisibility, operand.role));
    }
  }
  if (rule.alignment <= 1) return;
  if (operand.alignment % rule.alignment != 0) {
    refusals.add(Reason::alignment, fmt::format("operand {} promises {}-byte alignment; this needs "
                                                "{}",
                                                operand.role, operand.alignment, rule.alignment));
  }
  for (size_t i = 0; i < operand.strides.size(); ++i) {
    if (static_cast<int>(i) == contiguous || operand.sizes[i] <= 1) continue;
    if (stride_aligned(operand.strides[i], info(operand.dtype).bits, rule.alignment)) continue;
    refusals.add(
        Reason::alignment,
        fmt::format("operand {} has a stride of {} elements of {}, which is not a multiple "
                    "of {} bytes",
                    operand.role, operand.strides[i], to_string(operand.dtype), rule.alignment));
    return;
  }
}

void match_operand(const OperandRule& rule, const Operand& operand, const Problem& problem,
                   Refusals& refusals) {
  if (std::find(rule.dtypes.begin(), rule.dtypes.end(), operand.dtype) == rule.dtypes.end()) {
    refusals.add(Reason::dtype,
                 fmt::format("operand {} is {}; this takes {}", operand.role,
                             to_string(operand.dtype), either(rule.dtypes, dtype_name)));
  }
  match_layout(rule, operand, problem, refusals);
  if (rule.prepared && operand.lifetime != Lifetime::constant) {
    refusals.add(Reason::not_constant,
                 fmt::format("operand {} is packed once, but the problem does not declare it "
                             "constant",
                             operand.role));
  }
}

template <class T>
const T* attribute(const Problem& problem, std::string_view name) {
  const auto found = problem.attributes().find(name);
  return found == problem.attributes().end() ? nullptr : std::get_if<T>(&found->second);
}

std::string epilogue_of(const Problem& problem) {
  const auto* text = attribute<std::string>(problem, "epilogue");
  return text == nullptr ? std::string() : *text;
}

void match_attributes(const ProblemRule& rule, const Problem& problem, Refusals& refusals) {
  if (const auto* name = attribute<std::string>(problem, "accumulate");
      name && !rule.accumulate.empty()) {
    const bool fits = std::any_of(rule.accumulate.begin(), rule.accumulate.end(),
                                  [&](DType dtype) { return to_string(dtype) == *name; });
    if (!fits) {
      refusals.add(Reason::accumulate, fmt::format("accumulates in {}; this takes {}", *name,
                                                   either(rule.accumulate, dtype_name)));
    }
  }
  if (const std::string epilogue = epilogue_of(problem); !rule.takes_epilogue(epilogue)) {
    refusals.add(Reason::epilogue,
                 epilogue.empty() ? fmt::format("this always has the epilogue {}",
                                                either(rule.epilogues, std::identity()))
                                  : fmt::format("this has no epilogue {}", sanitize(epilogue, 60)));
  }
}

// What only the operation can name: its batch, and its scalars with their plain values.
void match_words(const ProblemRule& rule, const OperationWords& words, const Problem& problem,
                 Refusals& refusals) {
  if (!rule.batch && !words.batch.empty() && problem.dimension(words.batch) > 1) {
    refusals.add(Reason::batch, fmt::format("{0}={1}: this computes {0}=1 only", words.batch,
                                            problem.dimension(words.batch)));
  }
  if (rule.scalars) return;
  for (const auto& [name, plain] : words.scalars) {
    const auto* value = attribute<double>(problem, name);
    if (!plain || value == nullptr || *value == *plain) continue;
    refusals.add(Reason::scalars,
                 fmt::format("{0} is {1}; this computes {0} {2} only", name, *value, *plain));
  }
}

void match_problem(const ProblemRule& rule, const Problem& problem, Refusals& refusals) {
  if (rule.operation != problem.operation()) {
    refusals.add(Reason::operation,
                 fmt::format("computes {}, not {}", operation_title(rule.operation),
                             operation_title(problem.operation())));
    return;  // Its operands' roles mean something else.
  }
  // Operands that only a step of its brings.
  std::vector<std::string> of_steps;
  const std::string epilogue = epilogue_of(problem);
  if (!rule.takes_epilogue(epilogue)) of_steps = epilogue_steps(epilogue);
  const auto operation = find_operation(rule.operation);
  const auto weighs_by_scalar = [&](std::string_view role) {
    const auto* operand = operation ? (*operation)->words().find_operand(role) : nullptr;
    return operand != nullptr && !operand->of_scalar.empty();
  };
  for (const Operand& operand : problem.operands()) {
    if (const OperandRule* found = rule.find_operand(operand.role)) {
      match_operand(*found, operand, problem, refusals);
    } else if (std::ranges::find(of_steps, operand.role) == of_steps.end()) {
      refusals.add(weighs_by_scalar(operand.role) ? Reason::scalars : Reason::other,
                   fmt::format("this takes no operand {}", operand.role));
    }
  }
  for (const OperandRule& operand : rule.operands) {
    if (!operand.prepared || problem.find_operand(operand.role)) continue;
    refusals.add(Reason::other, fmt::format("the problem has no operand {}", operand.role));
  }
  match_attributes(rule, problem, refusals);
  if (operation) match_words(rule, (*operation)->words(), problem, refusals);
}

void match_target(const ProblemRule& rule, const Target& target, Refusals& refusals) {
  if (rule.targets.empty()) return;
  for (const Target& one : rule.targets) {
    if (target.covers(one)) return;
  }
  const Target& need = rule.targets.front();
  if (!need.arch.empty() && need.arch != target.arch) {
    refusals.add(Reason::target,
                 fmt::format("needs {}; the target is {}",
                             either(rule.targets, [](const Target& t) { return t.to_string(); }),
                             target.arch));
    return;
  }
  std::vector<std::string> lacking;
  std::set_difference(need.features.begin(), need.features.end(), target.features.begin(),
                      target.features.end(), std::back_inserter(lacking));
  refusals.add(Reason::target,
               fmt::format("needs {}, which the target lacks", join(lacking, ", ")));
}

}  // namespace

std::string_view to_string(Major major) {
  constexpr std::string_view kNames[] = {"any", "row", "column"};
  return kNames[static_cast<size_t>(major)];
}

std::string ProblemRule::default_operation_name() { return std::string(default_operation()); }

void ProblemRule::take_steps(std::span<const std::string_view> steps,
                             std::span<const std::string_view> with_operand,
                             const std::vector<DType>& dtypes) {
  for (const std::string_view step : steps) {
    if (std::ranges::find(epilogue_steps, step) == epilogue_steps.end())
      epilogue_steps.emplace_back(step);
    const bool brings = std::ranges::find(with_operand, step) != with_operand.end();
    if (brings && find_operand(step) == nullptr)
      operands.push_back({.role = std::string(step), .dtypes = dtypes});
  }
}

const OperandRule* ProblemRule::find_operand(std::string_view role) const {
  for (const OperandRule& operand : operands) {
    if (operand.role == role) return &operand;
  }
  return nullptr;
}

bool ProblemRule::takes_epilogue(std::string_view epilogue) const {
  const auto names = [](const std::vector<std::string>& list, std::string_view name) {
    return std::ranges::find(list, name) != list.end();
  };
  if (epilogue.empty()) return epilogues.empty() || names(epilogues, "none");
  if (names(epilogues, epilogue)) return true;
  return std::ranges::all_of(assay::epilogue_steps(epilogue),
                             [&](const std::string& step) { return names(epilogue_steps, step); });
}

bool ProblemRule::for_gpus_alone() const {
  return !targets.empty() && std::ranges::all_of(targets, &Target::is_gpu);
}

Status ProblemRule::check_epilogues() const {
  const auto known = find_operation(operation);
  if (!known) return {};
  for (const std::string& name : epilogues)
    if (name != "none") ASSAY_TRY((*known)->check_epilogue(name));
  return {};
}

Refusals ProblemRule::match(const Problem* problem, const Target* target) const {
  Refusals refusals;
  if (problem) match_problem(*this, *problem, refusals);
  if (target) match_target(*this, *target, refusals);
  return refusals;
}

}  // namespace assay
