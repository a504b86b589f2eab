#include "assay/op/operation.h"

#include <algorithm>
#include <array>

#include "assay/base/choices.h"
#include "assay/base/text.h"
#include "assay/op/definitions.h"
#include "assay/op/outputs.h"

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

Check Instance::check(std::span<const std::span<const std::byte>> outputs, const InputSeeds& seeds,
                      ErrorBound bound) const {
  const OutputPlaces places = OutputPlaces::of(problem());
  Check check;
  if (outputs.size() == places.places.size()) {
    check = do_check(outputs, seeds, bound);
    if (!check.first_wrong.empty() && check.operand.empty() && outputs.size() == 1)
      check.operand = problem().operands()[places.places.front().operand].role;
    return check;
  }
  check.wrong = 1;
  check.first_wrong = fmt::format("{} outputs instead of {}", outputs.size(), places.places.size());
  return check;
}

Check Instance::check(std::span<const std::byte> outputs, const InputSeeds& seeds,
                      ErrorBound bound) const {
  return check(
      std::span<const std::span<const std::byte>>(OutputPlaces::of(problem()).split(outputs)),
      seeds, bound);
}

std::string_view default_operation() {
  for (const Operation* operation : built_in_operations())
    if (operation->is_default()) return operation->name();
  return {};
}

Result<const Operation*> find_operation(std::string_view name) {
  std::vector<std::string> known;
  const size_t colon = name.find(':');
  for (const Operation* operation : built_in_operations()) {
    if (operation->name() == name) return operation;
    const Definitions* definitions = operation->definitions();
    if (definitions != nullptr && colon != std::string_view::npos &&
        operation->name() == name.substr(0, colon))
      return definitions->defined(name.substr(colon + 1));
    known.emplace_back(operation->name());
  }
  return fail(ErrorCode::not_found, "there is no operation '{}'{}", sanitize(name, 60),
              did_you_mean(name, known, "known: " + join(known, ", ")));
}

Status Operation::check_epilogue(std::string_view text) const {
  return fail(ErrorCode::invalid_input,
              "the epilogue '{}' has no reference, so no kernel could be proven right with it: {} "
              "has no epilogues",
              sanitize(text, 60), operation_title(name()));
}

Result<Problem> Operation::without_last_part(const Problem& problem) const {
  return fail(ErrorCode::unsupported, "{}: {} has no epilogues", problem.name(),
              operation_title(name()));
}

Result<std::shared_ptr<const LastPart>> Operation::last_part(const Problem& problem) const {
  return fail(ErrorCode::unsupported, "{}: {} has no epilogues", problem.name(),
              operation_title(name()));
}

std::vector<std::string> epilogue_steps(std::string_view epilogue) {
  std::vector<std::string> names;
  for (const std::string_view step : split(epilogue, '+'))
    if (!step.empty()) names.emplace_back(step.substr(0, step.find(':')));
  return names;
}

}  // namespace assay
