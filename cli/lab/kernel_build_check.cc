#include "cli/lab/kernel_build_check.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/json.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/input/suite.h"
#include "assay/kernel/catalog.h"
#include "assay/kernel/taker.h"
#include "assay/process/guest_process.h"
#include "cli/files/kernel_files.h"
#include "cli/lab/device_code_check.h"

namespace assay::cli {
namespace {

constexpr int64_t kAnswerNs = 60'000'000'000;
// What code for a GPU is compiled for where the kernel names no architecture.
constexpr const char* kSomeGpu = "sm_90a";

ProviderSettings settings_of(const Context& context, const std::string& provider) {
  ProviderSettings settings;
  for (const auto* all : {&context.settings.providers, &context.provider_settings})
    if (const auto found = all->find(provider); found != all->end())
      for (const auto& [name, value] : found->second) settings[name] = value;
  settings["pythons"] = context.settings.pythons;
  return settings;
}

// The shapes that the race's words name; without --suite those of decoding.
Result<input::Suite> suite_of(const LabPlace& place, const lab::SweepRace& race) {
  const auto& words = race.arguments;
  const auto at = std::ranges::find(words, "--suite");
  if (at == words.end() || at + 1 == words.end()) return input::find_suite("decode");
  const auto file = place.target.folder / *(at + 1);
  std::error_code ignored;
  return input::find_suite(std::filesystem::exists(file, ignored) ? file.string() : *(at + 1));
}

class Builder {
 public:
  explicit Builder(const Context& context)
      : context_(context), cache_(context.settings.cache, Log{}) {
    compiling_.cache = &cache_;
    compiling_.cxx = context.settings.cxx;
    compiling_.memory_bytes = sweep::compiler_memory(0);
    compiling_.cancel_fd = context.cancel_fd;
    compiling_.run_guest = [this](const GuestProgram& program) {
      return sweep::run_confined_until(program, context_.cancel_fd);
    };
  }

  BuiltKernel build(const KernelEntry& entry, const input::Suite& suite) const {
    BuiltKernel built{"ok", "kernel " + entry.name, ""};
    const Provider* const taker = find_taker(providers_, entry);
    if (taker == nullptr) return {"fail", built.name, "no provider takes such a file"};
    if (taker->runs_code_to_bring())
      return {"ok", built.name, "a plug-in, which `assay plugin check` looks at"};
    const std::string provider = taker->info().name;
    auto family = taker->bring(entry, settings_of(context_, provider));
    if (!family) return {"fail", built.name, family.error().message};
    Catalog catalog;
    catalog.add(provider, taker->info().role, std::move(*family));
    const Target target = target_of(entry, is_for_gpu(*taker, entry));
    std::string why = "the benchmark has no shape for it";
    for (const Problem& problem : suite.problems) {
      KernelQuery query;
      query.target = target;
      const auto found = catalog.get_kernels(problem, query);
      if (!found) return {"fail", built.name, found.error().message};
      if (found->kernels.empty()) {
        for (const auto& [reason, count] : found->refusals) why = count.example;
        continue;
      }
      const int64_t start = monotonic_ns();
      const auto artifact = found->kernels.front().compile(problem, target, compiling_);
      if (artifact && artifact->file.extension() == ".ptx") return assemble(entry, target, built);
      if (artifact)
        return {"ok", built.name,
                fmt::format("compiled for {} by {}, {}", target.arch, provider,
                            format_duration(static_cast<double>(monotonic_ns() - start) * 1e-9))};
      const bool lacks = artifact.error().code == ErrorCode::unsupported;
      return {lacks ? "warn" : "fail", built.name, artifact.error().message};
    }
    return {"warn", built.name, "refused: " + why};
  }

 private:
  static Target target_of(const KernelEntry& entry, bool on_gpu) {
    if (!on_gpu) return cpu::host_target();
    if (entry.rule)
      for (const Target& target : entry.rule->targets)
        if (target.is_gpu()) return target;
    return Target{.arch = kSomeGpu, .features = {}};
  }

