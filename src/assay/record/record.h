#pragma once

// What a run leaves behind: "assay.record/1". Plain data, written once and never edited.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/confirm.h"
#include "assay/record/environment.h"
#include "assay/record/gpu_profile.h"
#include "assay/record/gpu_window.h"
#include "assay/record/outcome.h"
#include "assay/record/own_clock.h"
#include "assay/record/ranking.h"

namespace assay {

inline constexpr std::string_view kRecordSchema = "assay.record/1";

// What was measured (docs/method.md). Kernels of different conditions are never compared.
struct Condition {
  std::string cache;    // cold_weights, cold, warm.
  std::string spacing;  // isolated, back_to_back, chain.
  std::string launch;   // plain, graph.

  std::string to_string() const;  // "cache=cold_weights,spacing=back_to_back,launch=plain".
  bool operator==(const Condition&) const = default;
};

// What a kernel was allowed to do. The best stock kernel is taken within the same class.
struct RaceClass {
  std::string preparation;       // none, allowed.
  std::string dependent_launch;  // forbidden, allowed.

  std::string to_string() const;  // "preparation=allowed,dependent_launch=forbidden".
  bool operator==(const RaceClass&) const = default;
};

// How far the timer could have been lied to (docs/method.md).
enum class TrustGrade : std::uint8_t { device_code, confined_native, unconfined_native };
std::string_view to_string(TrustGrade grade);
Result<TrustGrade> parse_trust_grade(std::string_view text);

struct RunOptions {
  double margin = 0.01;  // Fraction.
  double confidence = 0.99;
  int processes = 7;       // Of a confirmation, at least,
  int most_processes = 0;  // and at most; 0: as many.
  int min_processes = 6;   // That must give a mean.
  int placements = 4;
  double systematic_error = 0;  // As in stats::JudgeOptions.
  double budget_seconds = 0;    // Of timing, for the whole run; 0: no limit.
  bool exhaustive = false;      // No kernel was dropped before the last look.
  int threads = 0;
  std::string suite;                 // Its name, or the file's; empty for --shape.
  std::string model;                 // The config that the problems are made from; empty: none.
  int tensor_parallel = 1;           // Devices that share the model; the problems are one's.
  std::string filter;                // --filter, as given.
  std::vector<std::string> kernels;  // Ids of those that were asked for, where some were.
  std::vector<std::string> providers;
  std::vector<std::string> settings;  // Of providers: "cublaslt.space=all".
  std::string ranker;  // Whose order chose among kernels that cost much to compile; empty: listed.
  int build = 0;       // So many of each provider at most were built for a problem; 0: no limit.
  // What a pair of kernels in two processes may share besides, in the place of systematic_error.
  double systematic_error_apart = 0;
  int rules = 1;  // By which it was judged (doubts.h); earlier records say nothing.

  bool operator==(const RunOptions&) const = default;
};

struct RefusalCountRecord {
  std::int64_t count = 0;
  std::string example;  // One of the sentences.
  bool operator==(const RefusalCountRecord&) const = default;
};

struct RaceRecord {
  int rounds = 0;
  std::vector<int> looks;  // After which rounds kernels could be dropped.
  int dropped = 0;         // Kernels.
  int spoiled_rounds = 0;  // Rounds in which some burst was not clean.
  double seconds = 0;
  std::string end;  // "last look", "one left", "budget".

  bool operator==(const RaceRecord&) const = default;
};

struct ProblemRecord {
  std::string name;
  std::string key;                // name + dtypes + layout + constant.
  std::string operation;          // "gemm".
  std::string role;               // prefill, decode ...; may be empty.
  double weight = 1;              // Calls in the model.
  Json problem = Json::object();  // The fields by which the operation makes it again.
  Condition condition;
  RaceClass race_class;
  double flops = 0;
  double bytes = 0;                                    // Minimal traffic of one launch.
  std::vector<KernelOutcome> kernels;                  // All that were tried, refused rows aside.
  std::map<std::string, RefusalCountRecord> refusals;  // By reason code.
  std::optional<RaceRecord> race;
  std::vector<Confirmation> confirmations;  // The last one decides.
  // The winner's minimal traffic or arithmetic over its median time, as a share of the ceiling that
  // is nearer; 0 unknown. It is no bound: above 1 where the machine gave more to the kernel than
  // when the ceiling was measured, or where activations were still in a cache (cold_weights).
  double ceiling_share = 0;
  std::string ceiling;                         // Of which ceiling: "read", "flops_f32".
  double ceiling_value = 0;                    // As it was measured by then; 0 in older records.
  std::string no_winner;                       // Why there is none; empty where there is one.
  std::vector<Finding> findings;               // On all that was timed: "cache_unproven".
  std::map<std::string, EventCounts> counts;   // By kernel id, where events were asked for.
  std::map<std::string, GpuProfile> profiles;  // Likewise, on a GPU.
  std::optional<RankingRecord> ranking;        // Where some kernel's compile costs much.
  std::optional<GpuWindow> gpu;                // On a GPU: its state from the race to the end.
  std::optional<OwnClock> own_clock;  // Of the headline's two, where a power cap held it back.
  // hash_of_evidence() of the finished run; empty in records of before there was one.
  std::string evidence_hash;
  // The same of the file that this was read from, as it stood there: a hash of before a field was
  // added to records is found in it alone. Not written; empty for what was not read.
  std::string evidence_hash_as_read;

