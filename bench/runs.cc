#include "bench/runs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/kernel/taker.h"
#include "assay/record/conclude.h"
#include "assay/record/plain_verdict.h"
#include "assay/stats/robust.h"

namespace assay::bench {
namespace {

constexpr double kProblemSeconds = 3;  // Of timing, for a race of two.

class Progress : public sweep::Observer {
 public:
  explicit Progress(const sweep::Request& request) : request_(request), start_(monotonic_ns()) {}
  void on_stage(const std::string& stage, size_t done, size_t total, const std::string&) override {
    if (!terminal_) return;
    show(fmt::format("{} {} of {}", stage, done, total));
    std::fflush(stderr);
  }
  void on_problem_done(size_t index, const ProblemRecord&, bool) override {
    const bool last = index + 1 == request_.question.problems.size();
    if (!last && !terminal_) return;
    show(fmt::format("{} of {}", index + 1, request_.question.problems.size()));
    if (last) std::fputc('\n', stderr);
    std::fflush(stderr);
  }

 private:
  // One line, over what it said before.
  void show(const std::string& what) const {
    std::fprintf(stderr, "%s  %-36s %6.1f s  %-32s", terminal_ ? "\r" : "",
                 request_.keep.folder.filename().c_str(),
                 static_cast<double>(monotonic_ns() - start_) * 1e-9, what.c_str());
  }

