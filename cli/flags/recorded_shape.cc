#include "cli/flags/recorded_shape.h"

#include <set>
#include <string>

#include "assay/base/text.h"
#include "assay/input/shape_flag.h"
#include "assay/tensor/dtype.h"

namespace assay::cli {
namespace {

constexpr std::string_view kDtype = "dtype";

std::set<std::string, std::less<>> named_fields(std::string_view text) {
  std::set<std::string, std::less<>> names;
  for (const std::string_view pair : split(text, ','))
    names.emplace(trim(pair.substr(0, pair.find('='))));
  return names;
}

bool has_fields(const Json& recorded, const Json& asked,
                const std::set<std::string, std::less<>>& named) {
  for (const auto& [field, value] : asked.items()) {
    const bool is_type = value.is_string() && parse_dtype(value.get<std::string>());
    if (!named.contains(field) && !(is_type && named.contains(kDtype))) continue;
    const auto there = recorded.find(field);
    if (there == recorded.end() || *there != value) return false;
  }
  return true;
}

}  // namespace

std::vector<const ProblemRecord*> find_shape(const RunRecord& record, std::string_view text) {
  if (const ProblemRecord* const named = record.find(text)) return {named};
  std::vector<const ProblemRecord*> found;
  const auto shapes = input::parse_shape_flag(text);
  if (!shapes) return found;
  const auto named = named_fields(text);
  for (const ProblemRecord& problem : record.problems)
    for (const Problem& shape : *shapes)
      if (problem.operation == shape.operation() &&
          has_fields(problem.problem, shape.to_json(), named)) {
        found.push_back(&problem);
        break;
      }
  return found;
}

}  // namespace assay::cli
