#include "assay/report/compare_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "assay/report/safe.h"
#include "assay/report/words.h"

namespace assay::report {
namespace {

Cell verdict_cell(const Competitor& competitor) {
  if (!competitor.proven()) return {"unproven", Tone::dim};
  return {word_and_limit(*competitor.verdict), tone_of(competitor.verdict->word)};
}

// Three decimals where there is room.
std::string speedup_text(const Competitor& competitor, int decimals) {
  if (competitor.proven() &&
      (competitor.verdict->has_interval() || competitor.verdict->is_bound())) {
    return ratio_interval(*competitor.verdict, decimals);
  }
  return fmt::format("{:.{}f}", competitor.speedup, decimals);
}

std::vector<Cell> side_cells(const Side& side) {
  return {{safe(side.provider)},
          {safe(side.kernel)},
          {significant(side.tflops)},
          {microseconds(side.runtime_ms * 1e3)}};
}

constexpr int kWideTerminal = 100;

int decimals_for(const Comparison& comparison, int width) {
  const int decimals = ratio_decimals(comparison.margin);
  return width >= kWideTerminal ? std::max(decimals, 3) : decimals;
}

// `grouped`: problems on lines of their own; `repeat`: every row names its problem.
Table compare_table(const Comparison& comparison, bool grouped, bool repeat, int decimals) {
  Table table;
  if (!grouped) table.columns.push_back({.title = "shape"});
  table.columns.push_back({.title = "provider", .shrinks_to = 8});
  table.columns.push_back({.title = "kernel", .shrinks_to = 12, .elide = Elide::middle});
  table.columns.push_back({.title = "TFLOP/s", .align = Align::right});
  table.columns.push_back({.title = "us", .align = Align::right});
  table.columns.push_back({.title = "speed-up"});
  table.columns.push_back({.title = "verdict"});
  for (const ComparisonRow& row : comparison.rows) {
    const auto add = [&](const Side& side, std::string speedup, Cell verdict, bool first) {
      Table::Row out;
      if (grouped) {
        if (first) out.heading = row.key;
      } else {
        out.cells.push_back({first || repeat ? row.key : ""});
      }
      for (Cell& cell : side_cells(side)) out.cells.push_back(std::move(cell));
      out.cells.push_back({std::move(speedup)});
      out.cells.push_back(std::move(verdict));
      table.rows.push_back(std::move(out));
    };
    add(row.baseline, fmt::format("{:.{}f}", 1.0, decimals), {"baseline", Tone::dim}, true);
    for (const Competitor& competitor : row.competitors) {
      add(competitor.side, speedup_text(competitor, decimals), verdict_cell(competitor), false);
    }
  }
  return table;
}

struct Line {
  std::string text;
  Tone tone = Tone::plain;
};

// The geometric mean over the problems, for a first glance: a number, never a claim.
std::vector<Line> summary_lines(const Comparison& comparison) {
  std::vector<Line> lines;
  for (const std::string& provider : comparison.providers) {
    double sum = 0;
    int count = 0, proven = 0;
    for (const ComparisonRow& row : comparison.rows) {
      const Competitor* competitor = row.find(provider);
      if (competitor == nullptr || !(competitor->ratio() > 0)) continue;
      sum += std::log(competitor->ratio());
      ++count;
      if (competitor->proven()) ++proven;
    }
    if (count == 0) continue;
    lines.push_back(
        {fmt::format("{} against {}: geometric mean {:.2f} over {} problem{}, {} of "
                     "them from samples",
                     safe(provider), safe(comparison.baseline_provider), std::exp(sum / count),
                     count, count == 1 ? "" : "s", proven)});
  }
  return lines;
}

std::vector<Line> unproven_lines(const Comparison& comparison) {
  std::vector<Line> lines;
  for (const ComparisonRow& row : comparison.rows) {
    for (const Competitor& competitor : row.competitors) {
      if (competitor.proven()) continue;
      const std::string text = fmt::format("unproven {}: {}", safe(competitor.side.provider),
                                           safe(competitor.why_unproven));
      const bool known = std::any_of(lines.begin(), lines.end(),
                                     [&](const Line& line) { return line.text == text; });
      if (!known) lines.push_back({text, Tone::dim});
    }
  }
  return lines;
}

std::vector<Line> all_lines(const Comparison& comparison) {
  std::vector<Line> lines = summary_lines(comparison);
  const auto append = [&](std::vector<Line> more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  append(unproven_lines(comparison));
  for (const std::string& note : comparison.notes) lines.push_back({"note: " + safe(note)});
  for (const Claim& claim : comparison.claims) {
    const Tone tone = claim.state == ClaimState::held      ? Tone::good
                      : claim.state == ClaimState::refuted ? Tone::bad
                                                           : Tone::caution;
    lines.push_back(
        {fmt::format("{}: {} ({})", to_string(claim.state), safe(claim.text), safe(claim.why)),
         tone});
  }
  for (const std::string& text : comparison.disputes) {
    lines.push_back({"disputed: " + safe(text), Tone::bad});
  }
  for (const std::string& text : comparison.stale) {
    lines.push_back({"stale: " + safe(text), Tone::bad});
  }
  for (const std::string& text : comparison.missing) {
    lines.push_back({"missing: " + safe(text), Tone::bad});
  }
  return lines;
}

}  // namespace

std::string compare_text(const Comparison& comparison, const TextStyle& style) {
  const int decimals = decimals_for(comparison, style.width);
  Table table = compare_table(comparison, false, false, decimals);
  // Kernel names may give way to 16 columns before the problems move to lines of their own.
  constexpr int kLeastKernel = 16;
  int kernel = 0;
  for (const Table::Row& row : table.rows) {
    kernel = std::max(kernel, display_width(row.cells[2].text));
  }
  const int least = natural_width(table) - std::max(kernel - kLeastKernel, 0);
  if (least > style.width) table = compare_table(comparison, true, false, decimals);
  std::string out =
      fmt::format("baseline {}  ({}), margin {}\n", safe(comparison.baseline_provider),
                  safe(comparison.baseline_file), margin_text(comparison.margin));
  out += text_table(table, style) + '\n';
  for (const Line& line : all_lines(comparison)) {
    std::string text = wrap(line.text, style.width, 2);
    // The leading word carries the colour: it never wraps.
    const std::size_t colon = line.text.find(':');
    if (line.tone != Tone::plain && line.tone != Tone::dim && colon != std::string::npos) {
      text.replace(0, colon, coloured(line.text.substr(0, colon), line.tone, style));
    }
    out += text;
  }
  return out;
}

std::string compare_markdown(const Comparison& comparison) {
  std::string out = fmt::format("## Compared with {}\n\nBaseline file `{}`, margin {}.\n\n",
                                safe(comparison.baseline_provider), safe(comparison.baseline_file),
                                margin_text(comparison.margin));
  out += markdown_table(
             compare_table(comparison, false, true, decimals_for(comparison, kWideTerminal))) +
         '\n';
  for (const Line& line : all_lines(comparison)) out += "- " + line.text + '\n';
  return out;
}

std::string compare_csv(const Comparison& comparison) {
  Table table;
  for (const char* title :
       {"key", "name", "baseline_provider", "baseline_kernel", "baseline_tflops",
        "baseline_runtime_ms", "provider", "kernel", "tflops", "runtime_ms", "speedup", "proven",
        "verdict", "ratio", "low", "high", "why_unproven"}) {
    table.columns.push_back({.title = title});
  }
  const auto number = [](double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : std::string();
  };
  for (const ComparisonRow& row : comparison.rows) {
    for (const Competitor& competitor : row.competitors) {
      std::vector<std::string> cells = {row.key,
                                        row.name,
                                        row.baseline.provider,
                                        row.baseline.kernel,
                                        number(row.baseline.tflops),
                                        number(row.baseline.runtime_ms),
                                        competitor.side.provider,
                                        competitor.side.kernel,
                                        number(competitor.side.tflops),
                                        number(competitor.side.runtime_ms),
                                        number(competitor.speedup),
                                        competitor.proven() ? "true" : "false"};
      if (competitor.verdict) {
        cells.insert(cells.end(),
                     {std::string(stats::to_string(competitor.verdict->word)),
                      number(competitor.verdict->ratio), number(competitor.verdict->low),
                      number(competitor.verdict->high), ""});
      } else {
        cells.insert(cells.end(), {"unproven", "", "", "", competitor.why_unproven});
      }
      Table::Row out;
      for (std::string& cell : cells) out.cells.push_back({std::move(cell)});
      table.rows.push_back(std::move(out));
    }
  }
  return csv_table(table);
}

std::string recompute_text(const std::string& record_path, std::span<const Difference> differences,
                           const TextStyle& style) {
  if (differences.empty()) {
    return wrap(fmt::format("{}: every word is what the samples say", safe(record_path)),
                style.width, 2);
  }
  std::string out;
  for (const Difference& difference : differences) {
    out += wrap(fmt::format("{}: {}", safe(record_path), difference.sentence()), style.width, 2);
  }
  return out;
}

}  // namespace assay::report
