#include "assay/timing/bound_advice.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/operation_name.h"
#include "assay/record/coarse.h"

namespace assay::sweep {
namespace {

std::string text_of(const Problem& problem, std::string_view attribute) {
  const auto found = problem.attributes().find(attribute);
  const std::string* text =
      found == problem.attributes().end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? std::string() : *text;
}

}  // namespace

std::string bound_advice(const Problem& problem) {
  const Operand* out = problem.find_operand("out");
  const auto accumulate = parse_dtype(text_of(problem, "accumulate"));
  const bool rounds_less = out != nullptr && accumulate && info(out->dtype).floating &&
                           info(out->dtype).significand_bits < info(*accumulate).significand_bits;
  // A kernel that rounds after each step is honest, and no promise of norms is what it lacks.
  if (text_of(problem, "epilogue").empty() || !rounds_less) return normwise_advice();
  return fmt::format(
      "; does it round to {0} between steps? A kernel may round the sum to {0} once, ahead of the "
      "steps, and the output at the end; what lies between two steps stays in {1}",
      to_string(out->dtype), to_string(*accumulate));
}

std::string cancelling_advice(const Problem& problem, const Check& check,
                              std::optional<InputKind> kind) {
  // In what is allowed. A wrong formula is mostly further away.
  constexpr double kFurthest = 1000;
  if (!is_defined_by_user(problem.operation()) || !(check.max_error <= kFurthest)) return {};
  if (kind && *kind != InputKind::needle && *kind != InputKind::wide_range) return {};
  if (!kind) {
    const auto operation = find_operation(problem.operation());
    if (!operation) return {};
    const auto kinds = (*operation)->useful_kinds(problem);
    if (std::ranges::find(kinds, InputKind::needle) == kinds.end()) return {};
  }
  return fmt::format(
      "; {} single elements are large: if large terms cancel, an honest kernel may be outside of "
      "the tolerance by rounding. Then list other kinds under `inputs` of the definition, without "
      "{}",
      kind ? "there" : "in about every other timed launch",
      to_string(kind.value_or(InputKind::needle)));
}

}  // namespace assay::sweep
