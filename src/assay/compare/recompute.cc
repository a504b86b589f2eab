#include "assay/compare/recompute.h"

#include <algorithm>
#include <cmath>

#include "assay/base/text.h"
#include "assay/compare/claimed.h"
#include "assay/compare/run_claims.h"
#include "assay/record/coarse.h"
#include "assay/record/conclude.h"
#include "assay/record/doubts.h"

namespace assay {
namespace {

bool near(double first, double second) {
  if (std::isinf(first) || std::isinf(second)) return first == second;
  return std::abs(first - second) <= 1e-9 * std::max(std::abs(first), std::abs(second));
}

bool same_interval(const stats::Verdict& first, const stats::Verdict& second) {
  return first.word == second.word && near(first.ratio, second.ratio) &&
         near(first.low, second.low) && near(first.high, second.high);
}

// What is printed beside the interval.
bool same_rest(const stats::Verdict& first, const stats::Verdict& second) {
  return near(first.margin, second.margin) && first.processes == second.processes &&
         near(first.smallest_detectable, second.smallest_detectable) &&
         first.reason == second.reason;
}

std::string text_of(const stats::Verdict& verdict) {
  const std::string word(stats::to_string(verdict.word));
  if (verdict.is_bound())
    return fmt::format("{} by at least {:.6g} x", word, std::max(verdict.ratio, 1 / verdict.ratio));
  if (!verdict.has_interval()) return word;
  return fmt::format("{} {:.6g} [{:.6g}, {:.6g}]", word, verdict.ratio, verdict.low, verdict.high);
}

std::string rest_of(const stats::Verdict& verdict) {
  return fmt::format("margin {:.9g}, {} processes, smallest difference {:.9g}{}", verdict.margin,
                     verdict.processes, verdict.smallest_detectable,
                     verdict.reason.empty() ? "" : ", " + verdict.reason);
}

bool is_of_own_clock(const Finding& finding) {
  return finding.code == "own_clock" || finding.code == "own_clock_differs";
}

class Differences {
 public:
  explicit Differences(const ProblemRecord& problem) : problem_(problem) {}

  void compare(const Confirmation& recorded, const Conclusion& made) {
    const Conclusion& says = recorded.conclusion;
    text("winner", label(says.winner), label(made.winner));
    text("tied", labels(says.tied), labels(made.tied));
    text("unclear", labels(says.unclear), labels(made.unclear));
    text("ahead", labels(says.ahead), labels(made.ahead));
    pairs(says.against_leader, made.against_leader);
    pairs(says.against_stock, made.against_stock);
    const auto single = [](const std::optional<PairVerdict>& pair) {
      return pair ? std::vector<PairVerdict>{*pair} : std::vector<PairVerdict>{};
    };
    pairs(single(says.headline), single(made.headline), "headline: ");
    times(says, made);
    if (says.evidence_hash.empty() && !says.samples_hash.empty())
      text("samples_hash", says.samples_hash, hash_samples(recorded));
    else
      text("evidence_hash", or_nothing(says.evidence_hash), made.evidence_hash);
    findings(recorded);
    for (std::size_t i = 0; i < recorded.processes.size(); ++i) seed(recorded.processes[i], i);
  }

  // What the samples are said to be of.
  void claimed() {
    for (const Contradiction& found : find_contradictions(problem_))
      found_.push_back({problem_.name, found.what, or_nothing(found.recorded), found.made});
  }

  // A problem has a winner, or says why not; `run` alone confirms nothing and claims nothing.
  void winner(bool confirms) {
    const bool has_winner = problem_.winner() != nullptr;
    if (has_winner && !problem_.no_winner.empty())
      found_.push_back({problem_.name, "no_winner", problem_.no_winner, "there is a winner"});
    if (!has_winner && problem_.no_winner.empty() && confirms)
      found_.push_back({problem_.name,
                        problem_.confirmations.empty() ? "confirmations" : "no_winner", "nothing",
                        "samples and their winner, or why there are none"});
  }

