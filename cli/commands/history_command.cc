#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/store/store.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/files/find_record.h"
#include "cli/show/history_text.h"

namespace assay::cli {
namespace {

constexpr int kShown = 50;

Json json_of(const store::RunEntry& run) {
  return {{"id", run.id},
          {"kind", run.kind},
          {"created", run.created},
          {"suite", run.suite},
          {"assay_version", run.assay_version},
          {"device", run.device},
          {"device_id", run.device_id},
          {"trust", run.trust},
          {"record", run.record_path},
          {"threads", run.threads},
          {"problems", run.problems},
          {"kernels", run.kernels}};
}

Json json_of(const store::ResultEntry& result) {
  Json json = {{"run", result.run},
               {"created", result.created},
               {"device", result.device},
               {"problem", result.problem},
               {"key", result.key},
               {"condition", result.condition},
               {"class", result.race_class},
               {"id", result.kernel_id},
               {"provider", result.provider},
               {"kernel", result.kernel},
               {"role", result.role},
               {"artifact_hash", result.artifact_hash},
               {"ending", result.ending},
               {"us", result.us},
               {"confirmed", result.confirmed},
               {"winner", result.winner},
               {"verdict", nullptr}};
  if (!result.word.empty())
    json["verdict"] = {{"word", result.word},
                       {"other", result.other},
                       {"ratio", result.ratio},
                       {"low", result.low},
                       {"high", result.high}};
  return json;
}

class HistoryCommand : public Command {
 public:
  const char* name() const override { return "history"; }
  const char* summary() const override {
    return "What a store of runs knows: runs, a shape's winners, a kernel's times";
  }
  const char* example() const override {
    return "assay history --store runs.db --kernel openblas/sgemm --problem "
           "decode_qkv_m1_n6144_k4096";
  }

  const char* description() const override {
    return "Reads a store that --store of race and sweep filled. Alone it lists the runs; with a "
           "problem, which kernel won there and when; with a kernel, its times on each problem, "
           "machine and set of conditions apart.";
  }

  void declare(Flags& app) override {
    app.add_option("--store", store_, "The store to read, as race and sweep --store filled it")
        .type_name("FILE");
    app.add_option("--problem", query_.problem, "The winners of one shape, by its name or its key")
        .type_name("NAME");
    app.add_option(
           "--kernel", query_.kernel,
           "The times of one kernel: PROVIDER/NAME, its name, or the first digits of its id")
        .type_name("KERNEL");
    app.add_option("--suite", query_.suite, "Only runs of this suite").type_name("NAME");
    app.add_option("--kind", query_.kind, "Only runs of this kind: sweep, race, run")
        .type_name("KIND");
    app.add_option("--since", query_.since, "Only runs from this date on (UTC)").type_name("DATE");
    app.add_option("--until", query_.until, "Only runs before this date (UTC)").type_name("DATE");
    app.add_option("--last", query_.limit,
                   "How many lines to show at most, the newest; 0 shows all")
        .range(0, 1'000'000'000)
        .type_name("N")
        .show_default();
    app.add_option("--add", add_, "Put finished runs into the store: folders or record.json")
        .type_name("RUN");
    app.add_option("--get", get_, "Write this run's record to --output").type_name("ID");
    app.add_option("--output", output_,
                   "Where --get writes; the file is compressed if its name ends in .zst")
        .type_name("FILE");
  }

  Result<int> run(Context& context) override {
    if (store_.empty())
      return fail(ErrorCode::invalid_input,
                  "history: of which store? Give --store FILE, or the line `store: FILE` in a "
                  "--config");
    if (get_.empty() != output_.empty())
      return fail(ErrorCode::invalid_input, "--get ID and --output FILE belong together");
    if (!add_.empty()) return add(context.console);
    ASSAY_TRY(const auto store, store::open_store(store_, store::Access::read));
    if (!get_.empty()) return get(context.console, *store);
    return query_.problem.empty() && query_.kernel.empty() ? show_runs(context.console, *store)
                                                           : show_results(context.console, *store);
  }

 private:
  Result<int> add(Console& console) const {
    ASSAY_TRY(const auto store, store::open_store(store_, store::Access::write));
    Json added = Json::array();
    for (const std::string& run : add_) {
      ASSAY_TRY(const std::string path, find_record(run));
      ASSAY_TRY(const RunRecord record, load_record(path));
      ASSAY_TRY(const store::Put put, store->put(record, path));
      const bool is_new = put == store::Put::added;
      console.note(
          fmt::format("{} {}", sanitize(record.id, 200), is_new ? "added" : "was there already"));
      added.push_back({{"id", record.id}, {"added", is_new}});
    }
    if (console.json())
      console.result(
          dump_pretty({{"schema", "assay.history/1"}, {"store", store_}, {"runs", added}}));
    return kDone;
  }

  Result<int> get(Console& console, store::Store& store) const {
    std::error_code ignored;
    if (std::filesystem::exists(output_, ignored))
      return fail(ErrorCode::invalid_input,
                  "--output: '{}' is there already; name a file that is not",
                  sanitize(output_, 300));
    ASSAY_TRY(const RunRecord record, store.get(get_));
    ASSAY_TRY(write_record(output_, record));
    console.note("wrote " + output_);
    return kDone;
  }

  Result<int> show_runs(Console& console, store::Store& store) const {
    ASSAY_TRY(const auto runs, store.runs(query_));
    if (console.json()) return show_json(console, "runs", runs);
    console.result(runs_text(runs, style(console)));
    note_limit(console, runs.size());
    return kDone;
  }

  Result<int> show_results(Console& console, store::Store& store) const {
    store::Query query = query_;
    query.winners = query.kernel.empty();
    ASSAY_TRY(const auto results, store.history(query));
    if (console.json()) return show_json(console, "results", results);
    console.result(history_text(results, style(console)));
    if (results.empty()) ASSAY_TRY(note_near_kernel(console, store));
    note_limit(console, results.size());
    return kDone;
  }

  // A kernel that the store has and that may be meant.
  Status note_near_kernel(Console& console, store::Store& store) const {
    if (query_.kernel.empty()) return {};
    ASSAY_TRY(const auto all, store.history({}));
    std::set<std::string> names;
    for (const store::ResultEntry& result : all) {
      names.insert(result.kernel);
      names.insert(result.provider + "/" + result.kernel);
    }
    if (names.contains(query_.kernel)) return {};
    const std::vector<std::string> known(names.begin(), names.end());
    console.note(fmt::format("the store has no kernel '{}'{}", sanitize(query_.kernel, 200),
                             did_you_mean(query_.kernel, known)));
    return {};
  }

  template <class Entries>
  Result<int> show_json(Console& console, const char* what, const Entries& entries) const {
    Json list = Json::array();
    for (const auto& entry : entries) list.push_back(json_of(entry));
    console.result(dump_pretty({{"schema", "assay.history/1"}, {"store", store_}, {what, list}}));
    return kDone;
  }

  void note_limit(Console& console, std::size_t shown) const {
    if (query_.limit > 0 && shown == static_cast<std::size_t>(query_.limit))
      console.note(fmt::format("the newest {}; --last 0 shows all", shown));
  }

  static report::TextStyle style(const Console& console) {
    return {console.width_out(), console.colour_out()};
  }

  std::string store_, get_, output_;
  store::Query query_{.limit = kShown};
  std::vector<std::string> add_;
};

}  // namespace

std::unique_ptr<Command> make_history_command() { return std::make_unique<HistoryCommand>(); }

}  // namespace assay::cli
