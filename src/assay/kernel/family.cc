#include "assay/kernel/family.h"

#include <algorithm>

#include "assay/base/json.h"

namespace assay {

bool Query::admits(const ProblemRule& rule, int64_t rows) const {
  const Refusals refusals = rule.match(problem_, target_);
  if (refusals.empty()) {
    admitted_ += rows;
    return true;
  }
  refuse(refusals.front().reason, refusals.front().sentence, rows);
  return false;
}

void Query::refuse(Reason reason, std::string_view sentence, int64_t rows) const {
  if (refusals_) refusals_->add(reason, rows, sentence);
}

namespace {

Problem mask(const Problem& problem, std::span<const std::string> visible) {
  Problem::Parts parts;
  parts.operation = problem.operation();
  parts.layout = problem.layout();
  parts.attributes = problem.attributes();
  for (const auto& [name, size] : problem.dimensions()) {
    const bool shown = std::find(visible.begin(), visible.end(), name) != visible.end();
    parts.dimensions.emplace_back(name, shown ? size : 0);
  }
  for (const Operand& operand : problem.operands()) {
    Operand& masked = parts.operands.emplace_back(operand);
    std::fill(masked.sizes.begin(), masked.sizes.end(), 0);
    std::fill(masked.strides.begin(), masked.strides.end(), 0);
    masked.span_bytes = 0;
  }
  return Problem::from_parts(std::move(parts));
}

}  // namespace

MaskedProblem::MaskedProblem(const Problem& problem, std::span<const std::string> visible)
    : problem_(mask(problem, visible)) {}

Json MaskedProblem::key() const {
  Json operands = Json::array();
  for (const Operand& operand : problem_.operands()) {
    operands.push_back({{"role", operand.role},
                        {"dtype", to_string(operand.dtype)},
                        {"rank", operand.sizes.size()},
                        {"alignment", operand.alignment},
                        {"constant", operand.lifetime == Lifetime::constant},
                        {"access", static_cast<int>(operand.access)}});
  }
  Json dimensions = Json::object();
  for (const auto& [name, size] : problem_.dimensions()) {
    if (size != 0) dimensions[name] = size;
  }
  Json attributes = Json::object();
  for (const auto& [name, value] : problem_.attributes()) {
    attributes[name] = std::visit([](const auto& held) { return Json(held); }, value);
  }
  return {{"operation", problem_.operation()},
          {"layout", problem_.layout()},
          {"operands", operands},
          {"dimensions", dimensions},
          {"attributes", attributes}};
}

}  // namespace assay