  const sweep::Request& request_;
  int64_t start_;
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
};

double half_width_of(const stats::Verdict& verdict) {
  return verdict.has_interval() ? (std::log(verdict.high) - std::log(verdict.low)) / 2 : HUGE_VAL;
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double last = static_cast<double>(values.size() - 1);
  return values[static_cast<size_t>(std::ceil(share * last))];
}

}  // namespace

std::vector<std::string> child_environment(const std::string& family) {
  std::vector<std::string> environment;
  for (const char* name : {"PATH", "LD_LIBRARY_PATH", "HOME", "TMPDIR"})
    if (const char* value = std::getenv(name))
      environment.push_back(fmt::format("{}={}", name, value));
  if (!family.empty()) environment.push_back(fmt::format("{}={}", kFamilyVariable, family));
  return environment;
}

sweep::Request make_request(const Context& context, const std::string& name,
                            const std::vector<std::string>& providers) {
  sweep::Request request;
  request.question.suite = "bench";
  for (const std::string& provider : providers)
    request.pool.providers.push_back({provider, "", {}});
  request.venue.threads = 1;
  request.keep.folder = context.folder / name;
  // An earlier bench's run is of no use; only a folder that holds one is removed.
  std::error_code ignored;
  if (std::filesystem::exists(request.keep.folder / "journal.jsonl", ignored))
    std::filesystem::remove_all(request.keep.folder, ignored);
  request.keep.if_present = sweep::IfPresent::fresh;
  request.keep.cache = context.folder / "cache";
  request.caller.environment = child_environment();
  request.caller.device_held = true;  // By main(), from its first row to its last.
  return request;
}

Result<std::vector<input::KernelSource>> read_sources(const std::vector<std::string>& files) {
  const auto providers = built_in_providers();
  return input::read_sources(files, launch_forms(providers));
}

Result<RunRecord> run(const sweep::Request& request) {
  sweep::Request asked = request;
  if (asked.effort.budget_seconds == 0)
    asked.effort.budget_seconds =
        kProblemSeconds * static_cast<double>(asked.question.problems.size());
  Progress progress(asked);
  // Rows judge samples, which are in the record alone.
  auto record = sweep::run(asked, progress).and_then([&](const RunRecord&) {
    return load_record((asked.keep.folder / "record.json").string());
  });
  if (!record) return fail(with_context(record.error(), asked.keep.folder.filename().string()));
  return record;
}

Result<std::string> library_of(const std::string& provider) {
  for (const auto& one : built_in_providers()) {
    if (one->info().name != provider) continue;
    const Availability availability = one->availability({});
    if (availability.available) return availability.path;
    return fail(ErrorCode::missing, "{}", availability.reason);
  }
  return fail(ErrorCode::missing, "there is no provider {}", provider);
}

Result<std::vector<process::AskedProvider>> with_copy(const Context& context,
                                                      const std::string& provider) {
  ASSAY_TRY(const std::string library, library_of(provider));
  const std::filesystem::path copy = context.folder / (provider + "_copy.so");
  std::error_code error;
  std::filesystem::copy_file(library, copy, std::filesystem::copy_options::overwrite_existing,
                             error);
  if (error)
    return fail(ErrorCode::machine, "cannot copy '{}' to '{}': {}", library, copy.string(),
                error.message());
  return std::vector<process::AskedProvider>{
      {provider, "", {}}, {provider, provider + "_copy", {{"library", copy.string()}}}};
}

Result<std::vector<Problem>> repeated(const std::vector<gemm::Shape>& shapes, int count) {
  std::vector<Problem> problems;
  for (int i = 0; i < count; ++i) {
    gemm::Shape shape = shapes[static_cast<size_t>(i) % shapes.size()];
    shape.name = fmt::format("race{:03}_m{}_n{}_k{}", i, shape.m, shape.n, shape.k);
    ASSAY_TRY(problems.emplace_back(), gemm::problem(shape));
  }
  return problems;
}

std::optional<Pair> judge_pair(const ProblemRecord& problem, const RunOptions& options,
                               const std::string& candidate_id, const std::string& other_id) {
  const auto verdict = verdict_between(problem, options, candidate_id, other_id);
  if (!verdict) return std::nullopt;
  const Confirmation* confirmation = problem.decisive();
  const auto means = pair_means(confirmation->processes, candidate_id, other_id);
  Pair pair;
  pair.problem = problem.name;
  pair.shape = fmt::format("m{} n{} k{}", problem.dimension("m", 0), problem.dimension("n", 0),
                           problem.dimension("k", 0));
  pair.verdict = *verdict;
  pair.log_ratio = std::log(pair.verdict.ratio);
  pair.half_width = half_width_of(pair.verdict);
  pair.rounds = confirmation->rounds;
  pair.wanted = confirmation->wanted_rounds;
  int rounds = 0, clean = 0;
  std::vector<double> within;
  for (const stats::ProcessMean& mean : means) {
    rounds += mean.rounds;
    clean += mean.clean_rounds;
    within.push_back(mean.standard_error);
  }
  if (rounds > 0) pair.clean_share = static_cast<double>(clean) / rounds;
  if (!within.empty()) pair.within = stats::median(within);
  return pair;
}

std::string kernel_of(const ProblemRecord& problem, const std::string& provider) {
  for (const KernelOutcome& kernel : problem.kernels)
    if (kernel.provider == provider && is_timed(kernel.ending)) return kernel.id;
  return {};
}

std::vector<Pair> pairs_of(const RunRecord& record, const std::string& candidate_provider,
                           const std::string& other_provider) {
  std::vector<Pair> pairs;
  for (const ProblemRecord& problem : record.problems) {
    auto pair = judge_pair(problem, record.options, kernel_of(problem, candidate_provider),
                           kernel_of(problem, other_provider));
    if (pair) pairs.push_back(std::move(*pair));
  }
  return pairs;
}

Json to_json(const Pair& pair) {
  return {{"problem", pair.problem},
          {"verdict", assay::to_json(pair.verdict)},
          {"half_width", std::isfinite(pair.half_width) ? Json(pair.half_width) : Json()},
          {"standard_error_within", pair.within},
          {"clean_share", pair.clean_share},
          {"rounds", pair.rounds},
          {"wanted_rounds", pair.wanted}};
}

std::string only_this(const std::string& provider, const std::string& family, const Json& design) {
  std::string text = fmt::format("provider == '{}' and family == '{}'", provider, family);
  for (const auto& [name, value] : design.items())
    text += value.is_string() ? fmt::format(" and {} == '{}'", name, value.get<std::string>())
                              : fmt::format(" and {} == {}", name, value.dump());
  return text;
}

std::string only_this(const KernelOutcome& kernel) {
  return only_this(kernel.provider, kernel.metadata.member("family").get<std::string>(),
                   kernel.metadata.member("design"));
}

int64_t bursts_of(const ProblemRecord& problem) {
  int64_t bursts = 0;
  for (const KernelOutcome& kernel : problem.kernels)
    if (kernel.race) bursts += kernel.race->rounds;
  for (const Confirmation& confirmation : problem.confirmations)
    for (const ProcessSamples& process : confirmation.processes)
      for (const auto& order : process.order) bursts += static_cast<int64_t>(order.size());
  return bursts;
}

int64_t bursts_of(const RunRecord& record) {
  int64_t bursts = 0;
  for (const ProblemRecord& problem : record.problems) bursts += bursts_of(problem);
  return bursts;
}

std::string widths_text(const std::vector<Pair>& pairs) {
  std::vector<double> widths;
  for (const Pair& pair : pairs)
    if (std::isfinite(pair.half_width)) widths.push_back(pair.half_width);
  if (widths.empty()) return "no interval";
  return fmt::format("median {:.2f} %, 90th {:.2f} %", 100 * stats::median(widths),
                     100 * quantile(widths, 0.9));
}

Result<Subprocess> load_other_core() {
  SubprocessOptions options;
  options.argv = {"/proc/self/exe", "spin"};
  return Subprocess::start(options);
}

int spin() {
  // Workers are pinned to the first cores; this takes the last.
  cpu_set_t allowed, last;
  CPU_ZERO(&allowed);
  CPU_ZERO(&last);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu) {
      if (!CPU_ISSET(cpu, &allowed)) continue;
      CPU_SET(cpu, &last);
      break;
    }
    sched_setaffinity(0, sizeof last, &last);
  }
  for (;;) asm volatile("");
}

}  // namespace assay::bench
