#include "assay/worker/load_watch.h"

#include <algorithm>
#include <iterator>

namespace assay::sweep {

const std::vector<Finding>& LoadWatch::findings_of(const std::string& owner) const {
  static const std::vector<Finding> nothing;
  const auto found = found_.find(owner);
  return found == found_.end() ? nothing : found->second;
}

std::vector<Finding> LoadWatch::all() const {
  std::vector<Finding> findings;
  for (const auto& [owner, found] : found_) std::ranges::copy(found, std::back_inserter(findings));
  return findings;
}

void LoadWatch::add(const std::string& owner, std::vector<Finding> found) {
  for (Finding& finding : found) {
    auto& known = found_[owner];
    if (std::ranges::find(known, finding) == known.end()) known.push_back(std::move(finding));
  }
}

}  // namespace assay::sweep
