#pragma once

// Records with samples whose true ratios are known, for the tests of record, compare and report.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/hash.h"
#include "assay/base/random.h"
#include "assay/record/conclude.h"
#include "assay/record/provider_results.h"
#include "assay/record/record.h"
#include "assay/record/totals.h"

namespace assay::testing {

struct SampleKernel {
  std::string provider;
  std::string name;
  KernelRole role = KernelRole::user;
  double us = 10;  // True time per launch.
  std::uint64_t workspace_bytes = 0;
};

struct SampleNoise {
  double between =
      0.0005;             // Of a process's log ratio; the kernels of one process share none of it.
  double within = 0.004;  // Of one burst's log time.
  std::uint64_t seed = 1;
};

// As KernelMetadata::to_json makes it.
inline Json metadata_of(const std::string& provider, const std::string& name) {
  Json json = {{"provider", provider},
               {"family", name},
               {"rule",
                {{"operation", "gemm"},
                 {"operands", Json::array()},
                 {"accumulate", Json::array()},
                 {"epilogues", Json::array()},
                 {"batch", true},
                 {"scalars", true},
                 {"targets", Json::array()}}},
               {"design", {{"tile_m", 8}}}};
  json["id"] = sha256_hex(canonical(json));
  json["name"] = name;
  return json;
}

inline std::string id_of(const std::string& provider, const std::string& name) {
  return metadata_of(provider, name)["id"];
}
inline std::string id_of(const SampleKernel& kernel) { return id_of(kernel.provider, kernel.name); }

inline KernelOutcome make_outcome(const SampleKernel& kernel) {
  KernelOutcome outcome;
  outcome.id = id_of(kernel);
  outcome.provider = kernel.provider;
  outcome.name = kernel.name;
  outcome.role = kernel.role;
  outcome.metadata = MetadataJson(metadata_of(kernel.provider, kernel.name));
  outcome.artifact_hash = "hash-" + kernel.name;
  outcome.workspace_bytes = kernel.workspace_bytes;
  outcome.ending = ending::Timed{};
  ProofSummary proof;
  proof.right = true;
  proof.max_error = 0.31;
  proof.mean_error = 0.05;
  proof.method = "every element against float64";
  proof.smallest_visible = 1e-6;
  for (const char* input : {"uniform", "exact", "cancellation", "wide_range", "needle", "identity",
                            "ones", "zeros", "non_finite"})
    proof.checks.push_back({.input = input,
                            .method = proof.method,
                            .elements = 4 * 1024,
                            .compared = 4 * 1024,
                            .wrong = 0,
                            .max_error = 0.31,
                            .mean_error = 0.05,
                            .smallest_visible = 1e-6,
                            .first_wrong = ""});
  proof.launches = 18;
  outcome.proof = proof;
  outcome.race = RaceSummary{
      .rounds = 12, .clean_rounds = 12, .median_us = kernel.us, .dropped_after = 0, .reason = ""};
  return outcome;
}

// A zero-mean number of unit variance, near enough to normal.
inline double unit_noise(const CounterRandom& random, std::uint64_t index) {
  double sum = 0;
  for (std::uint64_t i = 0; i < 3; ++i) sum += random.uniform(3 * index + i);
  return sum;  // Three uniforms on [-1, 1) have variance 1/3 each.
}

inline ProcessSamples make_process(const std::vector<SampleKernel>& kernels, int process,
                                   int rounds, const SampleNoise& noise) {
  const CounterRandom random{noise.seed, static_cast<std::uint64_t>(process) + 1};
  std::uint64_t draw = 0;
  ProcessSamples out;
  out.seed = fmt::format("{:064x}", process + 17);
  out.seed_commitment = *commitment_of(out.seed);
  out.placements = 4;
  for (int round = 0; round < rounds; ++round) {
    out.placement.push_back(round * 4 / rounds);
    std::vector<int> order;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      order.push_back(static_cast<int>((i + static_cast<std::size_t>(round)) % kernels.size()));
    }
    out.order.push_back(order);
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    KernelSamples samples;
    samples.id = id_of(kernels[i]);
    samples.launches = 10 + static_cast<std::int64_t>(i);
    const double shift = noise.between * unit_noise(random, draw++);
    for (int round = 0; round < rounds; ++round) {
      const double log_time = shift + noise.within * unit_noise(random, draw++);
      samples.burst_ns.push_back(std::llround(kernels[i].us * 1e3 * std::exp(log_time) *
                                              static_cast<double>(samples.launches)));
      samples.clean.push_back(round % 17 == 5 ? 0 : 1);
    }
    out.kernels.push_back(std::move(samples));
  }
  return out;
}

