#include <fmt/format.h>

#include "assay/base/json.h"
#include "assay/base/operation_name.h"
#include "assay/base/text.h"
#include "cli/files/run_files.h"

namespace assay::cli {
namespace {

// Untrusted text keeps its lines, indented.
std::string indented(std::string_view text, std::string_view indent) {
  std::string out;
  for (const std::string_view line : split(trim(text), '\n'))
    out += fmt::format("{}{}\n", indent, sanitize(line, 2000));
  return out;
}

std::string verdict_text(const stats::Verdict& verdict) {
  std::string text = fmt::format("{} {:.4f}", stats::to_string(verdict.word), verdict.ratio);
  if (verdict.is_bound()) text += " at least";
  if (verdict.has_interval()) text += fmt::format(" [{:.4f} {:.4f}]", verdict.low, verdict.high);
  if (!verdict.reason.empty()) text += fmt::format(" ({})", sanitize(verdict.reason, 400));
  return text;
}

class LogText {
 public:
  explicit LogText(const ProblemRecord& problem) : problem_(problem) {}

  std::string text() {
    head();
    for (const KernelOutcome& kernel : problem_.kernels) add(kernel);
    refusals();
    race();
    int number = 0;
    for (const Confirmation& confirmation : problem_.confirmations) add(confirmation, ++number);
    end();
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    out_ += fmt::format(text, std::forward<Args>(args)...) + '\n';
  }

  std::string label(const std::string& id) const {
    const KernelOutcome* kernel = problem_.find(id);
    return sanitize(kernel == nullptr ? id : kernel->label(), 240);
  }

  void head() {
    line("shape      {}", sanitize(problem_.name, 240));
    line("operation  {}{}{}", sanitize(operation_title(problem_.operation), 120),
         is_defined_by_user(problem_.operation) ? ", defined by the user" : "",
         problem_.role.empty() ? "" : ", " + sanitize(problem_.role, 80));
    line("problem    {}", canonical(problem_.problem));
    line("key        {}", sanitize(problem_.key, 400));
    line("condition  {}", problem_.condition.to_string());
    line("class      {}", problem_.race_class.to_string());
    line("work       {}, {} at least", format_si(problem_.flops, "FLOP"),
         format_si(problem_.bytes, "byte"));
  }

  void add(const KernelOutcome& kernel) {
    line("\nkernel {}  ({}, {})", sanitize(kernel.label(), 240), to_string(kernel.role),
         kernel.id.substr(0, 12));
    line("  ending   {}", ending_sentence(kernel.ending));
    if (const auto* built = std::get_if<ending::BuildFailure>(&kernel.ending))
      out_ += indented(built->message, "    | ");
    if (const auto* crash = std::get_if<ending::Crash>(&kernel.ending))
      if (!crash->stderr_tail.empty()) out_ += indented(crash->stderr_tail, "    | ");
    if (!kernel.artifact_hash.empty())
      line("  artifact {}  {}", kernel.artifact_hash.substr(0, 12),
           canonical(kernel.artifact_facts.json()));
    if (kernel.build_seconds > 0) line("  built    in {}", format_duration(kernel.build_seconds));
    if (kernel.workspace_bytes > 0)
      line("  workspace {}", format_bytes(static_cast<double>(kernel.workspace_bytes)));
    if (kernel.prepared_bytes > 0)
      line("  prepared {} in {}", format_bytes(static_cast<double>(kernel.prepared_bytes)),
           format_duration(kernel.prepare_seconds));
    if (kernel.own_memory_bytes)
      line("  memory   {} of its own", format_bytes(static_cast<double>(*kernel.own_memory_bytes)));
    if (kernel.proof) add(*kernel.proof);
    for (const Finding& finding : kernel.findings)
      line("  finding  {}: {}", sanitize(finding.code, 80), sanitize(finding.sentence, 400));
    if (!kernel.race) return;
    const RaceSummary& race = *kernel.race;
    line("  race     {} rounds, {} clean, median {:.3f} us{}", race.rounds, race.clean_rounds,
         race.median_us,
         race.dropped_after > 0
             ? fmt::format(", dropped after {}: {}", race.dropped_after, sanitize(race.reason, 200))
             : "");
  }

  void add(const ProofSummary& proof) {
    line("  proof    {}, {} verified launches, error at most {:.3g} of the budget{}", proof.word(),
         proof.launches, proof.max_error,
         proof.bitwise_repeatable ? ", bits repeat" : ", bits differ between launches");
    for (const ProofCheck& check : proof.checks) {
      line("    {:<13} {} of {} compared, {} wrong, max {:.3g}, mean {:.3g}, sees {:.3g}; {}",
           sanitize(check.input, 40), check.compared, check.elements, check.wrong, check.max_error,
           check.mean_error, check.smallest_visible, sanitize(check.method, 200));
      if (!check.first_wrong.empty()) line("      {}", sanitize(check.first_wrong, 400));
    }
  }

  void refusals() {
    if (problem_.refusals.empty()) return;
    line("\nrefused");
    for (const auto& [reason, refusal] : problem_.refusals)
      line("  {:<20} {:>8}  {}", reason, refusal.count, sanitize(refusal.example, 400));
  }

  void race() {
    if (!problem_.race) return;
    const RaceRecord& race = *problem_.race;
    line("\nrace     {} rounds in {}, ended by {}, {} dropped, {} rounds spoiled", race.rounds,
         format_duration(race.seconds), race.end, race.dropped, race.spoiled_rounds);
  }

  void add(const Confirmation& confirmation, int number) {
    line("\nconfirm {}  {} processes x {} rounds ({} wanted)", number,
         confirmation.processes.size(), confirmation.rounds, confirmation.wanted_rounds);
    line("  leader    {}", label(confirmation.leader));
    line("  candidate {}", label(confirmation.candidate));
    if (!confirmation.baseline.empty()) line("  baseline  {}", label(confirmation.baseline));
    const Conclusion& conclusion = confirmation.conclusion;
    for (const Conclusion::Time& time : conclusion.times) {
      std::string words;
      for (const PairVerdict& pair : conclusion.against_leader)
        if (pair.candidate == time.id) words = verdict_text(pair.verdict) + " against the leader";
      line("  {:<48} {:>12.3f} us  {}", label(time.id), time.median_us, words);
    }
    for (const PairVerdict& pair : conclusion.against_stock)
      line("  {} against stock {}: {}", label(pair.candidate), label(pair.other),
           verdict_text(pair.verdict));
    for (size_t i = 0; i < confirmation.processes.size(); ++i)
      line("  process {} commitment {} seed {}", i + 1, confirmation.processes[i].seed_commitment,
           confirmation.processes[i].seed);
    line("  evidence  sha256 {}", conclusion.evidence_hash);
  }

  void end() {
    const Confirmation* confirmation = problem_.decisive();
    if (confirmation != nullptr && confirmation->conclusion.headline) {
      const PairVerdict& headline = *confirmation->conclusion.headline;
      line("\nverdict  {} against {}: {}", label(headline.candidate), label(headline.other),
           verdict_text(headline.verdict));
    }
    if (const KernelOutcome* winner = problem_.winner()) {
      line("\nwinner   {}", sanitize(winner->label(), 240));
      return;
    }
    line("\nno winner: {}", sanitize(problem_.no_winner, 400));
  }

  const ProblemRecord& problem_;
  std::string out_;
};

}  // namespace

std::string problem_log(const ProblemRecord& problem) { return LogText(problem).text(); }

}  // namespace assay::cli
