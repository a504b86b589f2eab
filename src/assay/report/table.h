#pragma once

// One table, three ways to write it.

#include <string>
#include <string_view>
#include <vector>

#include "assay/report/width.h"

namespace assay::report {

enum class Tone { plain, good, bad, caution, dim };

struct Cell {
  std::string text;
  Tone tone = Tone::plain;
};

struct Column {
  std::string title;
  Align align = Align::left;
  // A column that may be cut to this many columns where the table is too wide; 0: never.
  int shrinks_to = 0;
  Elide elide = Elide::end;
};

struct Table {
  std::vector<Column> columns;
  struct Row {
    std::vector<Cell> cells;
    // Shown on a line of its own above the row, in text alone; the claim in its tone behind it.
    std::string heading;
    Cell claim = {};
  };
  std::vector<Row> rows;
};

struct TextStyle {
  int width = 80;       // Columns of the terminal.
  bool colour = false;  // Only where the caller knows that it is wanted.
  // What is too wide is cut, as on a terminal; else it goes on below, where others read.
  bool cuts = true;
};

// What the table would take with every cell in full.
int natural_width(const Table& table);

// Two spaces between columns, no trailing spaces. Where it is too wide, the widest column that may
// shrink gives first.
std::string text_table(const Table& table, const TextStyle& style = {});

// `text` in the tone's colour, if colour is on.
std::string coloured(std::string_view text, Tone tone, const TextStyle& style);

std::string markdown_table(const Table& table);

// Text that markdown shows as it stands, markup of HTML included; on one line.
std::string markdown_text(std::string_view text);

// RFC 4180, with a header.
std::string csv_table(const Table& table);

}  // namespace assay::report