// The first kernel is the leader, the first stock kernel the baseline, the first that is not stock
// the candidate.
inline ProblemRecord make_problem(const std::string& name, const std::vector<SampleKernel>& kernels,
                                  const RunOptions& options = {}, const SampleNoise& noise = {}) {
  ProblemRecord problem;
  problem.name = name;
  problem.key = name + " a=f32 b=f32 out=f32 accumulate=f32 layout=tn constant=b";
  problem.operation = "gemm";
  problem.role = "decode";
  problem.problem = {{"operation", "gemm"}, {"name", name},      {"m", 4},
                     {"n", 1024},           {"k", 512},          {"a", "f32"},
                     {"b", "f32"},          {"out", "f32"},      {"accumulate", "f32"},
                     {"layout", "tn"},      {"constant", {"b"}}, {"role", "decode"}};
  problem.condition = {"cold_weights", "back_to_back", "plain"};
  problem.race_class = {"allowed", "forbidden"};
  problem.flops = 2.0 * 4 * 1024 * 512;
  problem.bytes = 4.0 * (4 * 512 + 1024 * 512 + 4 * 1024);
  problem.refusals["divisibility"] = {3, "k=100 is not a multiple of 8"};
  problem.race = RaceRecord{.rounds = 12,
                            .looks = {6, 12, 24, 48},
                            .dropped = 0,
                            .spoiled_rounds = 1,
                            .seconds = 0.5,
                            .end = "last look"};
  Confirmation confirmation;
  for (const SampleKernel& kernel : kernels) {
    problem.kernels.push_back(make_outcome(kernel));
    const std::string id = id_of(kernel);
    confirmation.finalists.push_back(id);
    if (kernel.role == KernelRole::stock && confirmation.baseline.empty()) {
      confirmation.baseline = id;
    }
    if (kernel.role != KernelRole::stock && confirmation.candidate.empty()) {
      confirmation.candidate = id;
    }
  }
  confirmation.leader = confirmation.finalists.front();
  if (confirmation.candidate.empty()) confirmation.candidate = confirmation.leader;
  confirmation.rounds = confirmation.wanted_rounds = 40;
  for (int process = 0; process < options.processes; ++process) {
    confirmation.processes.push_back(make_process(kernels, process, 40, noise));
  }
  confirmation.conclusion = conclude(problem, confirmation, options);
  problem.confirmations.push_back(std::move(confirmation));
  if (const KernelOutcome* winner = problem.winner()) {
    problem.ceiling = "read";
    problem.ceiling_share = 0.68;
    problem.ceiling_value =
        problem.bytes * 1e6 / problem.ceiling_share / problem.conclusion()->median_us(winner->id);
  }
  return problem;
}

inline Environment make_environment() {
  Environment environment;
  environment.device = {"cpu", "Some CPU", "cpu-0123", {{"cores", 2}}};
  environment.system = "Debian GNU/Linux 12";
  environment.os_kernel = "6.1.0";
  environment.compiler = "g++ 12.2.0";
  environment.libraries = {{"openblas", "0.3.21", "/usr/lib/libopenblas.so.0", "abc"}};
  environment.threads = 1;
  environment.pinned_cores = {0};
  environment.ceilings = {
      {"read", 1.2e10, "byte/s", 1, "2024-01-01T00:00:00Z", "2024-01-01T00:00:01Z"}};
  return environment;
}

inline RunRecord make_record(std::vector<ProblemRecord> problems) {
  RunRecord record;
  record.environment = make_environment();
  for (const ProblemRecord& problem : problems)
    record.environment.ceilings[0].value =
        std::max(record.environment.ceilings[0].value, problem.ceiling_value);
  record.id = "0412-decode";
  record.kind = "sweep";
  record.created = "2024-04-12T10:00:00Z";
  record.command_line = {"assay", "sweep"};
  record.assay_version = "0.1.0";
  record.assay_build = "release";
  record.options.suite = "decode";
  record.options.threads = 1;
  record.trust_reason = "native code ran in the process that timed it";
  record.totals = {.timed_seconds = 38, .wall_seconds = 60};
  for (const ProblemRecord& problem : problems) count(record.totals, problem);
  record.problems = std::move(problems);
  return record;
}

// "mine" is faster than stock on m1_qkv (1.10), ties on m4_up, and loses on m64_down (0.95).
inline RunRecord make_record() {
  const auto kernels = [](double mine) {
    return std::vector<SampleKernel>{{"mine", "skinny", KernelRole::ours, mine, 64},
                                     {"openblas", "gemm", KernelRole::stock, 10, 0},
                                     {"onednn", "matmul", KernelRole::stock, 10.5, 128}};
  };
  auto losing = kernels(10 / 0.95);
  std::swap(losing[0], losing[1]);
  return make_record({make_problem("m1_qkv", kernels(10 / 1.1)),
                      make_problem("m4_up", kernels(10), {}, {.seed = 2}),
                      make_problem("m64_down", losing, {}, {.seed = 3})});
}

// What a run with this record would write for one of its providers.
inline ProviderResults results_of(const RunRecord& record, std::string_view provider,
                                  const std::string& record_path) {
  BestOfProviders best;
  for (const ProblemRecord& problem : record.problems) best.add(problem, record_path);
  for (ProviderResults& results : best.take(record.environment))
    if (results.provider == provider) return std::move(results);
  return {};
}

}  // namespace assay::testing
