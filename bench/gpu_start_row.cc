// What a program that has its kernels compiled pays before the first of them runs.

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/device/cuda/cuda_device.h"
#include "assay/input/manifest.h"
#include "assay/kernel/catalog.h"
#include "assay/stats/robust.h"
#include "bench/gpu.h"
#include "bench/gpu_sources.h"
#include "bench/roles.h"
#include "bench/runs.h"

namespace assay::bench {
namespace {

constexpr int kKernels = 100;
constexpr double kMostMs = 300;

gemm::Shape small_shape() {
  return {.m = 1, .n = 64, .k = 64, .dtype = DType::f32, .layout = "tn"};
}

double ms_since(int64_t start) { return static_cast<double>(monotonic_ns() - start) * 1e-6; }

Result<Catalog> catalog_of(const std::string& source) {
  const auto providers = built_in_providers();
  ASSAY_TRY(const auto entries, input::read_kernels(source, launch_forms(providers)));
  Catalog catalog;
  for (const auto& provider : providers) {
    if (provider->info().name != "cuda_source") continue;
    for (const KernelEntry& entry : entries) {
      ASSAY_TRY(auto family, provider->bring(entry));
      catalog.add("cuda_source", ProviderRole::user, std::move(family));
    }
  }
  return catalog;
}

// All kernels from the cache and onto the GPU, and one launch.
Result<Json> launch_first(const std::string& source, const std::string& cache_folder,
                          int64_t began) {
  Json took = {{"process_ms", ms_since(began)}};
  const int64_t before_context = monotonic_ns();
  ASSAY_TRY(const std::string uuid, bench_gpu());
  ASSAY_TRY(const auto driver, cuda::Driver::open());
  ASSAY_TRY(const auto gpus, cuda::list_gpus(*driver));
  const auto gpu = std::ranges::find(gpus, uuid, &cuda::Gpu::uuid);
  ASSAY_TRY(const auto device, cuda::open(driver, *gpu));
  took["context_ms"] = ms_since(before_context);

  const int64_t before_artifacts = monotonic_ns();
  ASSAY_TRY(const Problem problem, gemm::problem(small_shape()));
  ASSAY_TRY(const Catalog catalog, catalog_of(source));
  ASSAY_TRY(const Found found, catalog.get_kernels(problem, {.target = device->target()}));
  const ArtifactCache cache(cache_folder, Log{});
  std::vector<Artifact> artifacts;
  for (const Kernel& kernel : found.kernels) {
    ASSAY_TRY(artifacts.emplace_back(),
              kernel.compile(problem, device->target(), {.cache = &cache}));
  }
  took["artifacts_ms"] = ms_since(before_artifacts);

  const int64_t before_load = monotonic_ns();
  ASSAY_TRY(const auto stream, device->make_stream());
  ASSAY_TRY(const auto memory, device->allocate(1 << 16, {}));
  const Arguments arguments{problem, {memory->data(), memory->data(), memory->data()}};
  std::vector<Plan> plans;
  for (size_t i = 0; i < artifacts.size(); ++i) {
    ASSAY_TRY(plans.emplace_back(), found.kernels[i].plan({.arguments = arguments,
                                                           .artifact = artifacts[i],
                                                           .device = *device,
                                                           .workspace = {}}));
  }
  took["load_ms"] = ms_since(before_load);
  if (plans.empty()) return fail(ErrorCode::failed, "none of the kernels is for this GPU");
  const int64_t before_launch = monotonic_ns();
  ASSAY_TRY(plans.front().launch(*stream));
  ASSAY_TRY(stream->synchronize());
  took["launch_ms"] = ms_since(before_launch);
  took["total_ms"] = ms_since(began);
  took["kernels"] = plans.size();
  return took;
}

Result<std::string> gpu_target() {
  ASSAY_TRY(const std::string uuid, bench_gpu());
  ASSAY_TRY(const auto driver, cuda::Driver::open());
  ASSAY_TRY(const auto gpus, cuda::list_gpus(*driver));
  return cuda::target_of(*std::ranges::find(gpus, uuid, &cuda::Gpu::uuid)).to_string();
}

Result<Json> start_once(const Context& context, const std::string& source) {
  SubprocessOptions options;
  options.argv = {"/proc/self/exe", "first_launch", source,
                  (context.folder / "start_cache").string(), std::to_string(monotonic_ns())};
  options.env = child_environment();
  if (const char* gpu = std::getenv("ASSAY_DEVICE"))
    options.env.push_back(fmt::format("ASSAY_DEVICE={}", gpu));
  ASSAY_TRY(const CommandOutput output, run_command(options, {.timeout_ns = 400'000'000'000}));
  if (!output.status.success())
    return fail(ErrorCode::failed, "{}: {}", output.status.describe(), sanitize(output.err, 1000));
  return parse_json(output.out, "first_launch");
}

}  // namespace

int first_launch_main(const char* source, const char* cache, const char* began) {
  const auto took = launch_first(source, cache, std::atoll(began));
  if (!took) {
    std::fprintf(stderr, "%s\n", took.error().message.c_str());
    return 1;
  }
  std::puts(took->dump().c_str());
  return 0;
}

Result<std::vector<Row>> measure_gpu_start(const Context& context) {
  const int kernels = context.count(kKernels, 4);
  ASSAY_TRY(const std::string source, copies_source(context, kernels));
  ASSAY_TRY(const std::string target, gpu_target());
  ASSAY_TRY(compile_copies(source, kernels, target, context.folder / "start_cache", Cores::all)
                .map([](double) {}));
  const std::vector<std::string> parts = {"process_ms", "context_ms", "artifacts_ms",
                                          "load_ms",    "launch_ms",  "total_ms"};
  std::map<std::string, std::vector<double>> times;
  std::vector<double> beyond;
  for (int i = 0; i < context.count(11, 3); ++i) {
    ASSAY_TRY(const Json took, start_once(context, source));
    if (took.value("kernels", 0) != kernels)
      return fail(ErrorCode::failed, "{} of {} kernels", took.value("kernels", 0), kernels);
    for (const std::string& part : parts) times[part].push_back(took.value(part, 0.0));
    beyond.push_back(took.value("total_ms", 0.0) - took.value("context_ms", 0.0));
  }
  const auto median = [&](const char* part) { return stats::median(times[part]); };
  Row row{.target = fmt::format("{} cached artifacts, cold process to first launch", kernels),
          .bound = fmt::format("<= {:.0f} ms beyond the context", kMostMs),
          .measured = fmt::format("{:.0f} ms (context {:.0f} ms)", stats::median(beyond),
                                  median("context_ms")),
          .ok = stats::median(beyond) <= kMostMs};
  row.notes.push_back(fmt::format(
      "start: median of {}: the process {:.0f} ms, all {} from the cache {:.0f} ms, onto the GPU "
      "{:.0f} ms, one launched {:.1f} ms.",
      beyond.size(), median("process_ms"), kernels, median("artifacts_ms"), median("load_ms"),
      median("launch_ms")));
  row.details = {{"times_ms", times}, {"beyond_context_ms", beyond}};
  return std::vector<Row>{std::move(row)};
}

}  // namespace assay::bench
