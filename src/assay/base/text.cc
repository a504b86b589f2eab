#include "assay/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "assay/base/utf8.h"

namespace assay {
namespace {

constexpr std::size_t kMaxGuessLength = 64;  // Longer words are no typing errors.

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Insertions, deletions, substitutions and swaps of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::array<std::array<std::size_t, kMaxGuessLength + 1>, 3> rows;
  std::iota(rows[0].begin(), rows[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    const auto& two_above = rows[(i + 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], two_above[j - 2] + 1);
      }
    }
  }
  return rows[a.size() % 3][b.size()];
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

template <class String>
std::string nearest_of(std::string_view word, std::span<const String> known) {
  if (word.empty() || word.size() > kMaxGuessLength) return {};
  std::string_view best;
  std::size_t best_distance = 3;
  std::string_view longer;
  for (std::string_view name : known) {
    if (name.size() > kMaxGuessLength) continue;
    if (starts_with_ignoring_case(name, word) && (longer.empty() || name.size() < longer.size())) {
      longer = name;
    }
    const std::size_t gap = std::max(name.size(), word.size()) - std::min(name.size(), word.size());
    if (gap > 2) continue;
    const std::size_t distance = edit_distance(word, name);
    const bool is_near = 2 * distance < word.size() ||
                         (2 * distance == word.size() && lower(word[0]) == lower(name[0]));
    if (distance < best_distance && is_near) {
      best = name;
      best_distance = distance;
    }
  }
  return std::string(best.empty() ? longer : best);
}

template <class String>
std::string did_you_mean_of(std::string_view word, std::span<const String> known) {
  const std::string name = nearest_of(word, known);
  // What is known may be keys of a user's file.
  return name.empty() ? std::string() : fmt::format("; did you mean '{}'?", sanitize(name, 200));
}

bool needs_next_unit(double value) { return value >= 999.5; }

std::string three_digits(double value) {
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

// Characters that a terminal acts upon, or that change how their neighbours look.
bool is_deceptive(char32_t point) {
  return (point >= 0x80 && point <= 0x9F) ||      // C1 controls
         (point >= 0x200B && point <= 0x200F) ||  // zero width, direction marks
         (point >= 0x2028 && point <= 0x202E) ||  // line separators, direction overrides
         (point >= 0x2060 && point <= 0x206F) ||  // invisible operators, direction isolates
         point == 0xFEFF || (point >= 0xE0000 && point <= 0xE007F);  // byte order mark, tags
}

std::string visible(char32_t point) {
  switch (point) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  if (point < 0x20 || point == 0x7F) return fmt::format("\\x{:02x}", static_cast<unsigned>(point));
  return fmt::format("\\u{{{:x}}}", static_cast<unsigned>(point));
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> known) {
  return nearest_of(word, known);
}
std::string nearest(std::string_view word, std::span<const std::string_view> known) {
  return nearest_of(word, known);
}
std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  return did_you_mean_of(word, known);
}
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  return did_you_mean_of(word, known);
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds)) return fmt::format("{} s", seconds);
  if (seconds < 0) return "-" + format_duration(-seconds);
  if (seconds == 0) return "0 s";
  if (seconds < 59.95) {
    double value = seconds * 1e9;
    static constexpr std::array<std::string_view, 4> kUnits = {"ns", "us", "ms", "s"};
    std::size_t unit = 0;
    while (unit + 1 < kUnits.size() && needs_next_unit(value)) {
      value /= 1000;
      ++unit;
    }
    return fmt::format("{} {}", three_digits(value), kUnits[unit]);
  }
  if (seconds > 1e15) return fmt::format("{:.3g} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
  return fmt::format("{}d{:02}h", whole / 86400, whole % 86400 / 3600);
}

std::string format_si(double value, std::string_view unit) {
  if (!std::isfinite(value) || value == 0) return fmt::format("{} {}", value, unit);
  if (value < 0) return "-" + format_si(-value, unit);
  static constexpr std::array<std::string_view, 10> kPrefixes = {"p", "n", "u", "m", "",
                                                                 "k", "M", "G", "T", "P"};
  double scaled = value * 1e12;
  std::size_t prefix = 0;
  while (prefix + 1 < kPrefixes.size() && needs_next_unit(scaled)) {
    scaled /= 1000;
    ++prefix;
  }
  if (needs_next_unit(scaled) || scaled < 0.01) return fmt::format("{:.3g} {}", value, unit);
  return fmt::format("{} {}{}", three_digits(scaled), kPrefixes[prefix], unit);
}

std::string format_bytes(double bytes) {
  if (!std::isfinite(bytes)) return fmt::format("{} B", bytes);
  if (bytes < 0) return "-" + format_bytes(-bytes);
  if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
  static constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB",
                                                             "TiB", "PiB", "EiB"};
  double value = bytes / 1024;
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && value >= 1023.5) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", three_digits(value), kUnits[unit]);
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  for (std::size_t at; (at = text.find(separator, start)) != std::string_view::npos;
       start = at + 1) {
    parts.push_back(text.substr(start, at - start));
  }
  parts.push_back(text.substr(start));
  return parts;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

bool matches_name_rule(std::string_view name) {
  if (name.empty() || name.size() > 200 || name == "." || name == "..") return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  });
}

std::string sanitize(std::string_view text, std::size_t max_bytes, Newlines newlines) {
  constexpr std::string_view kCut = "...";
  std::string out;
  std::size_t cut_at = 0;  // Up to here it fits together with the mark of the cut.
  while (!text.empty()) {
    char32_t point = 0;
    const std::size_t size = decode_utf8(text, point);
    const bool kept_blank = newlines == Newlines::keep && (point == '\n' || point == '\t');
    if (size == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (!kept_blank && (point < 0x20 || point == 0x7F || is_deceptive(point))) {
      out += visible(point);
    } else {
      out += text.substr(0, size);
    }
    if (out.size() > max_bytes) {
      out.resize(cut_at);
      out += kCut;
      return out;
    }
    if (out.size() + kCut.size() <= max_bytes) cut_at = out.size();
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

}  // namespace assay
