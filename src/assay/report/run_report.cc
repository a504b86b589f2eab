#include "assay/report/run_report.h"

#include <array>

#include <fmt/format.h>

#include "assay/report/document.h"
#include "assay/report/page_files.h"
#include "assay/report/roofline.h"
#include "assay/report/run_sections.h"
#include "assay/report/speed_ups.h"
#include "assay/report/tunables.h"
#include "assay/report/words.h"

namespace assay::report {
namespace {

constexpr std::string_view kMarkdownStart = "# assay report: ";
constexpr std::string_view kPageMark = "<meta name=\"generator\" content=\"assay report\"/>";
constexpr std::string_view kCsvStart = "name,key,role,weight,";

std::string about(const RunRecord& record) {
  const int threads = record.options.threads;
  return fmt::format(
      "{} on {}, assay {}, {} thread{}, confidence {}",
      record.created.empty() ? "at an unknown time" : record.created,
      record.environment.device.name.empty() ? "an unknown device" : record.environment.device.name,
      record.assay_version.empty() ? "of an unknown version" : record.assay_version, threads,
      threads == 1 ? "" : "s", percent(record.options.confidence));
}

std::string tile(std::int64_t count, std::string_view what, Tone tone) {
  return fmt::format("<li><b class=\"{}\">{}</b> {}</li>\n", css_class(tone), thousands(count),
                     html_text(what));
}

// How the shapes ended, then the kernels.
std::string tiles(const RunRecord& record) {
  std::array<std::int64_t, 6> words{};
  std::int64_t without = 0;
  for (const ProblemRecord& problem : record.problems) {
    const PairVerdict* headline = problem.headline();
    if (headline == nullptr)
      ++without;
    else
      ++words[static_cast<std::size_t>(headline->verdict.word)];
  }
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto word = static_cast<stats::Word>(i);
    if (words[i] > 0) out += tile(words[i], stats::to_string(word), tone_of(word));
  }
  if (without > 0) out += tile(without, "without a verdict", Tone::dim);
  const Totals& totals = record.totals;
  out += tile(totals.proven, "kernels proven right", Tone::plain);
  if (totals.wrong > 0) out += tile(totals.wrong, "wrong", Tone::bad);
  if (totals.crashed > 0) out += tile(totals.crashed, "crashed", Tone::bad);
  if (totals.left_out > 0)
    out += tile(totals.left_out, "not compiled or not reached", Tone::caution);
  if (totals.refused > 0) out += tile(totals.refused, "refused", Tone::plain);
  return out;
}

std::string contents_link(std::string_view id, std::string_view title) {
  return fmt::format("<a href=\"#{}\">{}</a>\n", id, html_text(title));
}

}  // namespace

std::string run_markdown(const RunRecord& record, const RunReportOptions& options) {
  std::string out = fmt::format("{}{}\n\n{}.\n\n", kMarkdownStart, markdown_text(run_title(record)),
                                markdown_text(about(record)));
  out += markdown(run_sections(record, options.beside));
  if (!options.record_path.empty())
    out += fmt::format("Record: {}\n", markdown_text(options.record_path));
  return out;
}

std::string run_html(const RunRecord& record, const RunReportOptions& options) {
  const std::vector<Section> sections = run_sections(record, options.beside);
  const std::string title = html_text("assay: " + run_title(record));
  const std::string bars = speed_up_bars(record), roof = roofline(record);
  std::string contents;
  if (!bars.empty()) contents += contents_link("speedups", "Speed-ups");
  if (!roof.empty()) contents += contents_link("roofline", "Roofline");
  const std::string tunables = tunables_html(record);
  if (!tunables.empty()) contents += contents_link("tunables", "Tunables");
  for (const Section& section : sections) contents += contents_link(section.id, section.title);
  const std::string record_name =
      options.record_path.empty() ? "the record" : html_text(options.record_path);
  const std::string main = bars + roof + tunables + html(sections);
  const std::string about_text = html_text(about(record)), tile_list = tiles(record);
  return fill(page_file("page.html"), std::array<Slot, 8>{{{"title", title},
                                                           {"style", page_file("page.css")},
                                                           {"about", about_text},
                                                           {"tiles", tile_list},
                                                           {"contents", contents},
                                                           {"main", main},
                                                           {"record", record_name},
                                                           {"again", kAgain}}});
}

bool is_report(std::string_view text) {
  return text.starts_with(kMarkdownStart) || text.starts_with(kCsvStart) ||
         text.substr(0, 4096).find(kPageMark) != std::string_view::npos;
}

}  // namespace assay::report
