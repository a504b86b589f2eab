#include "cli/race/compile_only.h"

#include <algorithm>
#include <poll.h>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/fd.h"
#include "assay/base/forked.h"
#include "assay/base/text.h"
#include "assay/input/manifest.h"
#include "assay/kernel/catalog.h"
#include "assay/kernel/taker.h"
#include "assay/process/guest_process.h"
#include "cli/exit_code.h"

namespace assay::cli {
namespace {

// The files' kernels, and those of the providers. asked: with which settings.
Result<Catalog> catalog_of(std::span<const input::KernelSource> files,
                           const std::vector<process::AskedProvider>& whole,
                           const std::vector<process::AskedProvider>& asked) {
  static const auto providers = built_in_providers();
  Catalog catalog;
  for (const process::AskedProvider& request : whole)
    for (const auto& provider : providers) {
      if (provider->info().name != request.name) continue;
      catalog.add(*provider, request.settings);
      if (const auto missing = catalog.missing().find(request.name);
          missing != catalog.missing().end())
        return fail(ErrorCode::unsupported, "{}: {}", request.name, missing->second);
    }
  for (const input::KernelSource& file : files) {
    for (const KernelEntry& entry : file.entries) {
      const Provider* const taker = find_taker(providers, entry);
      if (taker == nullptr || !is_for_gpu(*taker, entry) || taker->runs_code_to_bring())
        return fail(ErrorCode::invalid_input,
                    "{}: --target compiles code for GPUs, and this is none; leave it out",
                    entry.origin);
      const auto request =
          std::ranges::find(asked, taker->info().name, &process::AskedProvider::name);
      ASSAY_TRY(auto family, taker->bring(entry, request == asked.end() ? ProviderSettings()
                                                                        : request->settings));
      catalog.add(taker->info().name, taker->info().role, std::move(family));
    }
  }
  return catalog;
}

ProviderRole role_of(const Catalog& catalog, const Kernel& kernel) {
  for (const Catalog::Entry& entry : catalog.entries())
    if (entry.family.get() == &kernel.family()) return entry.role;
  return ProviderRole::user;
}

// Leaves the kernels that a race on such a GPU would build.
Status keep_first(const sweep::Request& request, const Problem& problem, const Target& target,
                  const Catalog& catalog, Found& found) {
  if (request.pool.build <= 0) return {};
  std::vector<process::OfferedKernel> rows;
  bool costly = false;
  for (const Kernel& kernel : found.kernels) {
    rows.push_back({kernel.metadata(), role_of(catalog, kernel)});
    costly = costly || kernel.metadata().compile_seconds() > 0;
  }
  if (!costly) return {};
  ASSAY_TRY(const auto first, sweep::find_first(request, problem, target.to_string(), rows));
  const auto left = std::erase_if(
      found.kernels, [&](const Kernel& kernel) { return !first.contains(kernel.metadata().id()); });
  if (left > 0)
    found.refusals.add(Reason::not_built, static_cast<int64_t>(left),
                       fmt::format("{}; --build says how many are", sweep::why_not_built(request)));
  return {};
}

// What compiling may depend on: two kernels, or problems, with the same are one artifact.
std::string artifact_of(const Problem& problem, const Kernel& kernel) {
  const KernelMetadata& row = kernel.metadata();
  return row.artifact_id() + canonical(MaskedProblem(problem, row.specialised_on()).key());
}

Json json_of(const Kernel& kernel, const Result<Artifact>& artifact) {
  Json out = {{"kernel", kernel.metadata().name()}, {"id", kernel.metadata().id()}};
  if (!artifact) {
    out["error"] = artifact.error().message;
    return out;
  }
  for (const char* fact :
       {"registers", "spill_store_bytes", "spill_load_bytes", "static_shared_bytes",
        "dynamic_shared_bytes", "stages", "threads", "seconds"})
    if (artifact->facts.contains(fact)) out[fact] = artifact->facts[fact];
  return out;
}

std::string text_of(const Json& kernel) {
  if (kernel.contains("error"))
    return fmt::format("  {}: {}\n", kernel["kernel"].get<std::string>(),
                       sanitize(kernel["error"].get<std::string>(), 8000, Newlines::keep));
  std::string text = fmt::format("  {}", kernel["kernel"].get<std::string>());
  if (!kernel.contains("registers")) return text + "  taken as it is\n";
  const auto number = [&](const char* fact) { return kernel.value(fact, int64_t{0}); };
  const char* const shared =
      kernel.contains("dynamic_shared_bytes") ? "dynamic_shared_bytes" : "static_shared_bytes";
  return text + fmt::format("  {} registers, {} bytes spilled, {} bytes of {} shared memory\n",
                            number("registers"),
                            number("spill_store_bytes") + number("spill_load_bytes"),
                            number(shared), *shared == 'd' ? "dynamic" : "static");
}

bool is_stopped(const CompileContext& context) {
  if (context.cancel_fd < 0) return false;
  const auto asked = wait_for_fd(context.cancel_fd, POLLIN, monotonic_ns());
  return asked && *asked;
}

}  // namespace

Result<int> compile_only(Context& context, const sweep::Request& request,
                         std::span<const input::KernelSource> files, const std::string& target_text,
                         const std::vector<process::AskedProvider>& providers) {
  ASSAY_TRY(const Target target, Target::parse_known(target_text));
  if (!target.is_gpu())
    return fail(ErrorCode::invalid_input,
                "--target: '{}' is no GPU; write its architecture, for example sm_90a",
                sanitize(target_text, 100));
  ASSAY_TRY(const Catalog catalog, catalog_of(files, providers, request.pool.providers));
  const ArtifactCache cache(request.keep.cache, Log{});
  const CompileContext compiling{
      .cache = &cache,
      .timeout_seconds = request.limits.compile_seconds,
      .memory_bytes = sweep::compiler_memory(request.limits.memory_bytes),
      .cancel_fd = request.caller.cancel_fd,
      .run_guest = [&request](const GuestProgram& program) {
        return sweep::run_confined_until(program, request.caller.cancel_fd);
      }};
  Json problems = Json::array();
  std::string text;
  size_t compiled = 0, failed = 0;
  std::vector<Found> all;
  std::vector<std::pair<const Problem*, const Kernel*>> wanted;
  KernelQuery query;
  query.target = target;
  query.filter = request.pool.filter;
  for (const Problem& problem : request.question.problems) {
    ASSAY_TRY(all.emplace_back(), catalog.get_kernels(problem, query));
    ASSAY_TRY(keep_first(request, problem, target, catalog, all.back()));
  }
  std::set<std::string> artifacts;
  for (size_t p = 0; p < all.size(); ++p)
    for (const Kernel& kernel : all[p].kernels)
      if (artifacts.insert(artifact_of(request.question.problems[p], kernel)).second)
        wanted.emplace_back(&request.question.problems[p], &kernel);
  // Side by side, into the cache: what fails, fails again below, where it is said; what had all of
  // its time is not waited for again.
  const std::vector<double> had_all = for_each_forked(
      wanted.size(),
      [&](size_t i) {
        const auto& [problem, kernel] = wanted[i];
        const int64_t start = monotonic_ns();
        if (is_stopped(compiling)) return 0.0;
        const bool built = kernel->compile(*problem, target, compiling).has_value();
        return !built && static_cast<double>(monotonic_ns() - start) * 1e-9 >=
                             compiling.timeout_seconds
                   ? 1.0
                   : 0.0;
      },
      compiling.cancel_fd);
  std::set<std::string> stopped;
  for (size_t i = 0; i < wanted.size(); ++i)
    if (had_all[i] > 0) stopped.insert(artifact_of(*wanted[i].first, *wanted[i].second));
  for (size_t p = 0; p < request.question.problems.size(); ++p) {
    const Problem& problem = request.question.problems[p];
    const Found& found = all[p];
    text += problem.name() + '\n';
    Json kernels = Json::array();
    for (const Kernel& kernel : found.kernels) {
      if (is_stopped(compiling))
        return fail(ErrorCode::interrupted, "stopped; what was compiled is in the cache");
      const Result<Artifact> artifact = stopped.contains(artifact_of(problem, kernel))
                                            ? fail(ErrorCode::build_failed,
                                                   "compiling was stopped after {:g} s "
                                                   "(--compile-timeout)",
                                                   compiling.timeout_seconds)
                                            : kernel.compile(problem, target, compiling);
      // The next one would find the same cache, and nothing is wrong with this one.
      if (!artifact && (artifact.error().code == ErrorCode::machine ||
                        artifact.error().code == ErrorCode::interrupted))
        return fail(artifact.error());
      ++(artifact ? compiled : failed);
      kernels.push_back(json_of(kernel, artifact));
      text += text_of(kernels.back());
    }
    for (const auto& [reason, count] : found.refusals)
      text += fmt::format("  {} refused: {}\n", count.count, sanitize(count.example, 400));
    problems.push_back({{"problem", problem.name()},
                        {"kernels", std::move(kernels)},
                        {"refusals", found.refusals.to_json()}});
  }
  text += fmt::format("{} compiled for {}{}; not raced: no device\n", compiled, target.to_string(),
                      failed == 0 ? "" : fmt::format(", {} not", failed));
  const int code = failed > 0 ? kRefuted : compiled > 0 ? kDone : kNothingRan;
  context.console.result(context.console.json() ? dump_pretty({{"schema", "assay.compiled/1"},
                                                               {"target", target.to_string()},
                                                               {"problems", std::move(problems)},
                                                               {"exit_code", code}})
                                                : text);
  return code;
}

}  // namespace assay::cli
