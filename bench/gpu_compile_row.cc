// Compiling for a GPU, which need not be here: all cores against one.

#include <algorithm>
#include <sched.h>
#include <unistd.h>

#include <fmt/format.h>

#include "bench/gpu_sources.h"
#include "bench/roles.h"

namespace assay::bench {
namespace {

constexpr int kKernels = 100, kCores = 16;
constexpr double kLeast = 8;  // Times one core, on so many.

int allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// Into an empty cache.
Result<double> compile(const Context& context, const std::string& source, int kernels,
                       bool pinned) {
  const auto cache = context.folder / "compile_cache";
  std::error_code ignored;
  std::filesystem::remove_all(cache, ignored);
  return compile_copies(source, kernels, "sm_90a", cache, pinned ? Cores::first : Cores::all);
}

}  // namespace

int pinned_main(char** words) {
  cpu_set_t allowed, first;
  CPU_ZERO(&allowed);
  CPU_ZERO(&first);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&first) == 0; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &first);
  if (sched_setaffinity(0, sizeof first, &first) != 0) return 1;
  ::execv(words[0], words);
  return 1;
}

Result<std::vector<Row>> measure_gpu_compile(const Context& context) {
  const int kernels = context.count(kKernels, 8), cores = allowed_cpus();
  ASSAY_TRY(const std::string source, copies_source(context, kernels));
  // The compiler's own library is read from the disk once, outside of what is timed.
  ASSAY_TRY(compile(context, source, kernels, false).map([](double) {}));
  ASSAY_TRY(const double all, compile(context, source, kernels, false));
  ASSAY_TRY(const double one, compile(context, source, kernels, true));
  const double wanted = kLeast * std::min(cores, kCores) / kCores;
  Row row{.target = fmt::format("{} NVRTC kernels on {} cores", kernels, cores),
          .bound = fmt::format(">= {:.0f} x one core on {}", kLeast, kCores),
          .measured = fmt::format("{:.2f} x ({:.1f} s against {:.1f} s)", one / all, all, one),
          .ok = one / all >= wanted,
          .stretch = cores < kCores};
  if (cores < kCores)
    row.notes.push_back(fmt::format(
        "compile: the bound is for {} cores; of {} it would be {:.2g} x.", kCores, cores, wanted));
  row.details = {
      {"cores", cores}, {"kernels", kernels}, {"all_seconds", all}, {"one_seconds", one}};
  return std::vector<Row>{std::move(row)};
}

}  // namespace assay::bench
