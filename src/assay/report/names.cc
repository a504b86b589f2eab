#include "assay/report/names.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/report/width.h"

namespace assay::report {
namespace {

constexpr int kShort = 24;

std::vector<std::string_view> words_of(const KernelOutcome& kernel) {
  return split(kernel.name, '_');
}

// Others whose names have the same first word and as many words.
std::vector<std::vector<std::string_view>> others_of(const ProblemRecord& problem,
                                                     const KernelOutcome& kernel) {
  std::vector<std::vector<std::string_view>> others;
  const std::vector<std::string_view> own = words_of(kernel);
  for (const KernelOutcome& other : problem.kernels) {
    if (other.provider != kernel.provider || other.id == kernel.id) continue;
    std::vector<std::string_view> words = words_of(other);
    if (words.size() == own.size() && words.front() == own.front())
      others.push_back(std::move(words));
  }
  return others;
}

std::string with_bound(const KernelOutcome& kernel, std::string name) {
  name = sanitize(name, 240);
  return kernel.is_normwise() ? name + " (normwise)" : name;
}

}  // namespace

std::string full_name(const KernelOutcome& kernel) { return with_bound(kernel, kernel.label()); }

std::string short_name(const ProblemRecord& problem, const KernelOutcome& kernel) {
  const auto others = others_of(problem, kernel);
  if (display_width(kernel.label()) <= kShort || others.empty()) return full_name(kernel);
  const std::vector<std::string_view> words = words_of(kernel);
  std::string differs;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool alike =
        std::ranges::all_of(others, [&](const auto& other) { return other[i] == words[i]; });
    if (alike) continue;
    differs += differs.empty() ? "" : "_";
    differs += words[i];
  }
  // Dots, as where a cell is cut: what is left out can be seen to be.
  return with_bound(kernel, fmt::format("{}/{}..{}", kernel.provider, words.front(), differs));
}

}  // namespace assay::report
