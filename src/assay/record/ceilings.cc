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

Roof roof_of(const ProblemRecord& problem, std::span<const Ceiling> ceilings) {
  const auto dtype = problem.problem.find("a");
  const bool known = dtype != problem.problem.end() && dtype->is_string();
  const Ceiling* peak = arithmetic_ceiling(ceilings, known ? dtype->get<std::string>() : "");
  const Ceiling* read = problem.condition.cache == "warm" ? nullptr : named(ceilings, "read");
  Roof roof;
  if (peak != nullptr) roof = {peak->name, peak->value, problem.flops / peak->value};
  if (read != nullptr && problem.bytes / read->value >= roof.seconds)
    roof = {read->name, read->value, problem.bytes / read->value};
  return roof;
}

}  // namespace assay
