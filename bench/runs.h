#pragma once

// Races for the bench: requests that differ in little, verdicts on one pair, the other core's load.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/subprocess.h"
#include "assay/op/gemm/gemm.h"
#include "assay/record/record.h"
#include "assay/stats/verdict.h"
#include "assay/sweep/sweep.h"
#include "bench/row.h"

namespace assay::bench {

// What a worker of this program adds to its catalog is said in its environment: "slowed:LIBRARY" or
// "plain:ROWS".
inline constexpr const char* kFamilyVariable = "ASSAY_BENCH_FAMILY";

// A request with one thread and the providers given, in a folder of its own.
sweep::Request make_request(const Context& context, const std::string& name,
                            const std::vector<std::string>& providers);

// What files hold, to the providers that are built in.
Result<std::vector<input::KernelSource>> read_sources(const std::vector<std::string>& files);

// Runs it; progress goes to standard error.
Result<RunRecord> run(const sweep::Request& request);

// Where this machine has a provider's library; an error says what to install.
Result<std::string> library_of(const std::string& provider);

// The stock provider, and as NAME_copy a second mapping of a copy of its library.
Result<std::vector<process::AskedProvider>> with_copy(const Context& context,
                                                      const std::string& provider);

// `shape` under several names, for as many races.
Result<std::vector<Problem>> repeated(const std::vector<gemm::Shape>& shapes, int count);

// "candidate is <word> than other", of the last confirmation.
struct Pair {
  std::string problem;
  std::string shape;
  stats::Verdict verdict;
  double log_ratio = 0;
  double half_width = 0;   // Of the interval of log ratios.
  double clean_share = 0;  // Of the confirming rounds.
  double within = 0;       // Median standard error within a process.
  int rounds = 0, wanted = 0;
};
std::optional<Pair> judge_pair(const ProblemRecord& problem, const RunOptions& options,
                               const std::string& candidate_id, const std::string& other_id);
// The first timed kernel of a provider; empty if there is none.
std::string kernel_of(const ProblemRecord& problem, const std::string& provider);
// All pairs of one run by provider; problems in which the pair was not confirmed are left out.
std::vector<Pair> pairs_of(const RunRecord& record, const std::string& candidate_provider,
                           const std::string& other_provider);
Json to_json(const Pair& pair);

// A filter that only this kernel passes: its provider, its family and its whole design.
std::string only_this(const std::string& provider, const std::string& family, const Json& design);
std::string only_this(const KernelOutcome& kernel);

// Bursts that a run made, of all kernels.
int64_t bursts_of(const ProblemRecord& problem);
int64_t bursts_of(const RunRecord& record);

// "0.31 %, 90th 0.62 %" of half-widths.
std::string widths_text(const std::vector<Pair>& pairs);

// A child that spins on the core that workers leave free.
Result<Subprocess> load_other_core();
int spin();  // What that child does: never returns.

std::vector<std::string> child_environment(const std::string& family = {});

}  // namespace assay::bench
