#include "assay/op/operation.h"

#include <algorithm>
#include <array>

#include "assay/base/choices.h"
#include "assay/base/text.h"

namespace assay {
namespace {

constexpr std::array kKinds = {
    InputKind::uniform,    InputKind::exact,        InputKind::wide_range, InputKind::cancellation,
    InputKind::needle,     InputKind::zeros,        InputKind::ones,       InputKind::identity,
    InputKind::non_finite, InputKind::exact_blocks,
};

}  // namespace

std::string_view to_string(InputKind kind) {
  switch (kind) {
    case InputKind::uniform:
      return "uniform";
    case InputKind::exact:
      return "exact";
    case InputKind::wide_range:
      return "wide_range";
    case InputKind::cancellation:
      return "cancellation";
    case InputKind::needle:
      return "needle";
    case InputKind::zeros:
      return "zeros";
    case InputKind::ones:
      return "ones";
    case InputKind::identity:
      return "identity";
    case InputKind::non_finite:
      return "non_finite";
    case InputKind::exact_blocks:
      return "exact_blocks";
  }
  return "unknown";
}

std::span<const InputKind> all_input_kinds() { return kKinds; }

std::optional<InputKind> find_input_kind(std::string_view name) {
  for (InputKind kind : kKinds)
    if (to_string(kind) == name) return kind;
  return std::nullopt;
}

Result<const Operation*> find_operation(std::string_view name) {
  std::vector<std::string> known;
  for (const Operation* operation : built_in_operations()) {
    if (operation->name() == name) return operation;
    known.emplace_back(operation->name());
  }
  return fail(ErrorCode::not_found, "there is no operation '{}'{}", sanitize(name, 60),
              did_you_mean(name, known, "known: " + join(known, ", ")));
}

Status check_epilogue(const Operation& operation, std::string_view name) {
  const auto& known = operation.words().epilogues;
  if (std::find(known.begin(), known.end(), name) != known.end()) return {};
  return fail(ErrorCode::invalid_input,
              "the epilogue '{}' has no reference, so no kernel could be proven right with it; "
              "epilogues of {} that have one: {}",
              sanitize(name, 60), operation.name(), known.empty() ? "none" : join(known, ", "));
}

}  // namespace assay
