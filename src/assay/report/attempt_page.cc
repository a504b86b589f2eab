#include "assay/report/attempt_page.h"

#include <array>

#include <fmt/format.h>

#include "assay/report/document.h"
#include "assay/report/page_files.h"

namespace assay::report {
namespace {

Section standing_section(const AttemptPage& page) {
  Section section{"standing", "Where it stands", {}};
  section.blocks.emplace_back().sentences = page.standing;
  return section;
}

Section attempts_section(const AttemptPage& page) {
  Section section{"attempts", "Attempts", {}};
  Table table;
  table.columns = {{"#", Align::right}, {"outcome"}, {"value", Align::right},
                   {"claim"},           {"family"},  {"what was changed"}};
  for (auto one = page.attempts.rbegin(); one != page.attempts.rend(); ++one)
    table.rows.push_back({{{std::to_string(one->seq)},
                           {one->outcome, one->tone},
                           {one->value.empty() ? "-" : one->value},
                           {one->claim},
                           {one->family},
                           {one->description}},
                          "",
                          {}});
  section.blocks.emplace_back().table = std::move(table);
  return section;
}

Section changes_section(const AttemptPage& page) {
  Section section{"changes", "Changes", {}};
  for (auto one = page.attempts.rbegin(); one != page.attempts.rend(); ++one) {
    if (one->patch.empty() && one->reason.empty() && one->hypothesis.empty()) continue;
    Block& block = section.blocks.emplace_back();
    block.title = fmt::format("{} {}: {}", one->seq, one->outcome, one->description);
    block.folded = true;
    if (!one->hypothesis.empty()) block.sentences.push_back("Expected: " + one->hypothesis);
    if (!one->reason.empty()) block.sentences.push_back("Came to: " + one->reason);
    block.code = one->patch;
  }
  return section;
}

std::string link(const Section& section) {
  return fmt::format("<a href=\"#{}\">{}</a>\n", section.id, html_text(section.title));
}

}  // namespace

std::string attempt_html(const AttemptPage& page) {
  const std::array<Section, 3> sections = {standing_section(page), attempts_section(page),
                                           changes_section(page)};
  std::string contents = "<a href=\"#plot\">Plot</a>\n";
  for (const Section& section : sections) contents += link(section);
  const std::string main = "<section id=\"plot\">\n<h2>Plot</h2>\n<div class=\"scroll\">\n" +
                           attempt_svg(page.plot) + "</div>\n</section>\n" + html(sections);
  const std::string title = html_text("assay lab: " + page.plot.title);
  const std::string about = html_text(page.plot.metric);
  return fill(page_file("page.html"), std::array<Slot, 8>{{{"title", title},
                                                           {"style", page_file("page.css")},
                                                           {"about", about},
                                                           {"tiles", ""},
                                                           {"contents", contents},
                                                           {"main", main},
                                                           {"record", "the attempts' records"},
                                                           {"again", kAgain}}});
}

}  // namespace assay::report
