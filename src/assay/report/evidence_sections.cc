#include "assay/report/evidence_sections.h"

#include <fmt/format.h>

#include "assay/base/shell_word.h"
#include "assay/base/text.h"
#include "assay/report/words.h"

namespace assay::report {
namespace {

// Facts by name; empty ones are left out.
class Facts {
 public:
  Facts() { table_.columns = {{.title = "what"}, {.title = "value"}}; }
  void add(std::string name, std::string value) {
    if (!value.empty()) table_.rows.push_back({{{std::move(name)}, {std::move(value)}}, {}});
  }
  Table take() { return std::move(table_); }

 private:
  Table table_;
};

std::string numbers(const std::vector<int>& values) {
  std::vector<std::string> texts;
  for (const int value : values) texts.push_back(fmt::format("{}", value));
  return join(texts, ", ");
}

std::string detail(const Json& value) {
  return value.is_string() ? value.get<std::string>() : canonical(value);
}

Block libraries(const Environment& environment) {
  Block block;
  block.title = "Libraries as they were mapped";
  Table table;
  table.columns = {
      {.title = "provider"}, {.title = "version"}, {.title = "path"}, {.title = "SHA-256"}};
  for (const LibraryStamp& library : environment.libraries)
    table.rows.push_back(
        {{{library.provider}, {library.version}, {library.path}, {library.build_hash}}, {}});
  block.table = std::move(table);
  return block;
}

Block ceilings(const Environment& environment) {
  Block block;
  block.title = "Ceilings: the most that this machine was measured to give";
  block.sentences = {"From and until: when that was read, in this run or in an earlier one."};
  Table table;
  table.columns = {{.title = "ceiling"},
                   {.title = "reached", .align = Align::right},
                   {.title = "threads", .align = Align::right},
                   {.title = "from"},
                   {.title = "until"}};
  for (const Ceiling& ceiling : environment.ceilings) {
    const std::string unit = ceiling.unit == "byte/s"   ? "B/s"
                             : ceiling.unit == "flop/s" ? "FLOP/s"
                                                        : ceiling.unit;
    table.rows.push_back({{{ceiling.name},
                           {format_si(ceiling.value, unit)},
                           {fmt::format("{}", ceiling.threads)},
                           {ceiling.from},
                           {ceiling.until}},
                          {}});
  }
  block.table = std::move(table);
  return block;
}

Block options(const RunRecord& record) {
  const RunOptions& options = record.options;
  Facts facts;
  facts.add("record", record.id);
  facts.add("assay",
            record.assay_version + (record.assay_build.empty() ? "" : ", ") + record.assay_build);
  facts.add("margin", margin_text(options.margin));
  facts.add("confidence", percent(options.confidence));
  facts.add("fresh processes", fmt::format("{}{}, at least {} for a claim", options.processes,
                                           options.most_processes > options.processes
                                               ? fmt::format(" to {}", options.most_processes)
                                               : "",
                                           options.min_processes));
  facts.add("systematic error",
            options.systematic_error > 0
                ? fmt::format("{:.2f} %, one standard deviation", 100 * options.systematic_error)
                : "");
  facts.add("budget of timing",
            options.budget_seconds > 0 ? seconds_text(options.budget_seconds) : "");
  facts.add("dropping", options.exhaustive ? "none before the last look" : "");
  facts.add("filter", options.filter);
  facts.add("providers", join(options.providers, ", "));
  facts.add("settings", join(options.settings, ", "));
  facts.add("trust", fmt::format("{}{}{}", to_string(record.trust),
                                 record.trust_reason.empty() ? "" : ": ", record.trust_reason));
  Block block;
  block.title = "How it was asked";
  block.table = facts.take();
  return block;
}

Block commitments(const RunRecord& record) {
  Block block;
  block.title = "Commitments and seeds";
  block.folded = true;
  block.sentences = {
      "A commitment is the SHA-256 of its seed's bytes. It was written down before any kernel saw "
      "an input; the seed was published with the samples."};
  Table table;
  table.columns = {{.title = "shape"},      {.title = "confirmation"},
                   {.title = "process"},    {.title = "rounds", .align = Align::right},
                   {.title = "commitment"}, {.title = "seed"},
                   {.title = "holds"},      {.title = "SHA-256 of the evidence"}};
  for (const ProblemRecord& problem : record.problems) {
    for (std::size_t i = 0; i < problem.confirmations.size(); ++i) {
      const Confirmation& confirmation = problem.confirmations[i];
      const Conclusion& made = confirmation.conclusion;
      const std::string& hash = made.evidence_hash.empty() ? made.samples_hash : made.evidence_hash;
      for (std::size_t p = 0; p < confirmation.processes.size(); ++p) {
        const ProcessSamples& process = confirmation.processes[p];
        const auto expected = commitment_of(process.seed);
        const bool holds = expected && *expected == process.seed_commitment;
        table.rows.push_back({{{problem.name},
                               {fmt::format("{} of {}", i + 1, problem.confirmations.size())},
                               {fmt::format("{}", p + 1)},
                               {fmt::format("{}", process.rounds())},
                               {process.seed_commitment},
                               {process.seed},
                               {holds ? "yes" : "no", holds ? Tone::plain : Tone::bad},
                               {p == 0 ? hash : ""}},
                              {}});
      }
    }
  }
  if (!table.rows.empty()) block.table = std::move(table);
  return block;
}

}  // namespace

Section environment_section(const RunRecord& record) {
  const Environment& environment = record.environment;
  Facts facts;
  facts.add("device", environment.device.name);
  facts.add("device id", environment.device.id);
  if (environment.device.details.is_object())
    for (const auto& [name, value] : environment.device.details.items())
      facts.add(name, detail(value));
  facts.add("system", environment.system);
  facts.add("kernel of the system", environment.os_kernel);
  facts.add("driver", environment.driver);
  facts.add("toolkit", environment.toolkit);
  facts.add("compiler", environment.compiler);
  facts.add("threads", fmt::format("{}", environment.threads));
  facts.add("pinned cores", numbers(environment.pinned_cores));
  facts.add("governor", environment.governor);
  facts.add("clock before",
            environment.clock_mhz > 0 ? fmt::format("{:.0f} MHz", environment.clock_mhz) : "");
  facts.add("huge pages", environment.huge_pages);
  facts.add("load before and after",
            fmt::format("{:.2f}, {:.2f}", environment.load_before, environment.load_after));
  Section section{"environment", "Environment", {}};
  Block block;
  block.table = facts.take();
  section.blocks.push_back(std::move(block));
  if (!environment.libraries.empty()) section.blocks.push_back(libraries(environment));
  if (!environment.ceilings.empty()) section.blocks.push_back(ceilings(environment));
  return section;
}

Section evidence_section(const RunRecord& record) {
  Section section{"evidence", "Evidence", {}};
  if (!record.command_line.empty()) {
    Block command;
    command.title = "The command";
    for (const std::string& word : record.command_line)
      command.code += (command.code.empty() ? "" : " ") + shell_word(word);
    section.blocks.push_back(std::move(command));
  }
  section.blocks.push_back(options(record));
  section.blocks.push_back(commitments(record));
  return section;
}

}  // namespace assay::report
