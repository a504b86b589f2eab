#include "assay/report/table.h"

#include <algorithm>

#include "assay/base/text.h"
#include "assay/record/csv.h"

namespace assay::report {
namespace {

constexpr int kGap = 2;

std::string_view colour_of(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::good:
      return "\x1b[32m";
    case Tone::bad:
      return "\x1b[31m";
    case Tone::caution:
      return "\x1b[33m";
    case Tone::dim:
      return "\x1b[2m";
  }
  return "";
}

int indent_of(const Table& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const Table::Row& row) { return !row.heading.empty(); })
             ? 2
             : 0;
}

std::vector<int> natural_widths(const Table& table) {
  std::vector<int> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    int width = display_width(table.columns[i].title);
    for (const Table::Row& row : table.rows) {
      if (i < row.cells.size()) width = std::max(width, display_width(row.cells[i].text));
    }
    widths.push_back(width);
  }
  return widths;
}

int total(const std::vector<int>& widths, int indent) {
  int sum = indent;
  for (const int width : widths) sum += width;
  return sum + kGap * std::max(static_cast<int>(widths.size()) - 1, 0);
}

void shrink(const Table& table, std::vector<int>& widths, int indent, int limit) {
  while (total(widths, indent) > limit) {
    int widest = -1;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const int floor = table.columns[i].shrinks_to;
      if (floor == 0 || widths[i] <= floor) continue;
      if (widest < 0 || widths[i] > widths[static_cast<std::size_t>(widest)]) {
        widest = static_cast<int>(i);
      }
    }
    if (widest < 0) return;  // A terminal this narrow breaks the lines itself.
    --widths[static_cast<std::size_t>(widest)];
  }
}

std::string without_trailing_spaces(std::string line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string heading_text(const Table::Row& row, const TextStyle& style) {
  if (row.claim.text.empty()) return fit(row.heading, style.width, Elide::middle) + '\n';
  std::string lines = wrap(row.heading + "  " + row.claim.text, style.width, 4);
  // After wrapping: colour must not count as width.
  const std::string word = row.claim.text.substr(0, row.claim.text.find(' '));
  const std::size_t at = lines.find(word, std::min(row.heading.size(), lines.size()));
  if (at != std::string::npos)
    lines.replace(at, word.size(), coloured(word, row.claim.tone, style));
  return lines;
}

// Pieces of at most `width` columns, cut behind separators of names where there are some.
std::vector<std::string> broken(std::string_view text, int width) {
  std::vector<std::string> pieces;
  while (display_width(text) > width && width > 0) {
    std::size_t bytes = fit_bytes(text, width);
    const std::size_t separator = text.substr(0, bytes).find_last_of("_/- ,");
    if (separator != std::string_view::npos && separator > 0) bytes = separator + 1;
    pieces.emplace_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  pieces.emplace_back(text);
  return pieces;
}

template <class Write>
std::string join_cells(const Table::Row& row, std::size_t columns, std::string_view separator,
                       const Write& write) {
  std::string out;
  for (std::size_t i = 0; i < columns; ++i) {
    if (i > 0) out += separator;
    if (i < row.cells.size()) out += write(row.cells[i].text);
  }
  return out;
}

Table::Row header_of(const Table& table) {
  Table::Row header;
  for (const Column& column : table.columns) header.cells.push_back({column.title, Tone::plain});
  return header;
}

}  // namespace

std::string coloured(std::string_view text, Tone tone, const TextStyle& style) {
  const std::string_view colour = colour_of(tone);
  if (!style.colour || colour.empty()) return std::string(text);
  return std::string(colour) + std::string(text) + "\x1b[0m";
}

std::string markdown_text(std::string_view text) {
  constexpr std::string_view kMarkup = "|\\`*_<&~";
  constexpr std::string_view kAtStart = "#+->";
  constexpr std::string_view kLinks = "([:";  // What makes a link of the brackets before it.
  const std::string safe = sanitize(text);
  std::string out;
  for (std::size_t i = 0; i < safe.size(); ++i) {
    const char next = i + 1 < safe.size() ? safe[i + 1] : '\0';
    const bool starts_block =
        i == 0 && kAtStart.find(safe[i]) != std::string_view::npos && (next == ' ' || next == '#');
    const bool ends_link = safe[i] == ']' && next != '\0' && kLinks.find(next) != kLinks.npos;
    if (starts_block || ends_link || kMarkup.find(safe[i]) != std::string_view::npos) out += '\\';
    out += safe[i];
  }
  return out;
}

int natural_width(const Table& table) { return total(natural_widths(table), indent_of(table)); }

std::string text_table(const Table& table, const TextStyle& style) {
  const int indent = indent_of(table);
  std::vector<int> widths = natural_widths(table);
  shrink(table, widths, indent, style.width);
  const auto line = [&](const Table::Row& row) {
    std::string out(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (i > 0) out += "  ";
      const Cell cell = i < row.cells.size() ? row.cells[i] : Cell{};
      const std::string text = fit(cell.text, widths[i], table.columns[i].elide);
      // Colour goes around the text and not the padding, so that widths and trimming stay right.
      const std::string padded = pad(text, widths[i], table.columns[i].align);
      const std::size_t start = text.empty() ? 0 : padded.find(text);
      out += padded.substr(0, start) +
             coloured(text, text.empty() ? Tone::plain : cell.tone, style) +
             padded.substr(start + text.size());
    }
    return without_trailing_spaces(std::move(out)) + '\n';
  };
  // As many lines as the longest cell of a column that may shrink takes.
  const auto wrapped = [&](const Table::Row& row) {
    std::vector<std::vector<std::string>> pieces;
    std::size_t lines = 1;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      pieces.push_back(broken(row.cells[i].text, widths[i]));
      lines = std::max(lines, pieces.back().size());
    }
    std::string out;
    for (std::size_t at = 0; at < lines; ++at) {
      Table::Row part;
      for (std::size_t i = 0; i < row.cells.size(); ++i)
        part.cells.push_back({at < pieces[i].size() ? pieces[i][at] : "", row.cells[i].tone});
      out += line(part);
    }
    return out;
  };
  std::string out = line(header_of(table));
  for (const Table::Row& row : table.rows) {
    if (!row.heading.empty()) out += heading_text(row, style);
    if (!row.cells.empty()) out += style.cuts ? line(row) : wrapped(row);
  }
  return out;
}

std::string markdown_table(const Table& table) {
  const std::size_t columns = table.columns.size();
  std::string out = "| " + join_cells(header_of(table), columns, " | ", markdown_text) + " |\n|";
  for (const Column& column : table.columns) out += column.align == Align::left ? "---|" : "---:|";
  out += '\n';
  for (const Table::Row& row : table.rows) {
    out += "| " + join_cells(row, columns, " | ", markdown_text) + " |\n";
  }
  return out;
}

std::string csv_table(const Table& table) {
  const std::size_t columns = table.columns.size();
  std::string out = join_cells(header_of(table), columns, ",", csv_cell) + "\r\n";
  for (const Table::Row& row : table.rows) {
    out += join_cells(row, columns, ",", csv_cell) + "\r\n";
  }
  return out;
}

}  // namespace assay::report
