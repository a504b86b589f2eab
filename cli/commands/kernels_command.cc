#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/device/target.h"
#include "assay/kernel/metadata_identity.h"
#include "assay/report/words.h"
#include "cli/exit_code.h"
#include "cli/files/kernel_files.h"
#include "cli/files/user_files.h"
#include "cli/flags/problem_flags.h"
#include "cli/flags/race_options.h"
#include "cli/race/compile_only.h"
#include "cli/show/entry_list.h"

namespace assay::cli {
namespace {

constexpr size_t kShownId = 12;  // Enough to find a kernel again by `assay run`.
constexpr int kNoWidth = 1 << 20;

// Rows as JSON while they are read: what rows share is turned into text once.
class JsonRows {
 public:
  explicit JsonRows(Console& console) : console_(console) {}

  // Behind so many spaces.
  static std::string indented(const Json& value, size_t depth) {
    std::string text = dump_pretty(value);
    text.pop_back();  // Its line's end.
    const std::string spaces(depth, ' ');
    for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
      text.insert(at + 1, spaces);
    return text;
  }

  void text(std::string_view more) {
    buffer_ += more;
    if (buffer_.size() > kMostBuffered) flush();
  }

  void row(const process::OfferedKernel& row) {
    const KernelMetadata& metadata = row.metadata;
    if (metadata.traits != traits_) {
      traits_ = metadata.traits;
      shared_.clear();
      const Json shared = metadata.shared_json();
      for (const auto& [key, value] : shared.items()) shared_[key] = indented(value, kDepth);
    }
    std::map<std::string_view, std::string_view> members(shared_.begin(), shared_.end());
    std::map<std::string, std::string> own;
    const Json own_json = metadata.own_json(ids_.id(metadata));
    for (const auto& [key, value] : own_json.items()) own[key] = indented(value, kDepth);
    own["role"] = fmt::format("\"{}\"", to_string(row.role));
    members.insert(own.begin(), own.end());
    std::string_view before = "{\n          \"";
    for (const auto& [key, value] : members) {
      buffer_ += before;
      buffer_.append(key).append("\": ").append(value);
      before = ",\n          \"";
    }
    text("\n        }");
  }

  void flush() {
    console_.result(buffer_);
    buffer_.clear();
  }

 private:
  static constexpr size_t kDepth = 10, kMostBuffered = 1 << 18;
  Console& console_;
  std::string buffer_;
  KernelIds ids_;
  std::shared_ptr<const KernelTraits> traits_;  // Of the row before.
  std::map<std::string, std::string> shared_;
};

class KernelsCommand : public Command {
 public:
  const char* name() const override { return "kernels"; }
  const char* summary() const override {
    return "Every kernel there is, or all that can take a shape; why others cannot";
  }
  const char* example() const override {
    return "assay kernels --shape m=1,n=4096,k=4096,dtype=bf16 --why";
  }

