#include <algorithm>
#include <cstdio>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/checked_line.h"
#include "assay/base/clock.h"
#include "assay/base/json.h"
#include "assay/lab/files/history.h"
#include "bench/lab/lab_bench.h"

namespace assay::lab_bench {
namespace {

constexpr int kAppended = 40;

Status fill(const std::string& runs, int lines, const std::string& series) {
  ASSAY_TRY(make_directories(runs));
  std::string text;
  for (int i = 0; i < lines / 2; ++i) {
    const std::string id = fmt::format("01ARYZ6S41TSV4RRFF{:08}", i);
    const bool kept = i % 50 == 0;
    text += with_check(canonical({{"schema", lab::kHistorySchema},
                                  {"type", "start"},
                                  {"id", id},
                                  {"seq", i + 1},
                                  {"run_tag", "night"},
                                  {"series", series},
                                  {"parent", ""},
                                  {"tree", std::string(64, 'a')},
                                  {"env", Json::object()},
                                  {"env_only", false},
                                  {"lane", ""},
                                  {"family", "loops"},
                                  {"target", ""},
                                  {"description", "what was changed, in a line of usual length"},
                                  {"hypothesis", "why it should help"},
                                  {"started", "2025-01-31T00:00:00Z"}})) +
            '\n';
    text += with_check(canonical(
                {{"schema", lab::kHistorySchema},
                 {"type", "end"},
                 {"id", id},
                 {"seq", i + 1},
                 {"run_tag", "night"},
                 {"state", kept ? "keep" : "discard"},
                 {"reason", "the gain is below the least one that counts"},
                 {"stages", Json::array({Json::array({"confirm", "passed"})})},
                 {"primary", {{"key", "run.us"}, {"value", 100.0 - i * 1e-4}, {"unit", "us"}}},
                 {"claim",
                  {{"word", "same"}, {"ratio", 1.0}, {"low", 0.99}, {"high", 1.01}, {"pairs", 8}}},
                 {"baseline", i == 0},
                 {"record", ""},
                 {"ended", "2025-01-31T00:01:00Z"}})) +
            '\n';
  }
  return write_file_atomic(runs + "/history.jsonl", text);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

template <class Append>
Result<double> timed(Append&& append) {
  std::vector<double> ms;
  for (int i = 0; i < kAppended; ++i) {
    const std::int64_t began = monotonic_ns();
    ASSAY_TRY(append(i));
    ms.push_back(static_cast<double>(monotonic_ns() - began) / kNsPerMs);
  }
  return median(ms);
}

Status measure(const std::string& runs, int lines) {
  ASSAY_TRY(fill(runs, lines, "0123456789abcdef"));
  // A copy: the appended lines are none of the case's.
  const std::string other = runs + "/appended";
  ASSAY_TRY(fill(other, lines, "0123456789abcdef"));
  ASSAY_TRY(lab::History history, lab::History::open(other));
  ASSAY_TRY(const double through, timed([&](int i) {
              return history.skip({"night", fmt::format("turn {}", i), "", "", std::nullopt});
            }));
  ASSAY_TRY(AppendFile bare, AppendFile::open(other + "/bare", true));
  const std::string line(200, 'x');
  ASSAY_TRY(const double plain, timed([&](int) { return bare.append_line(line); }));
  fmt::print("append_ms {:.4f}\nbare_ms {:.4f}\n", through, plain);
  return {};
}

}  // namespace

int write_history(const std::string& runs, int lines) {
  const Status done = measure(runs, lines);
  if (!done) fmt::print(stderr, "assay_lab_bench: {}\n", done.error().message);
  return done ? 0 : 5;
}

}  // namespace assay::lab_bench