  // PTX is taken as it is, and a GPU's driver compiles it: so it is tried here.
  BuiltKernel assemble(const KernelEntry& entry, const Target& target, BuiltKernel built) const {
    const auto objection = objection_to_ptx(context_, entry.source, target.arch);
    if (!objection) {
      built.word = objection.error().code == ErrorCode::unsupported ? "warn" : "fail";
      built.text = objection.error().message;
    } else if (!objection->empty()) {
      built.word = "fail";
      built.text = fmt::format("{}: {}", entry.origin, *objection);
    } else {
      built.text = fmt::format("assembled for {} by ptxas", target.arch);
    }
    return built;
  }

  const Context& context_;
  std::vector<std::unique_ptr<Provider>> providers_ = built_in_providers();
  ArtifactCache cache_;
  CompileContext compiling_;
};

std::string text_of(const Json& provider, const char* name) {
  const auto found = provider.find(name);
  return found != provider.end() && found->is_string() ? sanitize(found->get<std::string>(), 200)
                                                       : std::string();
}

}  // namespace

Result<std::vector<BuiltKernel>> build_kernels(const Context& context, const LabPlace& place) {
  std::vector<BuiltKernel> all;
  const Builder builder(context);
  for (const lab::Benchmark& benchmark : place.target.benchmarks) {
    const auto* race = std::get_if<lab::SweepRace>(&benchmark.kind);
    if (race == nullptr) continue;
    const auto files =
        read_sources(std::vector<std::string>{(place.target.folder / race->manifest).string()});
    if (!files) continue;  // The benchmark's own line says why.
    ASSAY_TRY(const input::Suite suite, suite_of(place, *race));
    for (const input::KernelSource& file : *files)
      for (const KernelEntry& entry : file.entries) all.push_back(builder.build(entry, suite));
  }
  return all;
}

Result<std::vector<BuiltKernel>> look_for_tools(const Context& context) {
  SubprocessOptions options;
  options.argv = {"/proc/self/exe", "providers", "--json", "--quiet"};
  options.env = context.settings.child_environment;
  ASSAY_TRY(const CommandOutput output,
            run_command(options, {.timeout_ns = kAnswerNs, .cancel_fd = context.cancel_fd}));
  const auto answer = parse_json(output.out, "assay providers");
  if (!answer || !answer->is_object() || !answer->contains("providers"))
    return std::vector<BuiltKernel>{
        {"fail", "compilers", "`assay providers` " + output.status.describe()}};
  const bool on_gpu = context.venue.is_gpu();
  std::vector<std::string> compilers, libraries;
  std::string reason;
  for (const auto& provider : built_in_providers()) {
    const ProviderInfo& info = provider->info();
    const bool compiles = info.role == ProviderRole::user && !provider->extensions().empty();
    if (!compiles && (info.role != ProviderRole::stock || info.on_gpu != on_gpu)) continue;
    const auto& list = (*answer)["providers"];
    const auto told = std::ranges::find_if(
        list, [&](const Json& one) { return text_of(one, "name") == info.name; });
    if (told == list.end()) continue;
    const std::string version = text_of(*told, "version"), path = text_of(*told, "path");
    if (told->value("available", false)) {
      if (!compiles)
        libraries.push_back(info.name + (version.empty() ? "" : " " + version));
      else if (!path.empty())
        compilers.push_back(path);
    } else if (info.name == (on_gpu ? "cuda_source" : "cpp_source")) {
      reason = text_of(*told, "reason");
    }
  }
  return std::vector<BuiltKernel>{
      reason.empty() ? BuiltKernel{"ok", "compilers", join(compilers, ", ")}
                     : BuiltKernel{"fail", "compilers", reason},
      libraries.empty() ? BuiltKernel{"warn", "libraries",
                                      "there is none to race against: "
                                      "`assay doctor` says what to install"}
                        : BuiltKernel{"ok", "libraries", join(libraries, ", ")}};
}

}  // namespace assay::cli
