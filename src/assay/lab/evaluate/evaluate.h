#pragma once

// One attempt: the workspace as it is, built, checked, measured against the incumbent, and decided.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assay/lab/evaluate/program_runner.h"
#include "assay/lab/evaluate/sweep_race.h"
#include "assay/lab/files/case_file.h"
#include "assay/lab/files/history.h"
#include "assay/lab/files/series.h"

namespace assay::lab {

// A device that is ours as long as this lives.
struct HeldDevice {
  std::shared_ptr<void> hold;
  int descriptor = -1;  // By which it is held, for the programs of an attempt (ASSAY_LOCK_FD).
};

// What became of telling somebody (docs/lab.md has the words of `status`).
struct Told {
  bool attempted = false, sent = false;
  std::string status, reason;
};
// Called once the attempt's end is on the disk; `content` holds it. It never changes a verdict.
using TellWebhook = std::function<Told(const AttemptRecord&, const HistoryContent& content)>;

struct EvaluateOptions {
  std::string description, hypothesis, family, target, lane, run_tag;
  Environment overrides;              // Already checked against what the case allows.
  std::optional<AttemptAgent> agent;  // Who made the change; none: a person.
  bool says_cost = false;             // And it says what that cost.
  bool again = false;                 // Measure also what was measured already.
  bool no_webhook = false;
  bool profile = false;  // Also where none is due.
  // The case as it is to be measured, where that is not the case's own folder: what judges must be
  // the same there, or the attempt is a violation.
  std::filesystem::path source;
  std::filesystem::path cache;
  std::vector<std::string> environment;  // What every program gets.
  std::string supervisor = "/proc/self/exe";
  std::string device;  // Its id, for the series.
  int cancel_fd = -1;
  bool waits = false;      // For another command that adds to the history; else that is an error.
  FamiliesOf families_of;  // For `sweep` benchmarks.
  ReadKey read_key;        // For `openai_http` benchmarks.
  // Waits for the device, which is held from the build to the last pair. Null: nobody is kept out.
  std::function<Result<HeldDevice>()> hold_device;
  TellWebhook tell;  // Null: there is no webhook.
};

struct EvaluateObserver {
  std::function<void(const std::string& stage)> on_stage = [](const std::string&) {};
  std::function<void(int done, int most)> on_pair = [](int, int) {};
  std::function<void(const std::string& sentence)> on_note = [](const std::string&) {};
};

struct Evaluated {
  AttemptRecord record;
  std::filesystem::path record_path;
  // Others were at work in every pair of a look: it ended as `interrupted`, and can be tried again.
  bool spoiled = false;
  std::string duplicate_of;  // The id of the attempt that measured the same; then nothing was done.
};

// Attempts that were started and never ended: whoever holds the history open knows that nobody is
// at them.
Status end_interrupted(History& history, const EvaluateObserver& observer);

// For History::open; none where the options do not wait.
std::optional<FileLock::Wait> history_wait(const EvaluateOptions& options,
                                           const EvaluateObserver& observer);

// Errors are what is no outcome of an attempt: wrong files, another command at work, a full disk.
// An interruption is recorded, and the outcome `interrupted`.
Result<Evaluated> evaluate(const Lab& lab, const Case& target, const EvaluateOptions& options,
                           const EvaluateObserver& observer = {});

// An attempt made again: its tree and environment against those of its parent, measured anew and
// recorded in runs/replays alone. Its own folder, and the history, stay as they are.
struct Replayed {
  AttemptRecord record;  // Of now.
  std::filesystem::path record_path;
  std::string word;  // "held", "refuted", "unsure".
};
Result<Replayed> replay(const Lab& lab, const Case& target, const Attempt& attempt,
                        const EvaluateOptions& options, const EvaluateObserver& observer = {});

// The best state against its series' baseline, on what is held out and drawn anew: what a climb
// ends with. None: nothing is held out, or nothing was kept. Its record lies in runs/replays.
struct HeldOut {
  AttemptRecord record;  // Of which `holdout` is set, unless the outcome is a build's failure.
  std::filesystem::path record_path;
};
Result<std::optional<HeldOut>> hold_out_best(const Lab& lab, const Case& target,
                                             const EvaluateOptions& options,
                                             const EvaluateObserver& observer = {});

// "held": the same side of the decision as then; "unsure": a near tie on either side.
std::string_view replay_word(AttemptOutcome then, AttemptOutcome now);

// "hillclimb_20250131": a climb's name where none was given.
std::string default_run_tag(std::string_view utc_now);

}  // namespace assay::lab