  // A proof is right where it has checks and none of them found anything, and nobody wins without
  // one.
  void proofs(bool on_gpu) {
    std::vector<const KernelOutcome*> timed;
    for (const KernelOutcome& kernel : problem_.kernels)
      if (is_timed(kernel.ending)) timed.push_back(&kernel);
    const StockErrors stock = stock_errors(timed);
    for (const KernelOutcome& kernel : problem_.kernels) {
      if (!kernel.proof) continue;
      bool right = !kernel.proof->checks.empty();
      double max_error = 0;
      for (const ProofCheck& check : kernel.proof->checks) {
        right = right && check.wrong == 0 && check.first_wrong.empty();
        max_error = std::max(max_error, check.max_error);
      }
      // What stock kernels err by grew as more was looked at; of others it is as it was judged.
      right = right && !has(kernel, "coarse_arithmetic");
      if (is_timed(kernel.ending))
        right = right && !coarse_arithmetic(*kernel.proof, stock, on_gpu);
      truth("proof of " + kernel.label(), kernel.proof->right, right);
      if (!kernel.proof->bitwise_repeatable) finding(kernel, "nondeterministic");
      const bool said = has(kernel, "nondeterministic");
      if (said)
        truth("that launches of " + kernel.label() + " differ in bits", true,
              !kernel.proof->bitwise_repeatable);
      if (!near(kernel.proof->max_error, max_error))
        text("largest error of " + kernel.label(), fmt::format("{:.9g}", kernel.proof->max_error),
             fmt::format("{:.9g}", max_error));
    }
  }

  void doubts(const Confirmation& confirmation, const RunOptions& options) {
    for (const Doubt& doubt : find_doubts(problem_, confirmation, options)) {
      const KernelOutcome* kernel = problem_.find(doubt.id);
      const std::vector<Finding>& findings =
          kernel == nullptr ? problem_.findings : kernel->findings;
      if (std::ranges::find(findings, doubt.finding.code, &Finding::code) == findings.end())
        found_.push_back({problem_.name,
                          kernel == nullptr ? "findings" : "findings of " + kernel->label(),
                          "nothing", doubt.finding.code});
    }
  }

  void standing(const Conclusion& conclusion) {
    std::vector<std::string> ids = conclusion.tied;
    if (!conclusion.winner.empty()) ids.push_back(conclusion.winner);
    for (const std::string& id : ids) {
      const KernelOutcome* kernel = problem_.find(id);
      const bool stands =
          kernel != nullptr && is_timed(kernel->ending) && kernel->proof && kernel->proof->right;
      truth("that " + label(id) + " was proven and timed", true, stands);
    }
  }

  // Blocks are no samples of a claim, but what is said of them follows from them.
  void own_clock() {
    const Finding* said = nullptr;
    for (const Finding& finding : problem_.findings)
      if (is_of_own_clock(finding)) said = &finding;
    const std::string sentence = said == nullptr ? "nothing" : said->sentence;
    if (!problem_.own_clock) {
      text("own_clock", sentence, "nothing");
      return;
    }
    const OwnClock& clock = *problem_.own_clock;
    std::vector<std::string> ran;
    for (const ClockBlock& block : clock.blocks) ran.push_back(block.id);
    text("who ran at their own clocks", labels(ran),
         labels({clock.candidate, clock.other, clock.other, clock.candidate}));
    const auto ratio = clock.ratio();
    const auto mine = clock.joules(clock.candidate), others = clock.joules(clock.other);
    contains("own_clock", sentence,
             ratio ? fmt::format("{} is {:.3f} x as fast as {}", label(clock.candidate), *ratio,
                                 label(clock.other))
                   : "blocks of both");
    if (!mine || !others) return;
    const auto energy = [&](int digits) {
      return fmt::format("{:.{}g} against {:.{}g} mJ a launch", 1e3 * *mine, digits, 1e3 * *others,
                         digits);
    };
    // Earlier records say three digits.
    if (sentence.find(energy(3)) == std::string::npos) contains("own_clock", sentence, energy(4));
  }

  std::vector<Difference> take() { return std::move(found_); }

 private:
  static std::string or_nothing(const std::string& text) { return text.empty() ? "nothing" : text; }

