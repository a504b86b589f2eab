#pragma once

// The journal: append-only, fsynced, one JSON line for each finished stage. Resuming loses nothing
// and repeats nothing that was finished; only what a crash tore off the end is cut off, and said.
// It is also where finished problems are kept: a run holds in memory what it works on.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/record.h"
#include "assay/sweep/sweep.h"

namespace assay::sweep {

// How far candidates were confined, and what is behind that word.
struct Trust {
  TrustGrade grade = TrustGrade::unconfined_native;
  std::string reason;
};

class Journal {
 public:
  // What open() would refuse whatever the header, without touching anything: a run that is there,
  // or one that somebody else is writing. `kind` as Request has it: a sweep alone can go on.
  static Status check(const std::filesystem::path& folder, IfPresent if_present,
                      std::string_view kind);

  // header: what was asked; resuming with another one is refused with what differs.
  static Result<Journal> open(const std::filesystem::path& folder, const Json& header,
                              IfPresent if_present);

  // To a seed, before any candidate sees an input that was made from it.
  Status add_commitment(const std::string& problem, const std::string& commitment);

  // A kernel that was proven right, or fell while it was.
  struct Proof {
    KernelOutcome outcome;
    double launch_ns = 0;  // Rough; 0 unknown.
  };
  Status add_proof(const std::string& problem, const KernelOutcome& outcome, double launch_ns);

  // A kernel as the race left it.
  struct Raced {
    KernelOutcome outcome;
    double launch_ns = 0;
    int launches = 1;  // Of a burst.
  };
  // A problem whose race is over, and `result` of it: durable as a whole, or not there.
  Status add_race(const std::string& problem, const std::vector<Raced>& kernels,
                  const Json& result);

  // Before candidates run so confined.
  Status add_trust(const Trust& trust);
  // The weakest of the run that is resumed; none if that ran no candidate.
  const std::optional<Trust>& earlier_trust() const { return earlier_trust_; }

  // A finished problem: durable as a whole, or not there.
  Status add_problem(const ProblemRecord& problem);

  // Takes away the journal of a run that began here and came to nothing: the next one finds none in
  // its way. Nothing where there is something in it.
  void withdraw();

  // Of this run and of the one that it resumes. An unfinished problem is not_found.
  bool is_finished(const std::string& problem) const;
  Result<ProblemRecord> problem(const std::string& name) const;
  // Of the run that is resumed, by the kernel's id.
  Result<std::map<std::string, Proof>> proofs(const std::string& problem) const;
  // The last race of the run that is resumed, if one was over.
  struct Race {
    std::vector<Raced> kernels;
    JsonDocument line;  // Its member `result` is what add_race() was given.
  };
  Result<std::optional<Race>> race(const std::string& problem) const;

  // What the user should know about the opening: "cut a torn last line", "nothing to resume".
  const std::vector<std::string>& notes() const { return notes_; }
  // When the run that is resumed began; empty for a new one.
  const std::string& began() const { return began_; }
  // The run's own name, of its host and at random, which a resumed run keeps; empty of one that a
  // program from before began.
  const std::string& run() const { return run_; }

 private:
  // Where in the file the lines of a problem begin.
  struct Places {
    std::vector<uint64_t> proofs;
    // The first of its kernels' lines; its own follows them.
    std::optional<uint64_t> raced, finished;
  };

  Journal(FileLock lock, AppendFile file) : lock_(std::move(lock)), file_(std::move(file)) {}
  Status add(const Json& line, AppendFile::Durable durable = AppendFile::Durable::now);
  // Finds what an earlier run finished; cuts what a crash tore.
  Status read_earlier(const Json& header);
  Status place(const Json& line, uint64_t at, int number, std::vector<uint64_t>& outcomes);
  Status check_header(const Json& line, const Json& header);
  Result<Json> read_line(std::string_view text, int number) const;

  FileLock lock_;
  AppendFile file_;
  std::map<std::string, Places> places_;
  std::optional<Trust> earlier_trust_;
  std::vector<std::string> notes_;
  std::string began_, run_;
  bool checked_ = true;     // Its lines have checksums.
  bool holds_work_ = true;  // More than what was asked and how candidates were confined.
};

}  // namespace assay::sweep
