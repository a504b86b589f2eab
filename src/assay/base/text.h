#pragma once

// Small text: what is printed about names, numbers and untrusted bytes.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// The known word that `word` was probably meant to be: edit distance at most 2 (and less than half
// its length, or half of it if both begin alike), or else the shortest that starts with it. Empty
// if there is none. Case is ignored.
std::string nearest(std::string_view word, std::span<const std::string> known);
std::string nearest(std::string_view word, std::span<const std::string_view> known);
// "; did you mean 'x'?", or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

std::string format_duration(
    double seconds);  // "843 ns", "12.3 us", "4.56 ms", "7.89 s", "2m05s", "3h07m"
// Three significant digits and a decimal prefix: format_si(1.234e9, "FLOP/s") is "1.23 GFLOP/s".
std::string format_si(double value, std::string_view unit);
std::string format_bytes(double bytes);  // Powers of 1024: "1.50 MiB"

std::string_view trim(std::string_view text);  // Without spaces, tabs, CR and LF at both ends.
std::vector<std::string_view> split(std::string_view text,
                                    char separator);  // Empty parts are kept.
std::string join(std::span<const std::string> parts, std::string_view separator);

// [A-Za-z0-9_.-]+, at most 200 characters, and neither "." nor "..": safe as a file name.
bool matches_name_rule(std::string_view name);

// Untrusted text made safe for a terminal and for one line of a message: escapes, control
// characters (newlines as well, unless kept), bidirectional overrides and invalid UTF-8 become
// visible (\n, \x1b). Longer than max_bytes is cut, with "..." in its place.
enum class Newlines { escape, keep };
std::string sanitize(std::string_view text, std::size_t max_bytes = 4096,
                     Newlines newlines = Newlines::escape);

}  // namespace assay
