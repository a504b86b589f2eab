#include "assay/report/document.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/text.h"

namespace assay::report {
namespace {

constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kLongestCode = std::size_t{1} << 20;

// Longer than any run of backticks in `code`, so that nothing in it ends the block.
std::string fence_of(std::string_view code) {
  std::size_t longest = 2, run = 0;
  for (const char c : code) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(longest + 1, '`');
}

std::string code_text(const std::string& code) {
  return std::string(trim(sanitize(code, kLongestCode, Newlines::keep)));
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string classes(Align align, Tone tone) {
  std::string names = align == Align::right ? "num" : "";
  if (const std::string_view of_tone = css_class(tone); !of_tone.empty()) {
    if (!names.empty()) names += ' ';
    names += of_tone;
  }
  return names.empty() ? names : fmt::format(" class=\"{}\"", names);
}

// Each cell repeats its column's title: on a narrow screen a row becomes a list of them.
std::string html_table(const Table& table) {
  std::string out = "<table>\n<thead><tr>";
  for (const Column& column : table.columns) {
    out += fmt::format("<th scope=\"col\"{}>{}</th>", classes(column.align, Tone::plain),
                       html_text(column.title));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const Table::Row& row : table.rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const Cell cell = i < row.cells.size() ? row.cells[i] : Cell{};
      out += fmt::format("<td data-label=\"{}\"{}>{}</td>", html_text(table.columns[i].title),
                         classes(table.columns[i].align, cell.tone), html_breakable(cell.text));
    }
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table>\n";
}

std::string html_block(const Block& block) {
  std::string out;
  if (block.folded) {
    out += fmt::format("<details>\n<summary>{}</summary>\n", html_text(block.title));
  } else if (!block.title.empty()) {
    out += fmt::format("<h3>{}</h3>\n", html_text(block.title));
  }
  if (block.table) out += "<div class=\"scroll\">\n" + html_table(*block.table) + "</div>\n";
  if (!block.sentences.empty()) {
    out += "<ul>\n";
    for (const std::string& sentence : block.sentences)
      out += fmt::format("<li>{}</li>\n", html_breakable(sentence));
    out += "</ul>\n";
  }
  if (!block.code.empty())
    out += fmt::format("<pre>{}</pre>\n", escape_html(code_text(block.code)));
  return out + (block.folded ? "</details>\n" : "");
}

std::string markdown_block(const Block& block) {
  std::string out;
  if (!block.title.empty()) out += fmt::format("### {}\n\n", markdown_text(block.title));
  if (block.table) out += markdown_table(*block.table) + '\n';
  for (const std::string& sentence : block.sentences)
    out += fmt::format("- {}\n", markdown_text(sentence));
  if (!block.sentences.empty()) out += '\n';
  if (!block.code.empty()) {
    const std::string code = code_text(block.code);
    const std::string fence = fence_of(code);
    out += fmt::format("{}\n{}\n{}\n\n", fence, code, fence);
  }
  return out;
}

}  // namespace

std::string html_text(std::string_view text) { return escape_html(sanitize(text, kLongestText)); }

std::string html_breakable(std::string_view text) {
  constexpr std::size_t kLongRun = 16;
  std::string out;
  std::size_t run = 0;  // Characters since the last place for a break.
  const std::string escaped = html_text(text);
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    const char c = escaped[i];
    out += c;
    // An entity counts as one character, and so do the bytes of one code point.
    if (c == '&')
      while (escaped[i] != ';') out += escaped[++i];
    const auto next = i + 1 < escaped.size() ? static_cast<unsigned char>(escaped[i + 1]) : 0;
    run = c == ' ' ? 0 : run + 1;
    const bool within_character = (next & 0xC0) == 0x80;
    if (next == 0 || within_character || (c != '/' && c != '_' && run < kLongRun)) continue;
    out += "<wbr/>";
    run = 0;
  }
  return out;
}

std::string_view css_class(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::good:
      return "good";
    case Tone::bad:
      return "bad";
    case Tone::caution:
      return "caution";
    case Tone::dim:
      return "dim";
  }
  return "";
}

std::string markdown(std::span<const Section> sections) {
  std::string out;
  for (const Section& section : sections) {
    out += fmt::format("## {}\n\n", markdown_text(section.title));
    for (const Block& block : section.blocks) out += markdown_block(block);
  }
  return out;
}

std::string html(std::span<const Section> sections) {
  std::string out;
  for (const Section& section : sections) {
    out += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", html_text(section.id),
                       html_text(section.title));
    for (const Block& block : section.blocks) out += html_block(block);
    out += "</section>\n";
  }
  return out;
}

std::string fill(std::string_view page, std::span<const Slot> slots) {
  std::string out;
  for (;;) {
    const std::size_t open = page.find("{{");
    const std::size_t close = open == std::string_view::npos ? open : page.find("}}", open);
    out += page.substr(0, close == std::string_view::npos ? page.size() : open);
    if (close == std::string_view::npos) return out;
    const std::string_view name = page.substr(open + 2, close - open - 2);
    const auto slot = std::ranges::find(slots, name, &Slot::name);
    if (slot != slots.end()) out += slot->value;
    page.remove_prefix(close + 2);
  }
}

}  // namespace assay::report
