#include "assay/sweep/stages/build.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "assay/base/clock.h"
#include "assay/sweep/stages/rank.h"
#include "assay/sweep/stages/station.h"
#include "assay/timing/endings.h"

namespace assay::sweep {

namespace {
// Beyond the compiler's own limit, which it can meet when it preprocesses and when it compiles.
double build_seconds(const Request& request) { return 60 + 2 * request.limits.compile_seconds; }

// facts: those of a library are the same for all of its kernels.
void take(Candidate& candidate, const Artifact& built, double seconds, JsonPool& facts) {
  candidate.built = true;
  candidate.artifact_file = built.file.string();
  candidate.outcome.artifact_hash = built.hash;
  candidate.outcome.artifact_facts = facts.share(built.facts);
  // Kernels of libraries answer at once: no time was spent building them.
  candidate.outcome.build_seconds =
      built.file.empty() ? 0 : candidate.outcome.build_seconds + seconds;
}

// Code for a GPU: what the cache has is taken, the rest goes there, where build() finds it, as
// many at once as there are cores. What fails, fails again there, and is said of its kernel; what
// had all of its time is not waited for again.
Status build_ahead(const Station& station, Field& field, JsonPool& facts) {
  if (station.request.venue.is_cpu()) return {};
  std::vector<Candidate*> wanted;  // One of each artifact: the others find it.
  std::set<std::string_view> artifacts_wanted;
  process::Prebuild asked{station.problem, {}};
  for (Candidate& candidate : field.candidates) {
    if (candidate.built || !candidate.alive() || candidate.outcome.role == KernelRole::reference)
      continue;
    if (!candidate.artifact_id.empty() && !artifacts_wanted.insert(candidate.artifact_id).second)
      continue;
    wanted.push_back(&candidate);
    asked.rows.push_back(candidate.row());
  }
  if (wanted.size() < 2) return {};
  station.observer.on_stage("build", 0, field.candidates.size(), "all of them at once");
  ASSAY_TRY(Child * builder, station.crew.builder());
  // They may have to take turns, where memory holds no more compilers.
  const double patience = build_seconds(station.request) * static_cast<double>(wanted.size());
  const auto answer = builder->call(asked, patience);
  if (!answer && is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
  if (!answer) return {};  // Whoever brought the builder down meets its successor alone.
  const double limit = station.request.limits.compile_seconds;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const process::Prebuild::Answer::Built& built = answer->kernels[i];
    wanted[i]->outcome.build_seconds = built.seconds;
    if (!built.failed || built.seconds < limit) continue;
    const std::string artifact = wanted[i]->artifact_id;
    for (Candidate& candidate : field.candidates)
      if (&candidate == wanted[i] || (!artifact.empty() && candidate.artifact_id == artifact))
        candidate.outcome.ending = ending::Timeout{"build", limit};
  }
  for (size_t i = 0; i < wanted.size(); ++i)
    if (answer->kernels[i].artifact) take(*wanted[i], *answer->kernels[i].artifact, 0, facts);
  for (const std::string& note : builder->take_notes()) station.observer.on_note(note);
  return {};
}

}  // namespace

Status build(const Station& station, Field& field) {
  ASSAY_TRY(leave_out(station, field));
  JsonPool facts;
  ASSAY_TRY(build_ahead(station, field, facts));
  size_t done = 0;
  for (Candidate& candidate : field.candidates) {
    ++done;
    if (candidate.built || !candidate.alive()) continue;
    station.observer.on_stage("build", done, field.candidates.size(), candidate.outcome.label());
    ASSAY_TRY(Child * worker,
              station.crew.builder_of(candidate.outcome.provider, candidate.family));
    const int64_t start = monotonic_ns();
    const auto answer = worker->call(process::Compile{station.problem, candidate.row()},
                                     build_seconds(station.request));
    if (!answer) {
      if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
      // A cache that cannot be written is no kernel's fault, and would meet the next one too.
      if (const auto* error = std::get_if<Error>(&answer.error());
          error != nullptr && error->code == ErrorCode::machine)
        return fail(*error);
      candidate.outcome.ending = ending_of(answer.error(), "build");
      continue;
    }
    for (const std::string& note : worker->take_notes()) station.observer.on_note(note);
    take(candidate, answer->artifact, static_cast<double>(monotonic_ns() - start) * 1e-9, facts);
  }
  return {};
}

}  // namespace assay::sweep
