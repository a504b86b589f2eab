#include "assay/device/target.h"

#include <algorithm>
#include <vector>

#include "assay/base/text.h"

namespace assay {

Result<Target> Target::parse(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return fail(ErrorCode::invalid_input,
                "target '{}' {}; write an architecture and features, such as x86_64+avx2+fma",
                sanitize(text, 200), why);
  };
  if (text.empty()) return wrong("is empty");
  const std::vector<std::string_view> parts = split(text, '+');
  if (!parts[0].empty() && !matches_name_rule(parts[0])) return wrong("has a strange architecture");
  Target target;
  target.arch = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    if (!matches_name_rule(parts[i])) return wrong("has an empty or strange feature");
    target.features.emplace(parts[i]);
  }
  return target;
}

std::string Target::to_string() const {
  std::string text = arch;
  for (const std::string& feature : features) text += "+" + feature;
  return text;
}

bool Target::covers(const Target& requirement) const {
  if (!requirement.arch.empty() && requirement.arch != arch) return false;
  return std::includes(features.begin(), features.end(), requirement.features.begin(),
                       requirement.features.end());
}

}  // namespace assay
