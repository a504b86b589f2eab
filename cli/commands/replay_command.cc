#include "cli/commands/replay_command.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/compare/replay.h"
#include "assay/report/replay_report.h"
#include "cli/exit_code.h"
#include "cli/replay/replay_request.h"
#include "cli/show/show_run.h"

namespace assay::cli {
namespace {

Json side_json(const std::optional<ReplayedSide>& side) {
  if (!side) return nullptr;
  return {{"other", side->other},
          {"verdict", to_json(side->verdict)},
          {"candidate_us", side->candidate_us},
          {"other_us", side->other_us}};
}

Json claim_json(const ReplayedClaim& claim) {
  return {{"problem", claim.problem},        {"candidate", claim.candidate},
          {"word", to_string(claim.word)},   {"reason", claim.reason},
          {"then", side_json(claim.then)},   {"now", side_json(claim.now)},
          {"differences", claim.differences}};
}

class ReplayCommand : public Command {
 public:
  const char* name() const override { return "replay"; }
  const char* summary() const override {
    return "Build, prove and race a record's claims again on this machine";
  }
  const char* example() const override { return "assay replay runs/0001-my_gemm/record.json"; }

  void declare(Flags& app) override {
    app.add_option("record", path_, "A record.json of race or sweep, or the folder of that run")
        .required()
        .type_name("RECORD");
    app.add_option("--problem", names_,
                   "Only these problems of the record, by name or as --shape of race takes them")
        .type_name("NAME")
        .several_words(false);
    app.add_flag("--proven", proven_, "Fail (exit code 1) if a claim stays unsure, too");
    app.add_option("--output-dir", folder_, "Where the fresh records go (default: runs/<n>-replay)")
        .type_name("DIR");
    declare_anew(app, options_, true);
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const RecordAt at, read_honest_record(path_));
    if (at.record.kind != "race" && at.record.kind != "sweep")
      return fail(ErrorCode::invalid_input,
                  "{}: a record of `assay {}` makes no claim: replay those of race and sweep",
                  at.path.string(), sanitize(at.record.kind, 40));
    ASSAY_TRY(const auto chosen, choose_problems(at, names_));
    ASSAY_TRY(std::vector<Replay> replays, requests(context, at, chosen));
    std::vector<std::string> differences;
    const auto wants = [](const Replay& replay) { return replay.request.has_value(); };
    const auto count = std::ranges::count_if(replays, wants);
    if (count == 0) return show(context.console, at, replays, differences, "");
    const auto first = std::ranges::find_if(replays, wants);
    if (!folder_.empty()) first->request->keep.folder = folder_;
    ASSAY_TRY(const DeviceLock held, hold_device(context, *first->request));
    const std::filesystem::path folder =
        folder_.empty() ? next_run_folder("replay") : std::filesystem::path(folder_);
    for (Replay& replay : replays) {
      if (!replay.request) continue;
      sweep::Request& request = *replay.request;
      request.caller.device_held = true;
      ASSAY_TRY(replay.claim.reason, why_gone(request, *replay.recorded));
      if (!replay.claim.reason.empty()) continue;
      ASSAY_TRY(narrow_to_claim(request, *replay.recorded));
      request.keep.folder = count == 1 ? folder : folder / replay.recorded->name;
      ASSAY_TRY(const FinishedRun fresh, run_request(context, request, Keep::everything));
      replay.fresh = fresh.files.record;
      replay.claim =
          judge_replay(*replay.recorded, fresh.record.problems.front(), at.record.options.margin);
      for (std::string& difference : replay_differences(at.record, fresh.record))
        if (std::ranges::find(differences, difference) == differences.end())
          differences.push_back(std::move(difference));
    }
    return show(context.console, at, replays, differences, folder.string());
  }

 private:
  // A problem of the record on its way.
  struct Replay {
    const ProblemRecord* recorded;
    ReplayedClaim claim;
    std::optional<sweep::Request> request;  // None where nothing was claimed.
    std::string fresh;                      // The fresh record's path; empty where nothing ran.
  };