  void declare(Flags& app) override {
    files_.declare_words(app,
                         "Your manifests or sources, to show what they became. With a shape, a "
                         "provider or a filter, the rest of the pool is listed too");
    problems_.declare(app);
    files_.declare_kernels(app, "More of your files");
    app.set_group(FlagGroup::more);
    app.add_option("--target", target_,
                   "The target to list kernels for, instead of this machine: x86_64+avx2+fma")
        .type_name("TARGET");
    app.add_flag("--compile", compile_,
                 "Compile the listed kernels of the named providers for --target, a GPU that "
                 "need not be here; nothing runs");
    app.set_group(FlagGroup::output);
    app.add_flag("--why", why_, "Show why kernels were refused, counted by reason");
    ranking_.declare(app);
    pool_.declare(app);
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(files_.check("kernels"));
    ASSAY_TRY(sweep::Request request, pool_.make_request(context, "kernels"));
    ASSAY_TRY(sources_, read_sources(files_.all()));
    bring_first(request, sources_);
    ASSAY_TRY(problems_.complete(context.console, sources_));
    if (compile_) return compile(context, request);
    if (!ranking_.build.empty())
      return fail(ErrorCode::invalid_input, "--build says how many --compile compiles; give both");
    if (ranking_.ranker != default_ranker())
      return fail(ErrorCode::invalid_input,
                  "--ranker says in whose order --compile compiles; give both");
    std::string target;
    if (!target_.empty()) {
      ASSAY_TRY(const Target parsed, Target::parse_known(target_));
      target = parsed.to_string();
    } else if (pool_.providers.empty()) {
      ASSAY_TRY(keep_those_of_the_device(request, {}));
    }
    ASSAY_TRY(check_settings(request));
    if (asks_for_files_alone()) request.pool.providers.clear();
    Json entries = Json::array();
    std::vector<Listed> list;
    std::string text;
    if (!sources_.empty()) {
      ASSAY_TRY(const auto brought, bring_entries(request, sources_));
      entries = entries_json(brought);
      text += entries_text(brought, {context.console.width_out(), context.console.colour_out()});
    }
    const auto add = [&](const Problem* problem) -> Status {
      ASSAY_TRY(sweep::Discovery found, sweep::discover(request, problem, target));
      if (context.console.json())
        list.push_back({problem, std::move(found)});
      else
        text += to_text(context.console, problem, found);
      return {};
    };
    input::Suite suite;
    if (asks_for_pool() && problems_.empty()) {
      ASSAY_TRY(add(nullptr));
    } else if (asks_for_pool()) {
      ASSAY_TRY(suite, problems_.read("transformer_cpu"));
      for (const Problem& problem : suite.problems) ASSAY_TRY(add(&problem));
    }
    if (!context.console.json()) {
      context.console.result(text);
      return kDone;
    }
    JsonRows out(context.console);
    out.text(
        fmt::format("{{\n  \"entries\": {},\n  \"problems\": [", JsonRows::indented(entries, 2)));
    for (size_t i = 0; i < list.size(); ++i) {
      out.text(i == 0 ? "\n    " : ",\n    ");
      write_json(list[i], out);
    }
    out.text(fmt::format("{}],\n  \"schema\": \"assay.kernels/1\",\n  \"target\": {}\n}}\n",
                         list.empty() ? "" : "\n  ", Json(target).dump()));
    out.flush();
    return kDone;
  }

 private:
  // Who shows files alone wants to see what they are, not everything besides.
  bool asks_for_pool() const {
    return sources_.empty() || !problems_.empty() || !pool_.providers.empty() ||
           !pool_.filter.empty() || !target_.empty() || why_;
  }
  // Of files for a target: whether they can be there, and why not.
  bool asks_for_files_alone() const {
    return !sources_.empty() && problems_.empty() && pool_.providers.empty() &&
           pool_.filter.empty();
  }

  Result<int> compile(Context& context, sweep::Request& request) {
    if (target_.empty() || pool_.providers.empty() || problems_.empty() || !sources_.empty())
      return fail(ErrorCode::invalid_input,
                  "--compile: say for which GPU, of whom and for which problem, for example "
                  "--target sm_90a --provider cutlass --shape m=16,n=6144,k=4096,dtype=f16; files "
                  "are compiled by assay race FILE --target");
    ASSAY_TRY(problems_.fill(request, "", context.console));
    ASSAY_TRY(ranking_.fill(request));
    return compile_only(context, request, {}, target_, request.pool.providers);
  }

  struct Listed {
    const Problem* problem = nullptr;  // Null: whatever the problem.
    sweep::Discovery found;
  };

