#include "assay/text/blanks.h"

#include <algorithm>
#include <array>

namespace assay::text {
namespace {

using namespace std::string_view_literals;

constexpr std::array kBlanks = {"\t"sv,           "\n"sv,           "\v"sv,
                                "\f"sv,           "\r"sv,           " "sv,
                                "\xc2\x85"sv,     "\xc2\xa0"sv,     "\xe1\x9a\x80"sv,
                                "\xe2\x80\x80"sv, "\xe2\x80\x81"sv, "\xe2\x80\x82"sv,
                                "\xe2\x80\x83"sv, "\xe2\x80\x84"sv, "\xe2\x80\x85"sv,
                                "\xe2\x80\x86"sv, "\xe2\x80\x87"sv, "\xe2\x80\x88"sv,
                                "\xe2\x80\x89"sv, "\xe2\x80\x8a"sv, "\xe2\x80\xa8"sv,
                                "\xe2\x80\xa9"sv, "\xe2\x80\xaf"sv, "\xe2\x81\x9f"sv,
                                "\xe3\x80\x80"sv};

}  // namespace

std::size_t blanks_at_begin(std::string_view text) {
  std::size_t used = 0;
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view blank : kBlanks)
      if (text.substr(used).starts_with(blank)) {
        used += blank.size();
        found = true;
        break;
      }
  }
  return used;
}

std::size_t blanks_at_end(std::string_view text) {
  std::size_t used = 0;
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view blank : kBlanks)
      if (text.substr(0, text.size() - used).ends_with(blank)) {
        used += blank.size();
        found = true;
        break;
      }
  }
  return used;
}

}  // namespace assay::text
