#pragma once

// One row of the table that `make bench` prints: a target, its bound, and what was measured.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/measure/condition.h"

namespace assay::bench {

struct Row {
  std::string target;
  std::string bound;
  std::string measured;
  bool ok = false;
  bool stretch = false;            // Missing a stretch does not fail the bench.
  std::vector<std::string> notes;  // Sentences below the table.
  Json details = Json::object();   // For the results file.
};

struct Context {
  bool quick = false;            // A few of each: shows that everything works, proves nothing.
  std::filesystem::path folder;  // Copies of libraries, and the records of every run.

  int problems = 200;  // Of the regret row: half of them tuned, half asked for.
  int seeds = 4;       // Of the gpu_cheat rows: inputs are made anew for each, on the host.

  std::pair<int, int> trust_seeds{1, 2};  // Of the trust rows, first and last: shapes differ.
  std::pair<int, int> trust_share{1, 1};  // Of their races: this one's and of how many, which run
                                          // side by side, each on processors of its own.
  std::filesystem::path trust_log;        // Theirs: a line for each kernel that was raced.

  int count(int full, int few) const { return quick ? few : full; }
};

// A measurement answers one or more questions; one that could not be made is an error.
using Measurement = Result<std::vector<Row>> (*)(const Context&);

Result<std::vector<Row>> measure_discovery(const Context& context);
Result<std::vector<Row>> measure_ranking(const Context& context);
Result<std::vector<Row>> measure_launch(const Context& context);
Result<std::vector<Row>> measure_orchestration(const Context& context);
enum class Company { one_process, two_processes };  // Of the two that are compared.
template <Company company>
Result<std::vector<Row>> measure_same(const Context& context);
Result<std::vector<Row>> measure_coverage(const Context& context);
template <Company company>
Result<std::vector<Row>> measure_sensitivity(const Context& context);
Result<std::vector<Row>> measure_racing(const Context& context);
Result<std::vector<Row>> measure_native(const Context& context);
Result<std::vector<Row>> measure_table(const Context& context);
Result<std::vector<Row>> measure_cutlass(const Context& context);
Result<std::vector<Row>> measure_startup(const Context& context);
// Takes half an hour, so only where it is asked for by name.
Result<std::vector<Row>> measure_regret(const Context& context);
// Hours, for as many seeds as a claim needs.
Result<std::vector<Row>> measure_trust(const Context& context);
Result<std::vector<Row>> measure_native_table_decode(const Context& context);
Result<std::vector<Row>> measure_native_table_prefill(const Context& context);
Result<std::vector<Row>> measure_native_threads(const Context& context);
Result<std::vector<Row>> measure_native_amx(const Context& context);
// On a GPU, `make bench-gpu`.
template <measure::Spacing spacing>
Result<std::vector<Row>> measure_gpu_same_m1(const Context& context);
template <measure::Spacing spacing>
Result<std::vector<Row>> measure_gpu_same_m16(const Context& context);
template <measure::Spacing spacing>
Result<std::vector<Row>> measure_gpu_same_large(const Context& context);
Result<std::vector<Row>> measure_gpu_sensitivity_short(const Context& context);
Result<std::vector<Row>> measure_gpu_sensitivity_long(const Context& context);
Result<std::vector<Row>> measure_gpu_cheat_qkv(const Context& context);
Result<std::vector<Row>> measure_gpu_cheat_o(const Context& context);
Result<std::vector<Row>> measure_gpu_cheat_up(const Context& context);
Result<std::vector<Row>> measure_gpu_cheat_down(const Context& context);
Result<std::vector<Row>> measure_gpu_host(const Context& context);
Result<std::vector<Row>> measure_gpu_race(const Context& context);
Result<std::vector<Row>> measure_gpu_decode(const Context& context);
Result<std::vector<Row>> measure_gpu_prefill(const Context& context);
Result<std::vector<Row>> measure_gpu_start(const Context& context);
Result<std::vector<Row>> measure_gpu_profiler(const Context& context);
Result<std::vector<Row>> measure_gpu_profiler_no_sleep(const Context& context);
Result<std::vector<Row>> measure_gpu_pool(const Context& context);
Result<std::vector<Row>> measure_gpu_compile(const Context& context);
Result<std::vector<Row>> measure_python(const Context& context);

}  // namespace assay::bench
