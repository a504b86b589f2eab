#include "assay/report/width.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace assay::report {
namespace {

struct Range {
  std::uint32_t first, last;
};

// Unicode 15: East Asian Width W and F, by block; emoji presentation included.
constexpr std::array<Range, 13> kWide = {{{0x1100, 0x115F},
                                          {0x2E80, 0x303E},
                                          {0x3041, 0x33FF},
                                          {0x3400, 0x4DBF},
                                          {0x4E00, 0x9FFF},
                                          {0xA000, 0xA4CF},
                                          {0xAC00, 0xD7A3},
                                          {0xF900, 0xFAFF},
                                          {0xFE30, 0xFE6F},
                                          {0xFF00, 0xFF60},
                                          {0xFFE0, 0xFFE6},
                                          {0x1F300, 0x1FAFF},
                                          {0x20000, 0x3FFFD}}};

// Combining marks, joiners and variation selectors.
constexpr std::array<Range, 8> kNone = {{{0x0300, 0x036F},
                                         {0x0483, 0x0489},
                                         {0x1AB0, 0x1AFF},
                                         {0x1DC0, 0x1DFF},
                                         {0x200B, 0x200F},
                                         {0x20D0, 0x20FF},
                                         {0xFE00, 0xFE0F},
                                         {0xFE20, 0xFE2F}}};

template <std::size_t N>
bool holds(const std::array<Range, N>& ranges, std::uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& range) { return code >= range.first && code <= range.last; });
}

struct Glyph {
  std::string_view bytes;
  int width = 1;
};

// The next code point; a byte that starts none stands for itself.
Glyph next_glyph(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80           ? 1
                             : (lead >> 5) == 0x6  ? 2
                             : (lead >> 4) == 0xE  ? 3
                             : (lead >> 3) == 0x1E ? 4
                                                   : 1;
  if (length == 1 || text.size() < length) return {text.substr(0, 1), 1};
  std::uint32_t code = lead & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {text.substr(0, 1), 1};
    code = (code << 6) | (byte(i) & 0x3Fu);
  }
  return {text.substr(0, length), holds(kNone, code) ? 0 : holds(kWide, code) ? 2 : 1};
}

std::vector<Glyph> glyphs_of(std::string_view text) {
  std::vector<Glyph> glyphs;
  while (!text.empty()) {
    glyphs.push_back(next_glyph(text));
    text.remove_prefix(glyphs.back().bytes.size());
  }
  return glyphs;
}

// As many leading (or trailing) glyphs as fit.
template <class Iterator>
std::vector<std::string_view> take(Iterator begin, Iterator end, int width) {
  std::vector<std::string_view> taken;
  for (; begin != end; ++begin) {
    if (begin->width > width) break;
    width -= begin->width;
    taken.push_back(begin->bytes);
  }
  return taken;
}

}  // namespace

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Glyph glyph = next_glyph(text);
    width += glyph.width;
    text.remove_prefix(glyph.bytes.size());
  }
  return width;
}

std::string fit(std::string_view text, int width, Elide elide) {
  if (display_width(text) <= width) return std::string(text);
  constexpr std::string_view kDots = "..";
  if (width <= 2) return std::string(kDots.substr(0, static_cast<std::size_t>(std::max(width, 0))));
  const std::vector<Glyph> glyphs = glyphs_of(text);
  const int room = width - 2;
  const int tail = elide == Elide::middle ? room / 2 : 0;
  std::string out;
  for (const std::string_view bytes : take(glyphs.begin(), glyphs.end(), room - tail)) out += bytes;
  out += kDots;
  const auto last = take(glyphs.rbegin(), glyphs.rend(), tail);
  for (auto it = last.rbegin(); it != last.rend(); ++it) out += *it;
  return out;
}

std::size_t fit_bytes(std::string_view text, int width) {
  const std::vector<Glyph> glyphs = glyphs_of(text);
  std::size_t bytes = 0;
  for (const std::string_view glyph : take(glyphs.begin(), glyphs.end(), width))
    bytes += glyph.size();
  return bytes > 0 || glyphs.empty() ? bytes : glyphs.front().bytes.size();
}

std::string pad(std::string_view text, int width, Align align) {
  const int missing = width - display_width(text);
  if (missing <= 0) return std::string(text);
  const std::string spaces(static_cast<std::size_t>(missing), ' ');
  return align == Align::left ? std::string(text) + spaces : spaces + std::string(text);
}

std::string wrap(std::string_view text, int width, int indent) {
  std::string out;
  int column = 0;
  bool line_is_empty = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const int word_width = display_width(word);
    if (!line_is_empty && column + 1 + word_width > width) {
      // Spaces that stood before the break fall away with it.
      while (!out.empty() && out.back() == ' ') out.pop_back();
      out += '\n' + std::string(static_cast<std::size_t>(indent), ' ');
      column = indent;
      line_is_empty = true;
      if (word.empty()) continue;
    }
    if (!line_is_empty) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word_width;
    line_is_empty = false;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out + '\n';
}

}  // namespace assay::report
