#include "assay/select/table_contents.h"

#include <algorithm>

namespace assay {

bool TableContents::add(const Problem& problem, std::vector<TableChoice> choices) {
  std::string text = kind_of(problem);
  auto kind = std::find_if(kinds.begin(), kinds.end(),
                           [&](const TableKind& known) { return known.text == text; });
  TableProblem entry{.name = problem.name(),
                     .kind = static_cast<uint32_t>(kind - kinds.begin()),
                     .alignments = alignments_of(problem),
                     .signature = problem.digest(),
                     .measures = {},
                     .choices = std::move(choices)};
  const Measures measures = measures_of(problem);
  entry.measures.assign(measures.span().begin(), measures.span().end());
  const auto same = [&](const TableProblem& other) {
    return other.kind == entry.kind && other.measures == entry.measures;
  };
  if (std::any_of(problems.begin(), problems.end(), same)) return false;
  if (kind == kinds.end()) {
    TableKind& made = kinds.emplace_back();
    made.text = std::move(text);
    for (const auto& [name, size] : problem.dimensions()) {
      made.dimensions.push_back(name);
      made.weights.push_back(name == "m" ? kWeightOfRows : kWeight);
    }
    made.measures = entry.measures.size();
  }
  problems.push_back(std::move(entry));
  return true;
}

}  // namespace assay
