// Our best kernel against the best stock one, like against like: the same layout of the weights,
// and either everyone may prepare or nobody. One process for each problem: all kernels take turns
// in one race, and the finalists in further rounds after it, whose paired times make the ratio. A
// ratio here is one sample, without an interval, so that a hundred of them take minutes. All stock
// kernels take part, and of ours those that won most often: more could only raise a ratio.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/record/conclude.h"
#include "assay/record/plain_verdict.h"
#include "bench/runs.h"

namespace assay::bench {
namespace {

struct Form {
  const char* name;
  const char* layout;
  bool constant;
};
constexpr Form kForms[] = {
    {"[k,n]", "tt", false}, {"[n,k]", "tn", false}, {"prepared", "tn", true}};

struct Weights {
  int64_t k, n;
};
constexpr Weights kWeights[] = {{2048, 8192}, {8192, 2048}, {2048, 2048}};
constexpr int64_t kRows[] = {1, 2, 4, 8, 16};

// Of the table's problems: all of them, or as many as `make bench` has time for.
enum class Share { whole, some };
bool takes_part(Share share, int64_t m, Weights weights) {
  return share == Share::whole || (m != 2 && m != 8 && weights.k == 2048);
}

// Problems that share a bound.
struct Group {
  struct Member {
    std::string problem;
    std::string heading;  // What notes put before the ratios of neighbours that share it.
    int64_t m = 0;
  };
  std::string name;
  double least_mean = 0, least = 0;
  std::vector<Member> members;
};

struct Races {
  std::vector<Group> groups;
  std::vector<Problem> problems;

  Status add(Group& group, std::string heading, const Form& form, DType dtype, int64_t m,
             Weights weights) {
    gemm::Shape shape{.name = fmt::format("{}_{}_m{}_{}x{}", to_string(dtype), form.layout, m,
                                          weights.k, weights.n),
                      .m = m,
                      .n = weights.n,
                      .k = weights.k,
                      .dtype = dtype,
                      .out = DType::f32,
                      .layout = form.layout};
    if (form.constant) {
      shape.name += "_prepared";
      shape.constant = {"b"};
    }
    group.members.push_back({shape.name, std::move(heading), m});
    ASSAY_TRY(problems.emplace_back(), gemm::problem(shape));
    return {};
  }
};

Result<Races> decode(const Context& context, Share share) {
  Races plan;
  for (const Form& form : kForms) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      const bool f32 = dtype == DType::f32;
      const std::string_view layout = form.name;
      Group group{.name = fmt::format("{} {}", to_string(dtype), layout)};
      group.least_mean = layout == "[k,n]"   ? (f32 ? 1.5 : 2.5)
                         : layout == "[n,k]" ? (f32 ? 1.2 : 1.25)
                                             : 1.1;
      group.least = form.constant ? 0.95 : 0.97;
      for (const Weights weights : kWeights)
        for (const int64_t m : kRows)
          if (context.quick ? m == 4 && weights.k == weights.n : takes_part(share, m, weights))
            ASSAY_TRY(plan.add(group, fmt::format("{}x{}", weights.k, weights.n), form, dtype, m,
                               weights));
      plan.groups.push_back(std::move(group));
    }
  }
  return plan;
}

// What decides at m 512, n 512, k 128 is how soon a and b are packed.
constexpr Weights kSquare = {2048, 2048}, kShort = {128, 512};

Result<Races> prefill(const Context& context, Share share) {
  Races plan;
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const bool f32 = dtype == DType::f32;
    Group group{.name = fmt::format("prefill {}", to_string(dtype)),
                .least_mean = f32 ? 1.0 : 0.97,
                .least = f32 ? 0.93 : 0.9};
    for (const Form& form : kForms) {
      for (const int64_t m : {int64_t{128}, int64_t{512}})
        if (context.quick ? m == 128 && !form.constant : share == Share::whole || m == 128)
          ASSAY_TRY(plan.add(group, form.name, form, dtype, m, kSquare));
      if (f32 && share == Share::whole)
        ASSAY_TRY(plan.add(group, form.name, form, dtype, 512, kShort));
    }
    plan.groups.push_back(std::move(group));
  }
  return plan;
}

