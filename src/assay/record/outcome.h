#pragma once

// How one trial ended, a crash included: every ending is data.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/compact_json.h"
#include "assay/tensor/error_bound.h"

namespace assay {

// A machine-readable code with its sentence.
struct Finding {
  std::string code;  // "nondeterministic", "launch_bound", "writes_outside", "alignment" ...
  std::string sentence;

  bool operator==(const Finding&) const = default;
};

// The ways in which a trial ends. Each holds what a reader needs to act on it.
namespace ending {
struct Refusal {
  std::vector<Finding> reasons;
  bool operator==(const Refusal&) const = default;
};
struct BuildFailure {
  std::string message;
  bool operator==(const BuildFailure&) const = default;
};
struct Mismatch {
  std::string message;
  bool operator==(const Mismatch&) const = default;
};
struct Crash {
  int signal = 0;  // 0: it exited by itself, with exit_code.
  int exit_code = 0;
  std::string stage;        // "bind", "verify", "race" ...
  std::string stderr_tail;  // Untrusted bytes; readers sanitize.
  bool operator==(const Crash&) const = default;
};
struct Timeout {
  std::string stage;
  double limit_seconds = 0;
  bool operator==(const Timeout&) const = default;
};
struct OutOfMemory {
  std::string stage;
  std::int64_t limit_bytes = 0;
  bool operator==(const OutOfMemory&) const = default;
};
struct DeviceLost {
  std::string message;
  bool operator==(const DeviceLost&) const = default;
};
struct Violation {  // It broke a rule: wrote outside, beat physics, changed an input.
  std::string code;
  std::string message;
  bool operator==(const Violation&) const = default;
};
struct Timed {
  bool operator==(const Timed&) const = default;
};  // Proven, and it has times.
// Proven but never timed: the budget or an interruption came first.
struct NotReached {
  std::string message;
  bool operator==(const NotReached&) const = default;
};
}  // namespace ending

using Ending = std::variant<ending::Timed, ending::Refusal, ending::BuildFailure, ending::Mismatch,
                            ending::Crash, ending::Timeout, ending::OutOfMemory, ending::DeviceLost,
                            ending::Violation, ending::NotReached>;

// "timed", "refusal", "build_failure", "mismatch", "crash", "timeout", "out_of_memory",
// "device_lost", "violation", "not_reached".
std::string_view ending_name(const Ending& ending);
// What the kernel did, to follow its name: "crashed in verify (SIGSEGV)", "did not compile: ...".
std::string ending_sentence(const Ending& ending);
inline bool is_timed(const Ending& ending) { return std::holds_alternative<ending::Timed>(ending); }

// One comparison of a kernel's output with the reference.
struct ProofCheck {
  std::string input;          // Kind of input: "uniform", "exact", "needle" ...
  std::string method;         // "every element against float64" ...
  std::int64_t elements = 0;  // In the output.
  std::int64_t compared = 0;  // One by one.
  std::int64_t wrong = 0;
  double max_error = 0;  // In units of the error budget: above 1 is wrong.
  double mean_error = 0;
  double smallest_visible = 0;  // Smallest absolute error that this check would have seen.
  std::string first_wrong;      // Empty when right.

  bool operator==(const ProofCheck&) const = default;
};

// The root mean square of errors, in units of a plain order of sums (op/operation.h: MeanSquare).
struct RmsError {
  std::int64_t elements = 0;  // Of those outputs that were looked at.
  double rms = 0;

  void add(std::int64_t more, double sum_of_squares);
  bool operator==(const RmsError&) const = default;
};

struct ProofSummary {
  bool right = false;
  ErrorBound error_bound = ErrorBound::elementwise;  // What the kernel promises, and was judged by.
  std::vector<ProofCheck> checks;
  double max_error = 0;   // Over the checks, in units of the error budget.
  double mean_error = 0;  // Of the uniform input.
  // Of it and of timed launches. No elements: nothing was to be judged, as of integers.
  RmsError ordinary_lines, wide_lines;
  std::string method;  // Of the check that decides: the uniform one.
  double smallest_visible = 0;
  int launches = 0;  // Verified ones, timed outputs included.
  bool bitwise_repeatable = true;

