#pragma once

// What limits a kernel: its time as shares of what the machine reached in the same window, and what
// the processor counted. Read from a record; pure.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/record/record.h"

namespace assay {

struct CeilingShare {
  std::string ceiling;  // "read", "flops_f32" ...
  double reached =
      0;             // By the kernel, in the ceiling's unit: minimal bytes or operations a second.
  double value = 0;  // The ceiling's.
  std::string unit;  // "byte/s", "flop/s".
  double share() const { return reached / value; }
};

struct Limits {
  std::string id, label;
  std::string failure;             // How it ended, where it has no time; then the rest is empty.
  double us = 0;                   // Per launch.
  double low_us = 0, high_us = 0;  // Interval over fresh processes; 0 where there is none.
  int threads = 1;                 // 0: it runs on a GPU.
  std::vector<GpuLaunchFacts> launches;  // On a GPU: of its device code.
  std::optional<GpuProfile> profile;     // On a GPU: what a profiler counted, or why it did not.
  double bytes = 0;                      // Least that a launch moves, of the problem's model.
  std::vector<CeilingShare> ceilings;    // The nearest first.

  double clock_hz = 0;          // Of a core; 0 unknown.
  bool cycles_counted = false;  // Else they are time x clock x threads.
  double cycles = 0;            // Per launch, of all threads; 0 unknown.
  double cycles_per_fma = 0;    // Of the multiply-adds that the problem asks for.
  double fmas_per_cycle = 0;
  double instructions_per_cycle = 0;
  double instructions_per_fma = 0;
  std::map<std::string, double> counts;            // Per launch: "llc_misses", "page_faults" ...
  std::map<std::string, std::string> unavailable;  // Event -> why.

  // The nearest ceiling and what that means; then what else was seen. Sentences.
  std::vector<std::string> because;
};

Limits limits_of(const RunRecord& record, const ProblemRecord& problem,
                 const KernelOutcome& kernel);

}  // namespace assay
