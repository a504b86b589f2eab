#include "assay/profiler/answer.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/op/gemm/gemm.h"
#include "assay/record/profiler_csv.h"

namespace assay::profiler {
namespace {

NoAnswer no_answer(std::string sentence) { return {std::move(sentence), false}; }

bool same_name(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  });
}

// Whether a cell says what was asked; one that says nothing agrees.
bool agrees(const std::string& cell, const std::string& asked) {
  if (cell.empty()) return true;
  const auto [dtype, order] = profiler_operand(cell);
  const auto [asked_dtype, asked_order] = profiler_operand(asked);
  return dtype == asked_dtype && (order == 0 || order == asked_order);
}

std::string difference(const ProfilerRow& row, const Question& question) {
  if (row.m != question.m || row.n != question.n || row.k != question.k ||
      row.batch != question.batch)
    return fmt::format("m={} n={} k={} batch={} instead of m={} n={} k={} batch={}", row.m, row.n,
                       row.k, row.batch, question.m, question.n, question.k, question.batch);
  if (!agrees(row.a, question.a)) return fmt::format("A={} instead of {}", row.a, question.a);
  if (!agrees(row.b, question.b)) return fmt::format("B={} instead of {}", row.b, question.b);
  if (!agrees(row.d, question.out)) return fmt::format("D={} instead of {}", row.d, question.out);
  return {};
}

// "3 not_supported, 1 incorrect"
std::string endings(const ProfilerReport& report) {
  std::map<std::string, int> counts;
  for (const ProfilerRow& row : report.rows) {
    const bool fell = !row.status.empty() && row.status != "success";
    const std::string& word = fell || row.disposition.empty() ? row.status : row.disposition;
    ++counts[word.empty() ? "without a time" : sanitize(word, 40)];
  }
  std::vector<std::string> parts;
  for (const auto& [word, count] : counts) parts.push_back(fmt::format("{} {}", count, word));
  return join(parts, ", ");
}

ProviderResult in_own_words(const Problem& problem, const ProfilerReport& report,
                            const ProfilerRow& row) {
  ProviderResult out;
  out.name = problem.name();
  out.kernel = row.operation;
  out.runtime_ms = row.runtime_ms;
  out.gflops = row.work() / (row.runtime_ms * 1e-3) * 1e-9;
  out.tflops = *out.gflops * 1e-3;
  out.gbps = row.gbps;
  out.m = problem.dimension("m");
  out.n = problem.dimension("n");
  out.k = problem.dimension("k");
  if (row.batch != 1) out.batch = row.batch;
  for (const char* role : {"a", "b", "out"})
    if (const Operand* operand = problem.find_operand(role))
      out.dtypes[role] = to_string(operand->dtype);
  if (const auto view = gemm::view(problem)) out.dtypes["accumulate"] = to_string(view->accumulate);
  out.layout = problem.layout();
  Json& cells = out.metadata[kProfilerCells] = Json::object();
  for (std::size_t i = 0; i < report.columns.size() && i < row.cells.size(); ++i)
    if (!report.columns[i].empty() && !row.cells[i].empty())
      cells[report.columns[i]] = row.cells[i];
  out.line = row.line;
  return out;
}

}  // namespace

tl::expected<ProviderResult, NoAnswer> read_answer(const Problem& problem, const Question& question,
                                                   std::string_view text,
                                                   const std::string& origin) {
  const auto none = [](std::string sentence) {
    return tl::unexpected<NoAnswer>(no_answer(std::move(sentence)));
  };
  if (text.empty()) return none("it wrote no report");
  auto report = read_profiler_csv(text, origin);
  if (!report) return none("its report is broken: " + report.error().message);
  // What else it may have timed is not CUTLASS's.
  std::erase_if(report->rows, [](const ProfilerRow& row) {
    return !row.provider.empty() && !same_name(row.provider, "cutlass");
  });
  if (report->rows.empty())
    return tl::unexpected<NoAnswer>({fmt::format("none of its kernels fits A={} B={} D={}",
                                                 question.a, question.b, question.out),
                                     true});
  const ProfilerRow* best = nullptr;
  for (const ProfilerRow& row : report->rows) {
    if (const std::string other = difference(row, question); !other.empty())
      return none(fmt::format("line {} of its report is of another problem: {}", row.line,
                              sanitize(other, 200)));
    if (row.usable() && (best == nullptr || row.runtime_ms < best->runtime_ms)) best = &row;
  }
  if (best == nullptr)
    return none(fmt::format("none of its {} is a result: {}",
                            report->rows.size() == 1 ? std::string("rows")
                                                     : fmt::format("{} rows", report->rows.size()),
                            endings(*report)));
  return in_own_words(problem, *report, *best);
}

}  // namespace assay::profiler
