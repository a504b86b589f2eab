// assay_bench: measures the performance targets, prints a table (target, bound, measured, ok), and
// ends with 1 if a bound that is no stretch was missed, 2 if it was asked for what there is not.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/base/version.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/device/device_lock.h"
#include "assay/measure/environment.h"
#include "assay/referee/referee.h"
#include "assay/report/table.h"
#include "assay/worker/worker.h"
#include "bench/orchestration.h"
#include "bench/roles.h"
#include "bench/row.h"
#include "bench/runs.h"
#include "bench/slowed_family.h"
#include "bench/synthetic_family.h"

namespace assay::bench {
namespace {

// Parts whose names begin alike, gpu_same_m1_chain and gpu_same_m1_isolated, are also asked for by
// what they share: gpu_same_m1, gpu_same, gpu.
struct Entry {
  const char* name;
  Measurement measure;
  bool by_name_alone = false;  // Not where --only says nothing.
};
constexpr Entry kEntries[] = {
    {"discovery", measure_discovery},
    {"ranking", measure_ranking},
    {"launch", measure_launch},
    {"orchestration", measure_orchestration},
    {"same_within", measure_same<Company::one_process>},
    {"same_across", measure_same<Company::two_processes>},
    {"coverage", measure_coverage},
    {"sensitivity_within", measure_sensitivity<Company::one_process>},
    {"sensitivity_across", measure_sensitivity<Company::two_processes>},
    {"racing", measure_racing},
    {"native", measure_native},
    {"native_table_decode", measure_native_table_decode, true},
    {"native_table_prefill", measure_native_table_prefill, true},
    {"native_threads", measure_native_threads, true},
    {"native_amx", measure_native_amx, true},
    {"table", measure_table},
    {"cutlass", measure_cutlass},
    {"startup", measure_startup},
    {"python", measure_python},
    {"regret", measure_regret, true},
    {"trust", measure_trust, true},
    {"gpu_same_m1_chain", measure_gpu_same_m1<measure::Spacing::chain>, true},
    {"gpu_same_m1_back_to_back", measure_gpu_same_m1<measure::Spacing::back_to_back>, true},
    {"gpu_same_m1_isolated", measure_gpu_same_m1<measure::Spacing::isolated>, true},
    {"gpu_same_m16_chain", measure_gpu_same_m16<measure::Spacing::chain>, true},
    {"gpu_same_m16_back_to_back", measure_gpu_same_m16<measure::Spacing::back_to_back>, true},
    {"gpu_same_m16_isolated", measure_gpu_same_m16<measure::Spacing::isolated>, true},
    {"gpu_same_large_chain", measure_gpu_same_large<measure::Spacing::chain>, true},
    {"gpu_same_large_back_to_back", measure_gpu_same_large<measure::Spacing::back_to_back>, true},
    {"gpu_same_large_isolated", measure_gpu_same_large<measure::Spacing::isolated>, true},
    {"gpu_sensitivity_short", measure_gpu_sensitivity_short, true},
    {"gpu_sensitivity_long", measure_gpu_sensitivity_long, true},
    {"gpu_cheat_qkv", measure_gpu_cheat_qkv, true},
    {"gpu_cheat_o", measure_gpu_cheat_o, true},
    {"gpu_cheat_up", measure_gpu_cheat_up, true},
    {"gpu_cheat_down", measure_gpu_cheat_down, true},
    {"gpu_host", measure_gpu_host, true},
    {"gpu_race", measure_gpu_race, true},
    {"gpu_decode", measure_gpu_decode, true},
    {"gpu_prefill", measure_gpu_prefill, true},
    {"gpu_start", measure_gpu_start, true},
    {"gpu_profiler", measure_gpu_profiler, true},
    {"gpu_profiler_no_sleep", measure_gpu_profiler_no_sleep, true},
    {"gpu_pool", measure_gpu_pool, true},
    {"gpu_compile", measure_gpu_compile, true}};

// Parts that a word of --only means: of that name, or else all whose names begin with it.
std::vector<std::string> parts_of(const std::string& word) {
  std::vector<std::string> parts;
  for (const Entry& entry : kEntries)
    if (entry.name == word) return {word};
  for (const Entry& entry : kEntries)
    if (std::string_view(entry.name).starts_with(word + '_')) parts.emplace_back(entry.name);
  return parts;
}

// What --only says of a word that means no part; empty: it does.
std::string check_part(const std::string& word) {
  if (!parts_of(word).empty()) return {};
  std::vector<std::string> names;
  for (const Entry& entry : kEntries) names.emplace_back(entry.name);
  return fmt::format("there is no part '{}'{}; there are: {}", sanitize(word, 80),
                     did_you_mean(word, names), join(names, ", "));
}

// A worker's catalog, with the in-process family that its environment names.
int be_worker() {
  const auto providers = built_in_providers();
  const char* value = std::getenv(kFamilyVariable);
  const std::string_view wanted = value == nullptr ? "" : value;
  // A setup is native code of a user's: none where nothing is asked for.
  sweep::CatalogSetup setup;
  if (wanted.starts_with("plain:"))
    setup = [&](Catalog& catalog) {
      catalog.add("bench", ProviderRole::user,
                  make_synthetic_family(std::atoll(value + 6), Synthetic::plain));
    };
  if (wanted.starts_with("slowed:"))
    setup = [&](Catalog& catalog) {
      if (auto family = make_slowed_family(providers, value + 7))
        catalog.add("slowed", ProviderRole::user, std::move(*family));
    };
  const Status served = sweep::worker_main(providers, setup);
  return served ? 0 : 1;
}

std::string machine_line() {
  const auto topology = cpu::read_topology();
  const Target target = cpu::host_target();
  const auto has = [&](const char* feature) {
    return fmt::format("{}{}", target.features.contains(feature) ? "" : "no ", feature);
  };
  return fmt::format(
      "{}, {} of {} CPUs, last-level cache {} MiB, load {:.1f}; {}, {}, {}\n"
      "Needs AVX2 and FMA for native_cpu; AVX-512 and avx512_bf16 for its best rows (stretch), "
      "OpenBLAS and oneDNN for all races.\n",
      topology.model, topology.logical, topology.machine_logical, topology.l3_bytes >> 20,
      measure::other_load(), has("avx2"), has("avx512f"), has("avx512_bf16"));
}

Json to_json(const Row& row) {
  return {{"target", row.target},  {"bound", row.bound},     {"measured", row.measured},
          {"ok", row.ok},          {"stretch", row.stretch}, {"notes", row.notes},
          {"details", row.details}};
}

const char* word_of(const Row& row) {
  return row.ok ? "ok" : row.stretch ? "not yet (stretch)" : "MISSED";
}

void print(const std::vector<Row>& rows) {
  report::Table table;
  table.columns = {{"target"}, {"bound"}, {"measured"}, {"ok"}};
  std::string notes;
  for (const Row& row : rows) {
    table.rows.push_back({{{row.target}, {row.bound}, {row.measured}, {word_of(row)}}, ""});
    for (const std::string& note : row.notes) notes += note + '\n';
  }
  const report::TextStyle style{200, false};
  std::fputs((report::text_table(table, style) + '\n' + notes).c_str(), stdout);
  std::fflush(stdout);
}

// Its rows, shown as they are measured, and as JSON.
std::vector<Row> measure(const Entry& entry, const Context& context, Json& written) {
  const int64_t start = monotonic_ns();
  auto measured = entry.measure(context);
  if (!measured) {
    Row row{.target = entry.name, .measured = "could not be measured"};
    row.notes.push_back(
        fmt::format("{}: {}", entry.name, sanitize(measured.error().message, 1000)));
    measured = std::vector<Row>{std::move(row)};
  }
  const double seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
  for (const Row& row : *measured) {
    written.push_back(to_json(row));
    written.back()["name"] = entry.name;
    written.back()["seconds"] = seconds;
    std::string text =
        fmt::format("  {}: {}; {} ({})\n", row.target, row.measured, word_of(row), row.bound);
    for (const std::string& note : row.notes) text += "    " + note + '\n';
    std::fputs(text.c_str(), stderr);
  }
  std::fprintf(stderr, "  %.0f s\n", seconds);
  return std::move(*measured);
}

// Beside the program, where builds leave what they make.
std::filesystem::path beside_program(const char* name) {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / name;
}

int bench(int argc, char** argv) {
  std::vector<std::string> only;
  std::string output = beside_program("assay_bench.json").string();
  std::string folder = beside_program("bench_runs").string();
  Context context;
  CLI::App app{"Measures assay's performance targets"};
  app.add_option("--only", only,
                 "Only these parts, or all that begin so: gpu_same_m1_chain, gpu_same, gpu")
      ->type_name("PART")
      ->check(check_part);
  app.add_option("--output", output, "Results as JSON")->type_name("FILE")->capture_default_str();
  app.add_option("--folder", folder, "Where runs leave their records")->type_name("DIR");
  app.add_flag("--quick", context.quick, "A few of each: whether it works, not whether it is met");
  app.add_option("--problems", context.problems, "Of the regret row: half tuned, half asked for")
      ->check(CLI::Range(4, 10'000))
      ->capture_default_str();
  app.add_option("--seeds", context.seeds,
                 "Of the gpu_cheat rows: fresh seeds for each shape, which share its 20 proofs")
      ->check(CLI::Range(1, 20))
      ->capture_default_str();
  std::string trust_log = beside_program("assay_bench_trust.jsonl").string();
  app.add_option("--trust-seeds", context.trust_seeds, "Of the trust rows: the first and the last")
      ->type_name("SEED")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option(
         "--share,--trust-share", context.trust_share,
         "Of the rows trust, same, coverage and sensitivity: which share of their races, of how "
         "many, so that several benches part them. Trust logs are put together by joining files, "
         "outputs by bench/join.py")
      ->type_name("SHARE OF")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--trust-log", trust_log,
                 "Of the trust rows: a line for each kernel that was raced; what is there counts, "
                 "and is not raced again")
      ->type_name("FILE")
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (context.trust_share.first > context.trust_share.second) {
    std::fprintf(stderr, "--share: there is no share %d of %d\n", context.trust_share.first,
                 context.trust_share.second);
    return 2;
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    std::fprintf(stderr, "--folder: cannot make '%s': %s\n", folder.c_str(),
                 error.message().c_str());
    return 2;
  }
  context.folder = std::filesystem::absolute(folder);
  context.trust_log = std::filesystem::absolute(trust_log);
  DeviceLockOptions locks;
  locks.fallback = context.folder;
  if (const char* given = std::getenv("ASSAY_LOCK_DIR")) locks.folder = given;
  const auto say = [](std::string_view line) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  };
  const auto lock = DeviceLock::hold("cpu", locks, in_two_lines(say));
  if (!lock) {
    std::fprintf(stderr, "%s\n", lock.error().message.c_str());
    return 2;
  }
  const std::string machine = machine_line();
  std::fputs(machine.c_str(), stdout);
  std::fflush(stdout);

  std::set<std::string> wanted;
  for (const std::string& word : only)
    for (std::string& part : parts_of(word)) wanted.insert(std::move(part));
  const BuildInfo& build = build_info();
  Json results = {{"schema", "assay.bench/1"},      {"created", utc_now_iso8601()},
                  {"quick", context.quick},         {"machine", machine},
                  {"version", build.version},       {"revision", build.revision},
                  {"build_type", build.build_type}, {"rows", Json::array()}};
  std::vector<Row> rows;
  for (const Entry& entry : kEntries) {
    if (only.empty() ? entry.by_name_alone : !wanted.contains(entry.name)) continue;
    std::fprintf(stderr, "%s\n", entry.name);
    for (Row& row : measure(entry, context, results["rows"])) rows.push_back(std::move(row));
    // At once: a bench that is cut short keeps what it has.
    if (const Status saved = write_file_atomic(output, dump_pretty(results)); !saved) {
      std::fprintf(stderr, "--output: %s\n", saved.error().message.c_str());
      return 2;
    }
  }
  print(rows);
  for (const Row& row : rows)
    if (!row.ok && !row.stretch) return 1;
  return 0;
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  using namespace assay;  // NOLINT: main is outside.
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (role == "worker") return bench::be_worker();
  if (role == "referee") return sweep::referee_main() ? 0 : 1;
  if (role == "spin") return bench::spin();
  if (role == "pinned" && argc > 2) return bench::pinned_main(argv + 2);
  if (role == "first_launch" && argc == 5)
    return bench::first_launch_main(argv[2], argv[3], argv[4]);
  if (role == "schedule" && argc == 5) return bench::schedule_main(argv[2], argv[3], argv[4]);
  return bench::bench(argc, argv);
}
