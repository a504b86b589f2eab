#include "cli/dot_env.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "assay/base/text.h"
#include "cli/settings.h"

namespace assay::cli {
namespace {

// Ours, the names that from_environment() reads and the families that they are of. All else in a
// .env is other programs' business.
bool is_ours(std::string_view name) {
  return name.starts_with("ASSAY_") || name.starts_with("CUTLASS_") ||
         std::ranges::any_of(environment_variables(),
                             [&](const auto& variable) { return variable.name == name; });
}

std::string_view name_at_start(std::string_view entry) {
  const auto is_letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  const auto end = std::find_if_not(entry.begin(), entry.end(), is_letter);
  return entry.substr(0, static_cast<std::size_t>(end - entry.begin()));
}

// Without its quotes, behind which only a comment may stand; none where they are not closed.
std::optional<std::string_view> value_of(std::string_view text) {
  if (text.empty() || (text.front() != '"' && text.front() != '\'')) return text;
  const auto end = text.find(text.front(), 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view rest = trim(text.substr(end + 1));
  if (!rest.empty() && rest.front() != '#') return std::nullopt;
  return text.substr(1, end - 1);
}

// Where a value of others that begins on line `at` ends: one in quotes may take several lines. A
// quote that is never closed is no such value.
std::size_t last_line_of(const std::vector<std::string_view>& lines, std::size_t at,
                         std::string_view value) {
  if (value.empty() || (value.front() != '"' && value.front() != '\'') ||
      value.find(value.front(), 1) != std::string_view::npos)
    return at;
  for (std::size_t i = at + 1; i < lines.size(); ++i)
    if (lines[i].find(value.front()) != std::string_view::npos) return i;
  return at;
}

}  // namespace

Result<DotEnv> parse_dot_env(std::string_view text, std::string_view origin) {
  DotEnv values;
  const std::vector<std::string_view> lines = split(text, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view entry = trim(lines[i]);
    if (entry.starts_with("export ")) entry = trim(entry.substr(7));
    const std::string_view name = name_at_start(entry);
    const std::string_view rest = trim(entry.substr(name.size()));
    const bool assigns = rest.starts_with('=');
    const std::string_view given = assigns ? trim(rest.substr(1)) : std::string_view();
    if (!is_ours(name)) {
      i = last_line_of(lines, i, given);
      continue;
    }
    const auto value = value_of(given);
    if (!assigns || !value)
      return fail(ErrorCode::invalid_input, "{}:{}: {}: expected {}=value{}", origin, i + 1, name,
                  name, value ? "" : ", and a quote that is opened to be closed");
    values[std::string(name)] = {std::string(*value), static_cast<int>(i) + 1};
  }
  return values;
}

std::filesystem::path find_dot_env(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path start = fs::weakly_canonical(folder, error);
  fs::path border = start;
  while (border.has_relative_path() && !fs::exists(border / "lab.yaml", error) &&
         !fs::exists(border / ".git", error))
    border = border.parent_path();
  // In neither a lab nor a checkout: only the folder itself.
  if (!border.has_relative_path()) border = start;
  for (fs::path at = start;; at = at.parent_path()) {
    if (fs::is_regular_file(at / ".env", error)) return at / ".env";
    if (at == border || !at.has_relative_path()) return {};
  }
}

std::string dot_env_example() {
  std::string text =
      "# Copied to .env, these are read by assay in this folder and below. The environment wins "
      "over "
      "them.\n";
  for (const EnvironmentVariable& variable : environment_variables())
    text += fmt::format("\n# {}\n# {}=\n", variable.meaning, variable.name);
  return text;
}

}  // namespace assay::cli
