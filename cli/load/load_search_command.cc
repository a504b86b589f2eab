#include <algorithm>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/load/search.h"
#include "assay/report/table.h"
#include "cli/exit_code.h"
#include "cli/flags/number.h"
#include "cli/load/load_axis.h"
#include "cli/load/load_commands.h"
#include "cli/load/load_flags.h"
#include "cli/load/run_plan.h"

namespace assay::cli {
namespace {

class LoadSearchCommand : public Command {
 public:
  const char* name() const override { return "search"; }
  const char* summary() const override {
    return "The largest load under which a server keeps what it shall keep";
  }
  const char* example() const override {
    return "assay load search --base-url http://127.0.0.1:8000 --slo 'ttft_ms.p95<200'";
  }
  const char* description() const override {
    return "Doubles the load until an objective fails, halves the bracket, and confirms the answer "
           "in three fresh runs. It says so if the client, not the server, was the limit. What was "
           "tried is kept, and told, when the search is interrupted.";
  }

  void declare(Flags& app) override {
    flags_.declare(app);
    app.set_group(FlagGroup::measuring);
    app.add_option("--slo", slos_, "What must hold, commas between: ttft_ms.p95<200,tpot_ms.p95<20")
        .type_name("FIGURE<BOUND")
        .several_words(false)
        .delimiter(',');
    axis_.declare(app);
    app.add_option("--from", from_, "The first load").type_name("LOAD").show_default();
    app.add_option("--most", most_, "The largest load").type_name("LOAD").show_default();
    app.add_option("--resolution", resolution_, "How closely it is found, as a share")
        .type_name("SHARE")
        .show_default();
    app.set_group(FlagGroup::output);
    app.add_option("--output", output_, "Gets the search as JSON").type_name("FILE");
  }

  Result<int> run(Context& context) override {
    std::vector<load::Requirement> requirements;
    for (const std::string& text : slos_) {
      ASSAY_TRY(load::Requirement requirement, load::parse_requirement(text));
      requirements.push_back(std::move(requirement));
    }
    if (requirements.empty())
      return fail(ErrorCode::invalid_input,
                  "load search: what must hold? Give --slo 'ttft_ms.p95<200'");
    load::SearchOptions options;
    options.whole = axis_.is_whole();
    ASSAY_TRY(options.from, parse_number(from_, "--from", 1e-3, 65536));
    ASSAY_TRY(options.most, parse_number(most_, "--most", options.from, 65536));
    ASSAY_TRY(options.resolution, parse_number(resolution_, "--resolution", 0.001, 0.5));
    ASSAY_TRY(const std::string base_url, flags_.base_url());
    ASSAY_TRY(const load::LoadPlan plan, flags_.plan(context, base_url));
    load::SearchResult result;
    const auto attempt = [&](double load, int number) -> Result<load::Tried> {
      ASSAY_TRY(load::Tried tried, try_load(context, plan, requirements, load, number));
      tried.load = load;
      result.tried.push_back(tried);
      return tried;
    };
    const auto found = load::search_load(options, attempt);
    if (!found && result.tried.empty()) return fail(found.error());
    if (found) result = *found;
    Json json = load::search_json(result);
    json["over"] = axis_.name();
    json["plan"] = load::plan_json(plan);
    json["whole"] = found.has_value();
    if (!output_.empty()) ASSAY_TRY(write_file_atomic(output_, dump_pretty(json)));
    if (!found && found.error().code != ErrorCode::interrupted) return fail(found.error());
    context.console.result(context.console.json() ? dump_pretty(json)
                           : found                ? text(result)
                                                  : text_so_far(result));
    if (!found) return kInterrupted;
    return result.largest > 0 && !result.client_limited ? kDone : kRefuted;
  }

 private:
  Result<load::Tried> try_load(Context& context, const load::LoadPlan& plan,
                               const std::vector<load::Requirement>& requirements, double load,
                               int number) const {
    ASSAY_TRY(const load::Judged judged,
              measure_plan(context, flags_, axis_.at(plan, load),
                           plan.seed + static_cast<std::uint64_t>(number),
                           fmt::format("search, {} {:.4g}", axis_.name(), load)));
    load::Tried tried;
    tried.client_limited = judged.client.limited || !judged.delivered.as_asked;
    tried.keeps = true;
    for (const load::Requirement& requirement : requirements) {
      const auto value = judged.metrics.find(requirement.metric);
      if (!value)
        return fail(ErrorCode::invalid_input, "--slo {}: a run has no such figure",
                    requirement.text);
      tried.keeps = tried.keeps && requirement.holds(*value);
    }
    // An answer that failed keeps nothing.
    if (judged.metrics.errored > 0) tried.keeps = false;
    // Nor does a server that had less to do than was asked for.
    const bool delivered = judged.delivered.as_asked;
    tried.keeps = tried.keeps && delivered;
    const char* word = tried.keeps ? "keeps it"
                       : delivered ? "does not keep it"
                                   : "was not delivered";
    context.console.note(fmt::format("{} {:.4g}: {}{}", axis_.name(), load, word,
                                     tried.client_limited ? " (the client was the limit)" : ""));
    return tried;
  }

  // Nothing of it is confirmed.
  std::string text_so_far(const load::SearchResult& result) const {
    double most = 0;
    for (const load::Tried& tried : result.tried)
      if (tried.keeps) most = std::max(most, tried.load);
    std::string line = fmt::format("the search ended after {} runs; ", result.tried.size());
    line += most > 0 ? fmt::format("{} {:.4g} kept it so far", axis_.name(), most)
                     : std::string("none kept it so far");
    return line + '\n';
  }

  std::string text(const load::SearchResult& result) const {
    std::string line =
        result.largest == 0
            ? fmt::format("not even {} {} keeps it", axis_.name(), from_)
            : fmt::format("the largest {} that keeps it: {:.4g}", axis_.name(), result.largest);
    if (result.reached_most) line += ", the most that was tried";
    if (result.client_limited) line += "; the client was the limit: the server may bear more";
    return line + '\n';
  }

  LoadFlags flags_;
  LoadAxis axis_;
  std::vector<std::string> slos_;
  std::string from_ = "1", most_ = "4096", resolution_ = "0.02", output_;
};

}  // namespace

std::unique_ptr<Command> make_load_search_command() {
  return std::make_unique<LoadSearchCommand>();
}

}  // namespace assay::cli
