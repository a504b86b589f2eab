#pragma once

// A sweep by a user's cutlass_profiler: the best of its kernels on every problem, by its own clock.
// Such results are of another tool. Nothing here knows a kernel or the race, so none of them is
// raced, and none is stock: what they claim stays unproven (record/provider_results.h).

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/op/problem.h"
#include "assay/record/provider_results.h"

namespace assay::profiler {

enum class IfPresent : std::uint8_t {
  refuse,  // Results in the folder are an error, and nothing is touched.
  resume,  // Those that were asked for in the same words, of the same binary, are kept.
  fresh,   // They are moved aside, with their reports and logs.
};

struct SweepRequest {
  std::vector<Problem> problems;
  std::string binary;                    // As ProcessOptions has it.
  std::vector<std::string> flags;        // More of the tool's own; check_flags() holds.
  std::vector<std::string> environment;  // Of the process, exactly these.
  double silence_seconds = 120;
  int cancel_fd = -1;
  std::filesystem::path folder;  // <problem>.csv and .log, and the results; made if absent.
  std::string results_file;      // Its name there.
  IfPresent if_present = IfPresent::refuse;
  std::optional<Environment> machine;  // What the results are of, where that is known.
};

// What a screen may show. Calls come from run_sweep()'s own thread.
class SweepObserver {
 public:
  virtual ~SweepObserver() = default;
  virtual void on_note(const std::string& /*sentence*/) {}
  virtual void on_problem(std::size_t /*index*/, const Problem&) {}
  virtual void on_rows(std::size_t /*rows*/) {}  // Of its report, so far.
  virtual void on_result(std::size_t /*index*/, const ProviderResult&, bool /*kept*/) {}
  virtual void on_failure(std::size_t /*index*/, const Problem&, const std::string& /*why*/) {}
};

// Every problem's end, whatever became of the others: results, and under `failed` the rest, with
// its reason. The file is written after every problem. Errors: invalid_input (results are there
// already, or a run of assay's own is), interrupted (what was finished is in the file), machine.
Result<ProviderResults> run_sweep(const SweepRequest& request, SweepObserver& observer);

}  // namespace assay::profiler