  Result<std::vector<Replay>> requests(const Context& context, const RecordAt& at,
                                       const std::vector<const ProblemRecord*>& chosen) const {
    std::vector<Replay> replays;
    for (const ProblemRecord* problem : chosen) {
      // What such a race said of two of the user's kernels is no headline, and is not passed over.
      ASSAY_TRY(check_reference_may_run(at, *problem));
      Replay& replay = replays.emplace_back(Replay{problem, claim_of(*problem), {}, {}});
      if (!replay.claim.then) continue;
      ASSAY_TRY(replay.request, replay_request(context, at, *problem, options_));
    }
    return replays;
  }

  // Why the claim's kernel, or the one that it was held against, cannot be had here; empty where
  // both can.
  static Result<std::string> why_gone(const sweep::Request& request, const ProblemRecord& problem) {
    const PairVerdict& headline = *problem.headline();
    ASSAY_TRY(const sweep::Discovery found,
              sweep::discover(request, &request.question.problems.front(), ""));
    for (const std::string& id : {headline.candidate, headline.other})
      if (std::string reason = why_gone(problem, id, found); !reason.empty()) return reason;
    return std::string();
  }

  // Empty where the kernel is here.
  static std::string why_gone(const ProblemRecord& problem, const std::string& id,
                              const sweep::Discovery& found) {
    if (std::ranges::any_of(
            found.rows, [&](const process::OfferedKernel& row) { return row.metadata.id() == id; }))
      return {};
    const KernelOutcome* kernel = problem.find(id);
    const std::string label = problem.label(id);
    if (kernel == nullptr) return label + " is gone";
    const auto missing = found.missing.find(kernel->provider);
    if (missing != found.missing.end())
      return fmt::format("{} is gone: {}", label, missing->second);
    std::vector<std::string> why;
    for (const auto& [reason, refusal] : found.refusals)
      why.push_back(fmt::format("{}: {}", to_string(reason), refusal.example));
    return fmt::format(
        "{} is gone: {} offers no kernel of its id for this problem on this machine{}", label,
        kernel->provider, why.empty() ? "" : " (refused are " + join(why, "; ") + ")");
  }

  int exit_code_of(const std::vector<Replay>& replays) const {
    const auto any = [&](ReplayWord word) {
      return std::ranges::any_of(replays,
                                 [&](const Replay& replay) { return replay.claim.word == word; });
    };
    if (any(ReplayWord::refuted) || (proven_ && any(ReplayWord::unsure))) return kRefuted;
    return any(ReplayWord::gone) ? kMissingRecords : kDone;
  }

  int show(Console& console, const RecordAt& at, const std::vector<Replay>& replays,
           const std::vector<std::string>& differences, const std::string& folder) const {
    const int code = exit_code_of(replays);
    if (console.json()) {
      Json list = Json::array();
      for (const Replay& replay : replays) {
        list.push_back(claim_json(replay.claim));
        list.back()["fresh_record"] = replay.fresh;
      }
      console.result(dump_pretty({{"schema", "assay.replay/1"},
                                  {"record", at.path.string()},
                                  {"id", at.record.id},
                                  {"created", at.record.created},
                                  {"margin", at.record.options.margin},
                                  {"threads", at.record.options.threads},
                                  {"differences", differences},
                                  {"problems", std::move(list)},
                                  {"exit_code", code}}));
      return code;
    }
    std::vector<ReplayedClaim> claims;
    for (const Replay& replay : replays) claims.push_back(replay.claim);
    std::string text =
        report::replay_text(claims, differences, {console.width_out(), console.colour_out()});
    if (std::ranges::any_of(replays, [](const Replay& replay) { return !replay.fresh.empty(); }))
      text += fmt::format("records   {}\n", folder);
    console.result(text);
    return code;
  }

  std::string path_, folder_;
  std::vector<std::string> names_;
  bool proven_ = false;
  RaceOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_replay_command() { return std::make_unique<ReplayCommand>(); }

}  // namespace assay::cli