  // "right", "wrong"; "right, normwise" if that is what the kernel promises.
  std::string word() const;
  bool operator==(const ProofSummary&) const = default;
};

// What the race saw of one kernel. These times chose where to spend; no claim rests on them.
struct RaceSummary {
  int rounds = 0;
  int clean_rounds = 0;
  double median_us = 0;   // Per launch.
  int dropped_after = 0;  // Rounds; 0 if it was still running at the end.
  std::string reason;     // Why it was dropped, or has no time; empty otherwise.

  bool operator==(const RaceSummary&) const = default;
};

// What the processor counted while a kernel ran, beside the timing: for reading what limits it.
struct EventCounts {
  int launches = 0;
  double clock_hz = 0;                             // Of a core, measured beside; 0 unknown.
  std::map<std::string, double> per_launch;        // "instructions", "llc_misses" ...: all threads.
  std::map<std::string, std::string> unavailable;  // Event -> why there is no count.

  bool operator==(const EventCounts&) const = default;
};

// A launch of device code as it was made, and what the driver says of it on that GPU.
struct GpuLaunchFacts {
  std::int64_t blocks = 0, threads = 0;  // threads: of a block.
  std::int64_t cluster_blocks = 1;
  std::int64_t registers = 0;        // Of a thread.
  std::int64_t local_bytes = 0;      // Of a thread: spilled registers and local arrays.
  std::int64_t shared_bytes = 0;     // Of a block, static and dynamic.
  std::int64_t resident_blocks = 0;  // That a multiprocessor holds at once; 0 unknown.
  std::int64_t multiprocessors = 0, most_threads = 0;  // Of the GPU; of a multiprocessor.

  // The blocks that the GPU holds at once are a wave. 0 unknown.
  double waves() const;
  // Of the threads that a multiprocessor could hold.
  double occupancy() const;
  bool operator==(const GpuLaunchFacts&) const = default;
};

enum class KernelRole : std::uint8_t { stock, ours, user, reference };
std::string_view to_string(KernelRole role);
Result<KernelRole> parse_kernel_role(std::string_view text);

struct KernelOutcome {
  // Unique within the problem: the metadata's id. A second copy of one kernel has "#2" appended.
  std::string id;
  std::string provider;
  std::string name;  // For people.
  KernelRole role = KernelRole::user;
  MetadataJson metadata;       // As KernelMetadata::to_json wrote it (design, rule ...).
  std::string artifact_hash;   // SHA-256 of what ran; empty if nothing was built.
  CompactJson artifact_facts;  // Compiler, flags, library path and version, registers ...
  std::uint64_t workspace_bytes = 0;
  std::uint64_t prepared_bytes = 0;
  double prepare_seconds = 0;
  // That its process held beside workspace and panels after proving it, or when it was opened: most
  // of it. Earlier records do not say.
  std::optional<std::int64_t> own_memory_bytes;
  double build_seconds = 0;              // 0: from the cache, or nothing to build.
  std::vector<GpuLaunchFacts> launches;  // Its device code, in order; none of a library's own.
  Ending ending;
  std::optional<ProofSummary> proof;
  std::vector<Finding> findings;
  std::optional<RaceSummary> race;
  // Where each ranker that could score it put it among the problem's kernels that it could score,
  // before any was built; the first is 1. Where none was asked: empty.
  std::map<std::string, std::int64_t> ranks;

  // "provider/name": how tables call it.
  std::string label() const { return provider + "/" + name; }
  // Whether what is said of it rests on norms of whole operands, and not on each element.
  bool is_normwise() const { return proof && proof->error_bound == ErrorBound::normwise; }
  bool operator==(const KernelOutcome&) const = default;
};

}  // namespace assay
