#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/report/words.h"
#include "assay/select/table_contents.h"
#include "cli/exit_code.h"
#include "cli/flags/race_options.h"
#include "cli/show/race_text.h"

namespace assay::cli {
namespace {

// Reads a table as data: no kernel of it is loaded, and its code is not mapped.
class TableCommand : public Command {
 public:
  const char* name() const override { return "table"; }
  const char* summary() const override {
    return "What a tuned table holds, and whether it is of this machine";
  }
  const char* example() const override { return "assay table show decode.assay"; }

  void declare(Flags& app) override {
    app.add_option("action", action_, "show: its problems with the kernels chosen for them")
        .required()
        .one_of({"show"})
        .type_name("ACTION");
    app.add_option("file", file_, "A table that `assay sweep --save-table` made")
        .required()
        .type_name("FILE");
    pool_.declare(app);
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const TableContents table, read_table_file(file_));
    ASSAY_TRY(const sweep::Request request, pool_.make_request(context, "table"));
    ASSAY_TRY(const sweep::MachineReport here, sweep::inspect(request, sweep::Inspection::brief));
    const auto stale = environment_differences(environment_of(table.origin), here.environment);
    const Console& console = context.console;
    context.console.result(console.json()
                               ? dump_pretty(to_json(table, stale))
                               : text(table, stale, {console.width_out(), console.colour_out()}));
    return kDone;
  }

 private:
  static Environment environment_of(const TableOrigin& origin) {
    Environment environment;
    environment.device.kind = origin.device_kind;
    environment.device.name = origin.device_name;
    environment.device.id = origin.device_id;
    for (const TableOrigin::Library& library : origin.libraries)
      environment.libraries.push_back(
          {library.provider, library.version, library.path, library.sha256});
    return environment;
  }

  static Json to_json(const TableContents& table, const std::vector<std::string>& stale) {
    Json kernels = Json::array();
    for (const TableKernel& kernel : table.kernels)
      kernels.push_back({{"provider", kernel.metadata.provider()},
                         {"name", kernel.metadata.name()},
                         {"id", kernel.metadata.id()},
                         {"artifact", kernel.artifact_hash},
                         {"code_bytes", kernel.blob ? kernel.blob->bytes.size() : 0}});
    Json problems = Json::array();
    for (const TableProblem& problem : table.problems) {
      Json choices = Json::array();
      for (const TableChoice& choice : problem.choices)
        choices.push_back({{"kernel", choice.kernel}, {"median_us", choice.median_us}});
      const TableKind& kind = table.kinds[problem.kind];
      Json sizes = Json::object();
      for (size_t d = 0; d < kind.dimensions.size(); ++d)
        sizes[kind.dimensions[d]] = problem.measures[d];
      problems.push_back({{"name", problem.name},
                          {"kind", kind.text},
                          {"sizes", std::move(sizes)},
                          {"choices", std::move(choices)}});
    }
    const TableOrigin& origin = table.origin;
    return {{"schema", "assay.table_listing/1"},
            {"created", origin.created},
            {"run", origin.run},
            {"assay_version", origin.assay_version},
            {"device", {{"name", origin.device_name}, {"id", origin.device_id}}},
            {"threads", origin.threads},
            {"condition", origin.condition},
            {"class", origin.race_class},
            {"stale", stale},
            {"needs", needs_of(table)},
            {"kernels", std::move(kernels)},
            {"problems", std::move(problems)}};
  }

  // Of a plug-in, or of a source file: a catalog has their kernels only where it was given the
  // file.
  static std::string need_of(const TableKernel& kernel) {
    const std::string family = sanitize(kernel.metadata.family(), 80);
    if (kernel.metadata.provider() != "plugin")
      return kernel.blob ? fmt::format("the source of '{}', or its manifest", family)
                         : std::string();
    const auto hash = kernel.artifact_facts.find("sha256");
    if (hash == kernel.artifact_facts.end() || !hash->is_string())
      return fmt::format("the plug-in '{}'", family);
    return fmt::format("the plug-in '{}' of SHA-256 {}", family,
                       sanitize(hash->get<std::string>(), 64));
  }

  static std::vector<std::string> needs_of(const TableContents& table) {
    std::map<std::string, std::vector<std::string>> kernels;  // By what they need.
    for (const TableKernel& kernel : table.kernels)
      if (const std::string need = need_of(kernel); !need.empty())
        kernels[need].push_back(sanitize(kernel.label(), 200));
    std::vector<std::string> sentences;
    for (const auto& [need, labels] : kernels)
      sentences.push_back(
          fmt::format("{}, for {}: give it where the table is loaded", need, join(labels, ", ")));
    return sentences;
  }

  static std::string text(const TableContents& table, const std::vector<std::string>& stale,
                          const report::TextStyle& style) {
    report::Table rows;
    rows.columns = {{.title = "shape", .shrinks_to = 12, .elide = report::Elide::middle},
                    {.title = "kernel", .shrinks_to = 20, .elide = report::Elide::middle},
                    {.title = "us", .align = report::Align::right},
                    {.title = "then"}};
    for (const TableProblem& problem : table.problems) {
      const TableChoice& winner = problem.choices.front();
      rows.rows.push_back(
          {{{problem.name},
            {sanitize(table.kernels[winner.kernel].label(), 240)},
            {report::microseconds(winner.median_us)},
            {problem.choices.size() > 1 ? fmt::format("{} more", problem.choices.size() - 1) : ""}},
           {}});
    }
    const TableOrigin& origin = table.origin;
    size_t code = 0, with_code = 0;
    for (const TableKernel& kernel : table.kernels) {
      code += kernel.blob ? kernel.blob->bytes.size() : 0;
      with_code += kernel.blob ? 1 : 0;
    }
    const std::vector<std::string> needs = needs_of(table);
    std::string out = report::text_table(rows, style) + '\n';
    const auto line = [&](std::string_view word, const std::string& sentence) {
      out += line_text({std::string(word), sentence}, style);
    };
    line("tuned", fmt::format("{} on {} ({}), {} thread{}, by assay {}",
                              sanitize(origin.created, 60), sanitize(origin.device_name, 200),
                              sanitize(origin.device_id, 60), origin.threads,
                              origin.threads == 1 ? "" : "s", sanitize(origin.assay_version, 60)));
    line("when", sanitize(fmt::format("{}; {}", origin.condition, origin.race_class), 400));
    line("holds", fmt::format("{} shape{} of {} kind{}, {} kernel{}{}", table.problems.size(),
                              table.problems.size() == 1 ? "" : "s", table.kinds.size(),
                              table.kinds.size() == 1 ? "" : "s", table.kernels.size(),
                              table.kernels.size() == 1 ? "" : "s",
                              with_code != 0  ? fmt::format(", code of {} ({})", with_code,
                                                            format_bytes(static_cast<double>(code)))
                              : needs.empty() ? std::string(", all of libraries or built in")
                                              : std::string()));
    for (const std::string& sentence : needs) line("needs", sentence);
    for (const std::string& sentence : stale) line("stale", sanitize(sentence, 400));
    if (stale.empty()) line("stale", "no: machine and libraries are as they were");
    return out;
  }

  std::string action_, file_;
  PoolOptions pool_;
};

}  // namespace

std::unique_ptr<Command> make_table_command() { return std::make_unique<TableCommand>(); }

}  // namespace assay::cli
