#include "cli/load/load_table.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "assay/base/counted.h"
#include "assay/base/text.h"

namespace assay::cli {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kRows = {{
    {"ttft_ms", "time to first token, ms"},
    {"ttfo_ms", "time to first output, ms"},
    {"tpot_ms", "time per further token, ms"},
    {"itl_gap_ms", "gap between chunks, ms"},
    {"e2e_ms", "whole request, ms"},
    {"e2e_incl_queue_ms", "... with the client's queue, ms"},
    {"client_queue_ms", "client's queue, ms"},
    {"connect_ms", "wait for a connection, ms"},
    {"per_user_throughput_tok_s", "tokens/s of one user"},
    {"prefill_throughput_tok_s", "prompt tokens/s to the first token"},
}};
constexpr std::array<std::string_view, 7> kStatistics = {"mean", "median", "p90", "p95",
                                                         "p99",  "min",    "max"};

constexpr std::size_t kMostErrorsTold = 3;  // Of different words; samples have all.

std::string number(double value) {
  const double size = std::abs(value);
  if (size >= 1000) return fmt::format("{:.0f}", value);
  if (size >= 100) return fmt::format("{:.1f}", value);
  return size >= 1 || size == 0 ? fmt::format("{:.2f}", value) : fmt::format("{:.3f}", value);
}

std::string counts(const load::Judged& judged) {
  const load::Metrics& metrics = judged.metrics;
  std::string text = fmt::format("requests     {} in {}\n", ending_counts(metrics),
                                 format_duration(metrics.duration_s));
  if (judged.warmups > 0)
    text += fmt::format(
        "warm-up      {}{}\n", counted(judged.warmups, "request"),
        judged.failed_warmups > 0 ? fmt::format(", {} of them failed", judged.failed_warmups) : "");
  return text;
}

std::string throughput(const load::Metrics& metrics) {
  const auto value = [&](const char* key) { return metrics.value(key).value_or(0); };
  std::string text = fmt::format(
      "throughput   {} requests/s, {} output tokens/s ({} in and out), at most {} in a second\n",
      number(value("request_throughput")), number(value("output_throughput_tok_s")),
      number(value("total_throughput_tok_s")), number(value("peak_output_tok_s")));
  text += fmt::format("tokens       {} in, {} out", metrics.input_tokens, metrics.output_tokens);
  if (metrics.token_source == "usage") text += ", as the server counts";
  if (metrics.token_source == "chunks") text += ", counted by chunks: the server tells none";
  if (metrics.token_source == "tokenizer")
    text += ", counted by --tokenizer: the server tells none";
  if (metrics.token_source == "mixed") text += ", of some requests without the server's count";
  text += '\n';
  if (const auto share = metrics.value("goodput_share"))
    text += fmt::format("goodput      {} requests/s, {:.1f} % of all\n",
                        number(value("goodput_req_s")), 100 * *share);
  return text;
}

std::string delivery(const load::Delivered& delivered) {
  std::string text;
  if (delivered.rate && delivered.rate_asked)
    text += fmt::format("delivered    {:.5g} of {:.5g} requests/s", *delivered.rate,
                        *delivered.rate_asked);
  if (delivered.concurrency)
    text += fmt::format("delivered    {:g} of {} requests at a time", *delivered.concurrency,
                        delivered.concurrency_asked);
  if (delivered.gaps_distance)
    text += fmt::format(", gaps {:.4f} from their law", *delivered.gaps_distance);
  return text.empty() ? text : text + '\n';
}

}  // namespace