  // As dump_pretty() would of one value, which would hold the rules of 150,000 rows.
  static void write_json(const Listed& listed, JsonRows& out) {
    const sweep::Discovery& found = listed.found;
    const Problem* const problem = listed.problem;
    out.text("{\n      \"kernels\": [");
    for (size_t i = 0; i < found.rows.size(); ++i) {
      out.text(i == 0 ? "\n        " : ",\n        ");
      out.row(found.rows[i]);
    }
    out.text(found.rows.empty() ? "]" : "\n      ]");
    Json refusals = Json::array();
    for (const auto& [reason, refusal] : found.refusals)
      refusals.push_back({{"reason", std::string(to_string(reason))},
                          {"count", refusal.count},
                          {"example", refusal.example}});
    const Json rest = {{"missing", found.missing},
                       {"name", problem == nullptr ? Json(nullptr) : Json(problem->name())},
                       {"problem", problem == nullptr ? Json(nullptr) : problem->to_json()},
                       {"refusals", std::move(refusals)},
                       {"refused", found.refusals.total()}};
    for (const auto& [key, value] : rest.items())
      out.text(fmt::format(",\n      \"{}\": {}", key, JsonRows::indented(value, 6)));
    out.text("\n    }");
  }

  std::string to_text(const Console& console, const Problem* problem,
                      const sweep::Discovery& found) const {
    const report::TextStyle style{console.width_out(), console.colour_out()};
    std::string text =
        fmt::format("{}{} kernel{}, {} refused\n", problem == nullptr ? "" : problem->name() + ": ",
                    report::thousands(static_cast<std::int64_t>(found.rows.size())),
                    found.rows.size() == 1 ? "" : "s", report::thousands(found.refusals.total()));
    // Who reads a pipe or a file has room for whole lines.
    const report::TextStyle table{console.terminal_out() ? style.width : kNoWidth, style.colour};
    if (!found.rows.empty()) text += report::text_table(kernel_table(found), table);
    for (const auto& [provider, reason] : found.missing)
      text += report::wrap(fmt::format("{} is missing: {}", provider, sanitize(reason, 400)),
                           style.width, 2);
    if (why_ && !found.refusals.empty())
      text += '\n' + report::text_table(refusal_table(found), table);
    return text + '\n';
  }

  static report::Table kernel_table(const sweep::Discovery& found) {
    report::Table table;
    table.columns = {{.title = "kernel", .shrinks_to = 20, .elide = report::Elide::middle},
                     {.title = "id"},
                     {.title = "role"},
                     {.title = "notes"}};
    KernelIds ids;
    for (const process::OfferedKernel& row : found.rows) {
      const KernelMetadata& metadata = row.metadata;
      std::vector<std::string> notes;
      if (metadata.prepares()) notes.emplace_back("prepares");
      if (metadata.dependent_launch()) notes.emplace_back("dependent launch");
      if (!metadata.deterministic()) notes.emplace_back("not deterministic");
      if (metadata.error_bound() != ErrorBound::elementwise)
        notes.emplace_back(to_string(metadata.error_bound()));
      if (metadata.design.truth("default", false)) notes.emplace_back("default");
      table.rows.push_back({{{sanitize(metadata.provider() + '/' + metadata.name(), 240)},
                             {ids.id(metadata).substr(0, kShownId)},
                             {std::string(to_string(row.role))},
                             {join(notes, ", ")}},
                            {}});
    }
    return table;
  }

  static report::Table refusal_table(const sweep::Discovery& found) {
    report::Table table;
    table.columns = {{.title = "refused for"},
                     {.title = "kernels", .align = report::Align::right},
                     {.title = "example", .shrinks_to = 20}};
    for (const auto& [reason, refusal] : found.refusals)
      table.rows.push_back({{{std::string(to_string(reason))},
                             {report::thousands(refusal.count)},
                             {sanitize(refusal.example, 2000)}},
                            {}});
    return table;
  }

  ProblemFlags problems_;
  std::string target_;
  KernelFiles files_;
  std::vector<input::KernelSource> sources_;  // Of all of its files.
  bool why_ = false, compile_ = false;
  RankingOptions ranking_;
  PoolOptions pool_;
};

}  // namespace

std::unique_ptr<Command> make_kernels_command() { return std::make_unique<KernelsCommand>(); }

}  // namespace assay::cli
