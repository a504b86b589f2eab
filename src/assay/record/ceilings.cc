#include "assay/record/ceilings.h"

#include <algorithm>
#include <string>

namespace assay {
namespace {

const Ceiling* named(std::span<const Ceiling> ceilings, const std::string& name) {
  const auto found = std::ranges::find(ceilings, name, &Ceiling::name);
  return found == ceilings.end() || !(found->value > 0) ? nullptr : &*found;
}

}  // namespace

const Ceiling* arithmetic_ceiling(std::span<const Ceiling> ceilings, std::string_view dtype) {
  const Ceiling* own = named(ceilings, "flops_" + std::string(dtype));
  const Ceiling* widened = named(ceilings, "flops_f32");
  if (own == nullptr || widened == nullptr) return own == nullptr ? widened : own;
  const bool widens = dtype == "f16" || dtype == "bf16";
  return widens && widened->value > own->value ? widened : own;
}

std::string first_input_type(const ProblemRecord& problem) {
  const std::string_view key = problem.key;
  const size_t word = std::min(key.find(' '), key.size());
  const size_t equals = key.find('=', word);
  if (equals == std::string_view::npos) return {};
  return std::string(key.substr(equals + 1, key.find(' ', equals) - equals - 1));
}

Roof roof_of(const ProblemRecord& problem, std::span<const Ceiling> ceilings) {
  const Ceiling* peak = arithmetic_ceiling(ceilings, first_input_type(problem));
  const Ceiling* read = problem.condition.cache == "warm" ? nullptr : named(ceilings, "read");
  Roof roof;
  if (peak != nullptr) roof = {peak->name, peak->value, problem.flops / peak->value};
  if (read != nullptr && problem.bytes / read->value >= roof.seconds)
    roof = {read->name, read->value, problem.bytes / read->value};
  return roof;
}

}  // namespace assay
