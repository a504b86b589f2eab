#pragma once

// Curves, dots and spans over two linear axes, as HTML that scales with its page and needs no
// script.

#include <string>
#include <utility>
#include <vector>

namespace assay::report {

enum class Ink { first, second, third, dim, bad };  // Colours of page.css.

struct ChartSeries {
  std::string name;  // In the legend; empty: not there.
  Ink ink = Ink::first;
  enum class Shape { line, dots, spans } shape = Shape::line;
  std::vector<std::pair<double, double>> points;  // Of spans: (begin, end) ...
  std::vector<double> heights;                    // ... each at its height.
  std::vector<std::string> notes;                 // Of dots: what each stands for; may be empty.
};

struct Chart {
  std::string id, title;    // id: [a-z]+.
  std::string sentence;     // What is to be seen in it; may be empty.
  std::string x, y;         // What the axes count.
  bool y_from_top = false;  // The first row is the highest.
  std::vector<ChartSeries> series;

  bool is_empty() const;
};

// A section of a page; empty if there is nothing to draw.
std::string chart_html(const Chart& chart);

}  // namespace assay::report