  void times(const Conclusion& says, const Conclusion& made) {
    const auto text_of = [](const Conclusion& conclusion, const std::string& id) {
      const auto time = std::ranges::find(conclusion.times, id, &Conclusion::Time::id);
      return time == conclusion.times.end() ? "nothing"
                                            : fmt::format("{:.9g} us{}", time->median_us,
                                                          time->is_disturbed ? ", disturbed" : "");
    };
    std::vector<std::string> ids;
    for (const Conclusion* conclusion : {&made, &says})
      for (const Conclusion::Time& time : conclusion->times)
        if (std::ranges::find(ids, time.id) == ids.end()) ids.push_back(time.id);
    for (const std::string& id : ids)
      if (!near(says.median_us(id), made.median_us(id)) ||
          says.is_disturbed(id) != made.is_disturbed(id) || text_of(says, id) == "nothing" ||
          text_of(made, id) == "nothing")
        text("time of " + label(id), text_of(says, id), text_of(made, id));
  }

  // Those that samples show.
  void findings(const Confirmation& confirmation) {
    for (const LaunchBound& bound : find_launch_bound(confirmation)) {
      const KernelOutcome* kernel = problem_.find(bound.id);
      if (kernel != nullptr) finding(*kernel, "launch_bound");
    }
  }

  static bool has(const KernelOutcome& kernel, std::string_view code) {
    return std::ranges::find(kernel.findings, code, &Finding::code) != kernel.findings.end();
  }

  void finding(const KernelOutcome& kernel, const std::string& code) {
    if (!has(kernel, code))
      found_.push_back({problem_.name, "findings of " + kernel.label(), "nothing", code});
  }

  void text(std::string what, const std::string& recorded, const std::string& made) {
    if (recorded != made) found_.push_back({problem_.name, std::move(what), recorded, made});
  }

  void contains(std::string what, const std::string& sentence, const std::string& part) {
    if (sentence.find(part) == std::string::npos)
      found_.push_back({problem_.name, std::move(what), sentence, part});
  }

  void truth(std::string what, bool recorded, bool made) {
    text(std::move(what), recorded ? "yes" : "no", made ? "yes" : "no");
  }

  void pairs(const std::vector<PairVerdict>& says, const std::vector<PairVerdict>& made,
             std::string_view prefix = "") {
    const auto find = [](const std::vector<PairVerdict>& list, const PairVerdict& wanted) {
      for (const PairVerdict& pair : list) {
        if (pair.candidate == wanted.candidate && pair.other == wanted.other) return &pair;
      }
      return static_cast<const PairVerdict*>(nullptr);
    };
    const auto name = [&](const PairVerdict& pair) {
      return fmt::format("{}{} against {}", prefix, label(pair.candidate), label(pair.other));
    };
    for (const PairVerdict& pair : says) {
      const PairVerdict* again = find(made, pair);
      if (again == nullptr) {
        found_.push_back({problem_.name, name(pair), text_of(pair.verdict), "nothing"});
      } else if (!same_interval(pair.verdict, again->verdict)) {
        found_.push_back(
            {problem_.name, name(pair), text_of(pair.verdict), text_of(again->verdict)});
      } else if (!same_rest(pair.verdict, again->verdict)) {
        found_.push_back(
            {problem_.name, name(pair), rest_of(pair.verdict), rest_of(again->verdict)});
      }
    }
    for (const PairVerdict& pair : made) {
      if (find(says, pair) == nullptr) {
        found_.push_back({problem_.name, name(pair), "nothing", text_of(pair.verdict)});
      }
    }
  }

  void seed(const ProcessSamples& process, std::size_t index) {
    if (process.seed.empty() && process.seed_commitment.empty()) return;
    const Result<std::string> commitment = commitment_of(process.seed);
    text(fmt::format("seed of process {}", index + 1), process.seed_commitment,
         commitment ? *commitment : "a seed that is not hex");
  }

  std::string label(const std::string& id) const {
    const KernelOutcome* kernel = problem_.find(id);
    return kernel == nullptr ? (id.empty() ? "nobody" : id) : kernel->label();
  }
  std::string labels(const std::vector<std::string>& ids) const {
    std::vector<std::string> names;
    for (const std::string& id : ids) names.push_back(label(id));
    return names.empty() ? "nobody" : join(names, ", ");
  }

