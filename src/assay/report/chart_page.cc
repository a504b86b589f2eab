#include "assay/report/chart_page.h"

#include <array>

#include <fmt/format.h>

#include "assay/report/page_files.h"

namespace assay::report {
namespace {

std::string link(std::string_view id, std::string_view title) {
  return fmt::format("<a href=\"#{}\">{}</a>\n", html_text(id), html_text(title));
}

}  // namespace

std::string chart_page_html(const ChartPage& page) {
  std::string tiles, contents, charts;
  for (const auto& [figure, name] : page.tiles)
    tiles += fmt::format("<li><b>{}</b> {}</li>\n", html_text(figure), html_text(name));
  for (const Section& section : page.sections) contents += link(section.id, section.title);
  for (const Chart& chart : page.charts) {
    if (!chart.is_empty()) contents += link(chart.id, chart.title);
    charts += chart_html(chart);
  }
  const std::string title = html_text(page.title), about = html_text(page.about);
  const std::string main = html(page.sections) + charts;
  const std::string record = html_text(page.record);
  const std::string again = page.again.empty()
                                ? ""
                                : fmt::format("; <code>{}</code> makes them again from its samples",
                                              html_text(page.again));
  return fill(page_file("page.html"), std::array<Slot, 8>{{{"title", title},
                                                           {"style", page_file("page.css")},
                                                           {"about", about},
                                                           {"tiles", tiles},
                                                           {"contents", contents},
                                                           {"main", main},
                                                           {"record", record},
                                                           {"again", again}}});
}

}  // namespace assay::report