// Prepared weights in bf16, decode and prefill: for machines with tiles.
Result<Races> on_tiles() {
  Races plan;
  Group group{.name = "bf16 prepared, on tiles", .least_mean = 1.0, .least = 0.95};
  for (const int64_t m : {8, 16, 32, 64, 128, 512})
    ASSAY_TRY(plan.add(group, "prepared", kForms[2], DType::bf16, m, kSquare));
  plan.groups.push_back(std::move(group));
  return plan;
}

struct Sample {
  double log_ratio = 0;  // log(t_stock / t_ours), of the stock kernel for which it is least.
  double standard_error = 0;
  std::string stock, ours;
};

std::optional<Sample> sample_of(const ProblemRecord& problem) {
  const Confirmation* confirmation = problem.decisive();
  if (confirmation == nullptr) return std::nullopt;
  std::optional<Sample> sample;
  for (const KernelOutcome& kernel : problem.kernels) {
    const auto& finalists = confirmation->finalists;
    if (kernel.role != KernelRole::stock || !is_timed(kernel.ending) ||
        std::find(finalists.begin(), finalists.end(), kernel.id) == finalists.end())
      continue;
    const auto means = pair_means(confirmation->processes, confirmation->candidate, kernel.id);
    if (means.empty() || !means.front().log_ratio) continue;
    if (!sample || *means.front().log_ratio < sample->log_ratio)
      sample = Sample{*means.front().log_ratio, means.front().standard_error, kernel.label(),
                      problem.label(confirmation->candidate)};
  }
  return sample;
}

// The stock libraries of this machine, and us.
std::vector<std::string> pool() {
  std::vector<std::string> providers = {"native_cpu"};
  for (const auto& provider : built_in_providers())
    if (provider->info().role == ProviderRole::stock && provider->availability({}).available)
      providers.push_back(provider->info().name);
  return providers;
}

// Everything of the others, and of ours what came out first somewhere when all took part.
std::string filter(std::string_view ours) {
  if (!cpu::host_target().features.contains("avx512f")) return {};
  return fmt::format("provider != 'native_cpu' or isa != 'avx2' and ({})", ours);
}
constexpr std::string_view kDecodeRows =
    "family == 'rows' and (ahead == 1 and nv != 4 and (kc == 8 or kc == 64) or ahead > 1 or "
    "ahead == 0 and kc >= 16) or "
    "family == 'kept' or "
    "family == 'dots' and ahead == 1 and (kc == 0 or nv == 6) or "
    "family == 'panels' and (kc == 0 or nc == 1) or isa == 'amx'";
constexpr std::string_view kPrefillRows =
    "family == 'blocked' and (nv != 4 and (nc == 192 or kc == 256) or nc == 96 or nc == 0) or "
    "family == 'panels' and (nv != 4 and (kc == 256 or kc == 512) or nc == 1) or isa == 'amx'";

Row judge(const Group& group, const std::map<std::string, Sample>& samples, int threads) {
  const bool has_bf16 = cpu::host_target().features.contains("avx512_bf16");
  Row row{.target = fmt::format("native_cpu / best stock, {}, {} problems, {}", group.name,
                                group.members.size(),
                                threads == 1 ? "one thread" : fmt::format("{} threads", threads)),
          .bound = fmt::format("mean >= {}, worst >= {}", group.least_mean, group.least),
          .stretch = !has_bf16 || threads != 1};
  row.details = Json::array();
  double sum = 0, worst = HUGE_VAL;
  int counted = 0;
  std::string worst_text, line, heading;
  for (const Group::Member& member : group.members) {
    const auto found = samples.find(member.problem);
    if (found == samples.end()) {
      row.notes.push_back(fmt::format("native {}: no ratio.", member.problem));
      continue;
    }
    const Sample& sample = found->second;
    sum += sample.log_ratio;
    ++counted;
    if (sample.log_ratio < worst) {
      worst = sample.log_ratio;
      worst_text =
          fmt::format("Worst: {}, {} against {}.", member.problem, sample.ours, sample.stock);
    }
    if (member.heading != heading) line += fmt::format(" {}:", heading = member.heading);
    line += fmt::format(" m{} {:.2f}", member.m, std::exp(sample.log_ratio));
    row.details.push_back({{"problem", member.problem},
                           {"ratio", std::exp(sample.log_ratio)},
                           {"standard_error", sample.standard_error},
                           {"ours", sample.ours},
                           {"stock", sample.stock}});
  }
  if (counted > 0) {
    row.measured = fmt::format("{:.2f}, worst {:.2f}", std::exp(sum / counted), std::exp(worst));
    row.notes.push_back(fmt::format("native {}:{}. {}", group.name, line, worst_text));
  }
  row.ok = counted == static_cast<int>(group.members.size()) && counted > 0 &&
           std::exp(sum / counted) >= group.least_mean && std::exp(worst) >= group.least;
  return row;
}