  const ProblemRecord& problem_;
  std::vector<Difference> found_;
};

std::vector<Difference> recompute_model(const RunRecord& record) {
  const std::vector<ModelTime> made = model_times(record);
  const auto text_of = [](const ModelTime& time) {
    return fmt::format("{:g} calls: default {:.6g} us, best stock {:.6g}, best {:.6g}{}",
                       time.calls, time.default_us, time.best_stock_us, time.best_us,
                       time.missing.empty() ? "" : "; " + time.missing);
  };
  std::vector<Difference> differences;
  for (const ModelTime& says : record.model) {
    const auto again = std::ranges::find(made, says.m, &ModelTime::m);
    const std::string text = again == made.end() ? "nothing" : text_of(*again);
    if (text != text_of(says))
      differences.push_back({fmt::format("m {}", says.m), "the model's time", text_of(says), text});
  }
  return differences;
}

// What the run says of its problems' own clocks is what they say.
std::vector<Difference> recompute_findings(const RunRecord& record) {
  std::vector<std::string> made, says;
  for (const ProblemRecord& problem : record.problems)
    for (const Finding& finding : problem.findings)
      if (is_of_own_clock(finding))
        made.push_back(fmt::format("{} {}: {}", finding.code, problem.name, finding.sentence));
  for (const Finding& finding : record.findings)
    if (is_of_own_clock(finding))
      says.push_back(fmt::format("{} {}", finding.code, finding.sentence));
  const auto text_of = [](const std::vector<std::string>& lines) {
    return lines.empty() ? std::string("nothing") : join(lines, "; ");
  };
  if (made == says) return {};
  return {{"the run", "findings of own clocks", text_of(says), text_of(made)}};
}

// Of a record whose writer hashed all of it.
std::vector<Difference> recompute_evidence(const RunRecord& record) {
  std::vector<Difference> differences;
  const bool hashed = std::ranges::any_of(
      record.problems, [](const ProblemRecord& problem) { return !problem.evidence_hash.empty(); });
  if (!hashed) return differences;
  for (const ProblemRecord& problem : record.problems)
    if (const std::string made = hash_of_evidence(record, problem);
        problem.evidence_hash != made &&
        (problem.evidence_hash.empty() || problem.evidence_hash != problem.evidence_hash_as_read))
      differences.push_back({problem.name, "evidence_hash of the whole problem",
                             problem.evidence_hash.empty() ? "nothing" : problem.evidence_hash,
                             made});
  return differences;
}

}  // namespace

std::string Difference::sentence() const {
  return sanitize(fmt::format("{}: {}: the record says '{}', the evidence says '{}'", problem, what,
                              recorded, recomputed));
}

std::vector<Difference> recompute(const ProblemRecord& problem, const RunRecord& record) {
  const RunOptions& options = record.options;
  const bool confirms = record.kind != "run";
  Differences differences(problem);
  differences.claimed();
  differences.proofs(record.environment.device.kind == "gpu");
  differences.winner(confirms);
  differences.own_clock();
  for (const Confirmation& confirmation : problem.confirmations) {
    differences.compare(confirmation, conclude(problem, confirmation, options));
    differences.standing(confirmation.conclusion);
    differences.doubts(confirmation, options);
  }
  return differences.take();
}

std::vector<Difference> recompute(const RunRecord& record) {
  std::vector<Difference> all;
  for (const ProblemRecord& problem : record.problems) {
    for (Difference& difference : recompute(problem, record)) {
      all.push_back(std::move(difference));
    }
  }
  for (Difference& difference : recompute_evidence(record)) all.push_back(std::move(difference));
  for (Difference& difference : recompute_model(record)) all.push_back(std::move(difference));
  for (Difference& difference : recompute_findings(record)) all.push_back(std::move(difference));
  for (Contradiction& found : find_run_contradictions(record))
    all.push_back(
        {"the run", std::move(found.what), std::move(found.recorded), std::move(found.made)});
  // No run has none: what was taken out holds no claim, and refutes none either.
  if (record.problems.empty()) all.push_back({"the run", "problems", "none", "one or more"});
  return all;
}

}  // namespace assay
