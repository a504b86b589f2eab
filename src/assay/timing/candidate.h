#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/kernel/refusals.h"
#include "assay/op/problem.h"
#include "assay/process/messages/values.h"
#include "assay/record/outcome.h"
#include "assay/record/ranking.h"
#include "assay/timing/approaches.h"

namespace assay::sweep {

// A kernel on its way through one problem. `outcome` is what the record will say of it.
struct Candidate {
  KernelOutcome outcome;
  std::string family;
  bool is_default = false;    // What a caller of its library gets without choosing.
  bool deterministic = true;  // Says its metadata.
  bool prepares = false;      // Likewise: it packs constants.
  ErrorBound error_bound = ErrorBound::elementwise;  // Likewise.
  std::string artifact_file;  // Once it is built; the rest of the artifact is in the outcome.
  bool built = false;
  bool proven = false;
  double launch_ns = 0;        // Rough, from the proof; then from the race.
  int launches = 1;            // Per burst.
  double compile_seconds = 0;  // Says its metadata.
  std::string artifact_id;     // Of kernels whose compile costs much; several may share one.
  // Of its provider's artifacts whose compile costs much, the first being 1; 0: it is built in any
  // case.
  int place = 0;

  // What an earlier process of the run found of it, as its journal has it.
  void take_over(KernelOutcome earlier, double earlier_launch_ns);

  bool alive() const { return is_timed(outcome.ending); }
  // What a worker says of its object and its memory, which it may have forged: some more facts, and
  // nothing that convicts or clears anybody.
  void add_facts(const process::ObjectFacts& facts);

  // As workers take them.
  Json row() const { return outcome.metadata.json(); }
  process::BuiltKernel built_kernel() const;  // Once it is built.
};

// Candidates of a problem, with what kept the others out.
struct Field {
  std::vector<Candidate> candidates;
  RefusalCounts refusals;
  std::string unprovable;  // Why nothing can be proven right on this problem here, if so.
  std::optional<RankingRecord> ranking;      // Where some kernel's compile costs much.
  std::map<std::string, int> confirmations;  // Of this run, by confirmation_key().
  Approaches approaches;
};

}  // namespace assay::sweep