  const KernelOutcome* find(std::string_view id) const;
  const Confirmation* decisive() const {
    return confirmations.empty() ? nullptr : &confirmations.back();
  }
  // Of the decisive confirmation; none without one.
  const Conclusion* conclusion() const;
  const PairVerdict* headline() const;
  const KernelOutcome* winner() const;
  // "provider/name" of the kernel with that id; the id itself where there is none.
  std::string label(std::string_view id) const;
  // Integer field of `problem` (m, n, k, l ...), or `fallback`.
  std::int64_t dimension(std::string_view name, std::int64_t fallback) const;
};

// One pass of m tokens through what the problems are calls of: weight times time, summed over the
// problems of that m.
struct ModelTime {
  std::int64_t m = 0;
  double calls = 0;
  double default_us = 0;
  double best_stock_us = 0;
  double best_us = 0;   // Of the winners.
  std::string missing;  // Why there are no times: the first problem that lacks one.

  bool operator==(const ModelTime&) const = default;
};

struct Totals {
  double timed_seconds = 0;  // In bursts.
  double wall_seconds = 0;
  std::int64_t trials = 0;
  std::int64_t proven = 0;
  std::int64_t wrong = 0;    // Mismatches and violations.
  std::int64_t crashed = 0;  // Crashes, timeouts, out of memory, device lost.
  std::int64_t refused = 0;
  std::int64_t left_out = 0;  // Not compiled, in quarantine, or never reached.

  bool operator==(const Totals&) const = default;
};

// A user's file that took part, and all that it brings along, as the run read them.
struct SourceStamp {
  std::string given;   // As the user named it: FILE or FILE::ENTRY.
  std::string sha256;  // As input::hash_of_files() says.

  bool operator==(const SourceStamp&) const = default;
};

struct RunRecord {
  std::string id;       // Unique; also the run's folder name.
  std::string kind;     // "sweep", "race", "run".
  std::string created;  // UTC, ISO 8601.
  std::vector<std::string> command_line;
  std::string assay_version;
  std::string assay_build;
  Environment environment;
  RunOptions options;
  std::vector<SourceStamp> sources;
  TrustGrade trust = TrustGrade::unconfined_native;
  std::string trust_reason;       // One sentence: what holds and what does not.
  std::vector<Finding> findings;  // On the whole run: "cache_unproven" ...
  std::vector<ProblemRecord> problems;
  std::vector<ModelTime> model;  // As model_times() says; empty where no problem has a weight.
  Totals totals;

  const ProblemRecord* find(std::string_view name) const;
};

// What a run goes on holding of a finished problem: the kernels that its last confirmation names
// and what was concluded of them. Neither samples nor other kernels: those are in the record's
// file.
ProblemRecord headline_of(ProblemRecord problem);

// SHA-256 (hex) of all that a record says of a problem, and of the run but for its other problems:
// options, trust, findings, endings, metadata and flags, samples and who was confirmed. What
// Conclusion::evidence_hash leaves out is fixed after a confirmation. It is no signature either.
std::string hash_of_evidence(const RunRecord& run, const ProblemRecord& problem);
// Of both as JSON: the run with an empty list of problems, and one problem.
std::string hash_of_evidence(const Json& run, Json problem);

// From the conclusions, by m in the order of the problems. Empty unless the problems are a model's
// or some weight is not 1. Sums of medians: no interval, and so no claim.
std::vector<ModelTime> model_times(const RunRecord& record);

Json to_json(const Environment& environment);
Json to_json(const GpuWindow& window);
Json to_json(const GpuLaunchFacts& launch);
Json to_json(const KernelOutcome& outcome);
Json to_json(const ProcessSamples& samples);
Json to_json(const Confirmation& confirmation);
Json to_json(const RaceRecord& race);
Json to_json(const ProblemRecord& problem);
Json to_json(const RunRecord& record);
Json to_json(const stats::Verdict& verdict);
Json to_json(const ModelTime& time);
// With an empty list for the problems, or the kernels: those can be very many.
Json head_json(const RunRecord& record);
Json head_json(const ProblemRecord& problem);

// Hostile-safe: every field's type and range is checked, ids must name kernels of their problem,
// lists of one round must be equally long. Errors are invalid_input with file, line and field.
// Unknown fields are accepted, unknown major versions refused. Only the schema, the problems and
// what verdicts are made from must be there; the rest defaults.
Result<RunRecord> read_record(const JsonDocument& document);
Result<Environment> read_environment(const JsonField& field);
Result<GpuWindow> read_gpu_window(const JsonField& field);
Result<GpuLaunchFacts> read_gpu_launch_facts(const JsonField& field);
Result<KernelOutcome> read_kernel_outcome(const JsonField& field);
Result<RaceRecord> read_race_record(const JsonField& field);
Result<ProcessSamples> read_process_samples(const JsonField& field);
Result<Confirmation> read_confirmation(const JsonField& field);
Result<ProblemRecord> read_problem_record(const JsonField& field);
// Of a head_json(), whose kernels were kept elsewhere.
Result<ProblemRecord> read_problem_record(const JsonField& head,
                                          std::vector<KernelOutcome> kernels);
Result<stats::Verdict> read_verdict(const JsonField& field);

// The text that write_record writes: indented, with lists of numbers on one line each.
std::string record_text(const RunRecord& record);

// Reads FILE.json, or FILE.json.zst compressed; not_found if it is absent.
Result<RunRecord> load_record(const std::string& path);
// Atomic; compressed where the path ends in .zst.
Status write_record(const std::string& path, const RunRecord& record);

// The text of a record in the form of a .zst, and back: for stores. `origin` names it in errors.
Result<std::string> compressed_record(const RunRecord& record);
Result<RunRecord> read_compressed_record(const std::string& bytes, const std::string& origin);

// Hands the problems of a run to `take`, in order, and stops at its error.
using EachProblem = std::function<Status(const std::function<Status(const ProblemRecord&)>& take)>;
// The same of a run whose problems are not in memory together; those of `head` are not looked at.
Status write_record(const std::string& path, const RunRecord& head, const EachProblem& problems);

}  // namespace assay
