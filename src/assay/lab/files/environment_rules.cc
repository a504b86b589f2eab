#include "assay/lab/files/environment_rules.h"

#include <algorithm>
#include <array>

#include "assay/base/text.h"
#include "assay/lab/files/path_pattern.h"

namespace assay::lab {
namespace {

constexpr std::array<std::string_view, 5> kSecrets = {"KEY", "TOKEN", "SECRET", "PASSWORD",
                                                      "WEBHOOK"};
constexpr std::array<std::string_view, 6> kLoaders = {"LD_", "BASH_",         "ENV",
                                                      "IFS", "PYTHONSTARTUP", "ASSAY_"};

bool is_name(std::string_view name) {
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                  c == '_';
         });
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return out;
}

}  // namespace

Status check_variable(std::string_view name) {
  if (!is_name(name))
    return fail(ErrorCode::invalid_input, "'{}' is no name of a variable", sanitize(name, 80));
  const std::string letters = upper(name);
  for (const std::string_view secret : kSecrets)
    if (letters.find(secret) != std::string::npos)
      return fail(ErrorCode::invalid_input,
                  "{} looks like a secret's name ({}), and what is set here is kept in records",
                  sanitize(name, 80), secret);
  for (const std::string_view loader : kLoaders)
    if (letters == loader || (loader.ends_with('_') && letters.starts_with(loader)))
      return fail(ErrorCode::invalid_input,
                  "{} is not a case's to set: it changes what programs are, or is assay's own",
                  sanitize(name, 80));
  return {};
}

Result<Environment> parse_overrides(const std::vector<std::string>& words,
                                    const std::vector<std::string>& allowed) {
  Environment environment;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos)
      return fail(ErrorCode::invalid_input, "--env {}: expected NAME=VALUE", sanitize(word, 80));
    const std::string name = word.substr(0, equals);
    if (const Status status = check_variable(name); !status)
      return fail(with_context(status.error(), "--env"));
    if (std::ranges::none_of(allowed, [&](const auto& rule) { return matches(name, rule); }))
      return fail(ErrorCode::invalid_input,
                  "--env: case.yaml allows no {}; add it to env_allowed (now: {})",
                  sanitize(name, 80), allowed.empty() ? "nothing" : join(allowed, ", "));
    environment[name] = word.substr(equals + 1);
  }
  return environment;
}

}  // namespace assay::lab
