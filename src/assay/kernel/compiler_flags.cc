#include "assay/kernel/compiler_flags.h"

#include <algorithm>

#include "assay/base/text.h"

namespace assay {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kNames =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
constexpr std::string_view kWords =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";

bool is_of(std::string_view value, std::string_view letters) {
  return !value.empty() && value.find_first_not_of(letters) == std::string_view::npos;
}

}  // namespace

Status check_flag(std::string_view flag, std::span<const AllowedFlag> allowed,
                  std::string_view what) {
  // Whoever is handed the flag sees it end at a zero byte: -I alone takes the next one.
  const bool ends_early = flag.find('\0') != std::string_view::npos;
  for (const AllowedFlag& one : allowed)
    if (!ends_early && flag.starts_with(one.start) && one.takes(flag.substr(one.start.size())))
      return {};
  return fail(ErrorCode::invalid_input,
              "'{}' is none that a file may hand to its compiler; remove it. Allowed are {}",
              sanitize(flag, 100), what);
}

namespace flag_value {

bool nothing(std::string_view value) { return value.empty(); }
bool truth(std::string_view value) { return value == "true" || value == "false"; }
bool number(std::string_view value) { return is_of(value, kDigits); }
bool word(std::string_view value) { return is_of(value, kWords); }
bool name(std::string_view value) {
  return is_of(value, kNames) && kDigits.find(value.front()) == std::string_view::npos;
}
bool numbers(std::string_view value) { return std::ranges::all_of(split(value, ','), &number); }
bool definition(std::string_view value) { return name(value.substr(0, value.find('='))); }
bool folder(std::string_view value) { return !value.empty() && value.front() != '-'; }

}  // namespace flag_value
}  // namespace assay
