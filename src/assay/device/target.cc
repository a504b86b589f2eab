#include "assay/device/target.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include <fmt/format.h>

#include "assay/base/text.h"

namespace assay {
namespace {

// As uname says them.
constexpr std::string_view kProcessors[] = {"x86_64",  "i686",       "aarch64", "armv7l",
                                            "riscv64", "ppc64",      "ppc64le", "s390x",
                                            "mips64",  "loongarch64"};

// sm_90, sm_90a, sm_100f: a GPU's; else what a system calls its processor.
bool is_architecture(std::string_view name) {
  if (!name.starts_with("sm_"))
    return std::ranges::find(kProcessors, name) != std::end(kProcessors);
  std::string_view number = name.substr(3);
  if (number.ends_with('a') || number.ends_with('f')) number.remove_suffix(1);
  return number.size() >= 2 && number.size() <= 3 &&
         std::ranges::all_of(number, [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

Result<Target> Target::parse(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return fail(
        ErrorCode::invalid_input,
        "target '{}' {}; write an architecture and features, such as sm_90a or x86_64+avx2+fma",
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

Result<Target> Target::parse_known(std::string_view text) {
  ASSAY_TRY(Target target, parse(text));
  if (target.arch.empty() || is_architecture(target.arch)) return target;
  return fail(ErrorCode::invalid_input,
              "target '{}': there is no architecture '{}'; a GPU's is written as sm_90a, a "
              "processor's as {}",
              sanitize(text, 200), sanitize(target.arch, 100), fmt::join(kProcessors, ", "));
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