report::Table latency_table(const load::Metrics& metrics) {
  report::Table table;
  table.columns.push_back({"", report::Align::left, 24, report::Elide::end});
  table.columns.push_back({"n", report::Align::right});
  for (const std::string_view statistic : kStatistics)
    table.columns.push_back({std::string(statistic), report::Align::right});
  for (const auto& [key, title] : kRows) {
    const load::Summary* summary = metrics.distribution(key);
    // Rows that say nothing of their own.
    if (summary == nullptr || (key == "connect_ms" && summary->max == 0)) continue;
    if (key == "ttfo_ms" && *summary == *metrics.distribution("ttft_ms")) continue;
    report::Table::Row row;
    row.cells.push_back({std::string(title)});
    row.cells.push_back({std::to_string(summary->n)});
    for (const std::string_view statistic : kStatistics) {
      const bool thin = summary->is_thin(statistic);
      row.cells.push_back({number(*summary->find(statistic)) + (thin ? "~" : ""),
                           thin ? report::Tone::dim : report::Tone::plain});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string thin_note(const report::Table& table) {
  for (const auto& row : table.rows)
    for (const auto& cell : row.cells)
      if (cell.text.ends_with('~'))
        return "~ of too few values: 200 for a median, 500 for p90 and p95, 1,000 for p99";
  return "";
}

std::string ending_counts(const load::Metrics& metrics) {
  std::string text = fmt::format("{} successful", metrics.successful);
  const auto add = [&](std::int64_t count, std::string_view word) {
    if (count > 0) text += fmt::format(", {} {}", count, word);
  };
  add(metrics.errored, "errored");
  add(metrics.incomplete, "incomplete");
  add(metrics.cancelled, "cancelled");
  add(metrics.retried, "sent again");
  return text;
}

std::string fitted_table(report::Table table, std::span<const SpareColumn> spare,
                         std::string_view elsewhere, const report::TextStyle& style) {
  // What it takes at least: one that may be cut is as narrow as it gets.
  const auto least = [&] {
    report::Table cut = table;
    for (std::size_t i = 0; i < cut.columns.size(); ++i) {
      const int room = cut.columns[i].shrinks_to;
      if (room == 0) continue;
      for (report::Table::Row& row : cut.rows)
        if (i < row.cells.size()) row.cells[i].text = report::fit(row.cells[i].text, room);
    }
    return report::natural_width(cut);
  };
  std::vector<std::size_t> gone;
  std::vector<std::string> names;
  for (const SpareColumn& column : spare) {
    if (least() <= style.width) break;
    // Those ahead of it that have gone.
    const auto before =
        std::ranges::count_if(gone, [&](std::size_t index) { return index < column.index; });
    const auto at = static_cast<std::ptrdiff_t>(column.index) - before;
    table.columns.erase(table.columns.begin() + at);
    for (report::Table::Row& row : table.rows) row.cells.erase(row.cells.begin() + at);
    gone.push_back(column.index);
    names.push_back(column.name);
  }
  std::string text = report::text_table(table, style);
  if (!names.empty())
    text += report::wrap(fmt::format("{} columns have no room for {}: {}", style.width,
                                     join(names, ", "), elsewhere),
                         style.width, 2);
  return text;
}

std::string latency_text(const load::Metrics& metrics, const report::TextStyle& style) {
  const report::Table table = latency_table(metrics);
  if (table.rows.empty()) return {};
  const SpareColumn spare[] = {{7, "min"}, {4, "p90"}, {2, "mean"}, {8, "max"}};
  std::string text = fitted_table(table, spare, "load.json has them", style);
  if (const std::string note = thin_note(table); !note.empty()) text += note + '\n';
  return text;
}

std::vector<std::string> load_warnings(const load::Judged& judged) {
  std::vector<std::string> sentences;
  if (judged.interrupted) sentences.emplace_back("interrupted: the run did not end by itself");
  for (const std::string& reason : judged.delivered.reasons)
    sentences.push_back("not_delivered: " + reason);
  for (const std::string& reason : judged.client.reasons)
    sentences.push_back("client_limited: " + reason);
  const load::Metrics& metrics = judged.metrics;
  const std::size_t told = std::min(metrics.errors.size(), kMostErrorsTold);
  std::int64_t others = metrics.errored;
  for (const auto& [error, count] : std::span(metrics.errors).first(told)) {
    sentences.push_back(
        fmt::format("errored, {} of {}: {}", count, metrics.errored, sanitize(error, 300)));
    others -= count;
  }
  if (others > 0) sentences.push_back(fmt::format("errored, {} more: the samples say how", others));
  if (metrics.mismatched > 0)
    sentences.push_back(fmt::format("{} of {} {} another number of tokens than asked",
                                    metrics.mismatched, counted(metrics.successful, "answer"),
                                    metrics.mismatched == 1 ? "has" : "have"));
  if (metrics.unlike_chunks > 0)
    sentences.push_back(
        fmt::format("of {} answers the server counts fewer tokens than chunks that came",
                    metrics.unlike_chunks));
  return sentences;
}

std::string load_text(const load::LoadPlan& plan, const load::Judged& judged,
                      const report::TextStyle& style) {
  std::string text =
      fmt::format("{} at {}\n", sanitize(plan.shape.model, 100), plan.server.authority());
  text += counts(judged) + throughput(judged.metrics) + delivery(judged.delivered) + '\n';
  text += latency_text(judged.metrics, style);
  for (const std::string& sentence : load_warnings(judged))
    text += report::coloured(sentence, report::Tone::caution, style) + '\n';
  return text;
}

}  // namespace assay::cli