struct Schedule {
  const char* name;
  int threads = 1;
  double seconds_per_problem = 0;  // Of timing.
  std::string_view ours;
};

Result<std::vector<Row>> race_all(const Context& context, const Schedule& schedule,
                                  const Races& plan) {
  sweep::Request request = make_request(context, schedule.name, pool());
  request.question.problems = plan.problems;
  request.venue.threads = schedule.threads;
  request.pool.filter = filter(schedule.ours);
  request.effort.processes = request.effort.most_processes = 1;
  request.effort.budget_seconds =
      schedule.seconds_per_problem * static_cast<double>(request.question.problems.size());
  ASSAY_TRY(const RunRecord record, run(request));
  std::map<std::string, Sample> samples;
  for (const ProblemRecord& problem : record.problems)
    if (auto sample = sample_of(problem)) samples.emplace(problem.name, std::move(*sample));
  std::vector<Row> rows;
  for (const Group& group : plan.groups) rows.push_back(judge(group, samples, schedule.threads));
  return rows;
}

Result<std::vector<Row>> race_decode(const Context& context, Share share) {
  ASSAY_TRY(const Races few, decode(context, share));
  return race_all(context, {"native", 1, 1.0, kDecodeRows}, few);
}

Result<std::vector<Row>> race_prefill(const Context& context, Share share) {
  ASSAY_TRY(const Races many, prefill(context, share));
  return race_all(context, {"native_prefill", 1, 2.0, kPrefillRows}, many);
}

}  // namespace

Result<std::vector<Row>> measure_native(const Context& context) {
  ASSAY_TRY(auto rows, race_decode(context, Share::some));
  ASSAY_TRY(auto more, race_prefill(context, Share::some));
  rows.insert(rows.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
  return rows;
}

Result<std::vector<Row>> measure_native_table_decode(const Context& context) {
  return race_decode(context, Share::whole);
}

Result<std::vector<Row>> measure_native_table_prefill(const Context& context) {
  return race_prefill(context, Share::whole);
}

Result<std::vector<Row>> measure_native_threads(const Context& context) {
  ASSAY_TRY(const Races few, decode(context, Share::some));
  return race_all(context, {"native_threads", 2, 1.0, kDecodeRows}, few);
}

// On one thread, and on as many as a run takes by itself.
Result<std::vector<Row>> measure_native_amx(const Context& context) {
  ASSAY_TRY(const Races plan, on_tiles());
  if (!cpu::host_target().features.contains("amx_bf16"))
    return std::vector<Row>{{.target = "native_cpu / best stock, " + plan.groups.front().name,
                             .measured = "this machine has no tiles (AMX)",
                             .stretch = true}};
  ASSAY_TRY(auto rows, race_all(context, {"native_amx", 1, 2.0, "isa == 'amx'"}, plan));
  const auto cores = static_cast<int>(cpu::read_topology().physical_cores.size());
  if (cores < 3) return rows;
  ASSAY_TRY(auto more,
            race_all(context, {"native_amx_threads", cores - 1, 2.0, "isa == 'amx'"}, plan));
  rows.insert(rows.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
  return rows;
}

}  // namespace assay::bench
