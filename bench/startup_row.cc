// What every use pays before anything is measured: finding kernels, and starting the program.

#include <algorithm>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/text.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/kernel/catalog.h"
#include "assay/op/gemm/gemm.h"
#include "assay/stats/robust.h"
#include "bench/runs.h"

namespace assay::bench {
namespace {

// The slowest of several shapes: median microseconds of get_kernels with everything loaded.
Result<Row> measure_search(const Context& context) {
  Catalog catalog;
  const auto providers = built_in_providers();
  for (const auto& provider : providers) catalog.add(*provider);
  const Target target = cpu::host_target();
  Row row{.target = "get_kernels once warm: all providers, by problem and target",
          .bound = "<= 200 us"};
  row.details = Json::array();
  double worst = 0;
  for (const DType dtype : {DType::f32, DType::bf16, DType::s8}) {
    for (const int64_t m : {1, 16, 512}) {
      ASSAY_TRY(const Problem problem,
                gemm::problem(gemm::Shape{
                    .m = m,
                    .n = 4096,
                    .k = 4096,
                    .dtype = dtype,
                    .out = dtype == DType::s8 ? std::optional(DType::s32) : std::nullopt,
                    .constant = {"b"}}));
      std::vector<double> times;
      size_t found_kernels = 0;
      for (int i = 0; i < context.count(301, 31); ++i) {
        const int64_t start = monotonic_ns();
        const auto found = catalog.get_kernels(problem, {.target = target});
        times.push_back(static_cast<double>(monotonic_ns() - start) * 1e-3);
        if (!found) return fail(found.error());
        found_kernels = found->kernels.size();
      }
      const double median = stats::median(times);
      worst = std::max(worst, median);
      row.details.push_back({{"problem", problem.name()},
                             {"dtype", to_string(dtype)},
                             {"us", median},
                             {"kernels", found_kernels}});
    }
  }
  row.measured = fmt::format("{:.0f} us", worst);
  row.ok = worst <= 200;
  row.notes.push_back("get_kernels once warm: the slowest of m 1, 16, 512 in f32, bf16 and s8.");
  return row;
}

// Waits for the process itself: the pipes and clocks of run_command() take longer than it runs.
Result<int> run_to_end(const std::vector<char*>& arguments) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int failed =
      posix_spawn(&pid, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return fail(ErrorCode::machine, "cannot start '{}'", arguments.front());
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid) return fail(ErrorCode::machine, "a process is lost");
  return status;
}

// Median milliseconds of a whole run of the program, from spawning it to its end.
Result<Row> measure_start(std::vector<std::string> words, double bound_ms, int repeats) {
  std::error_code ignored;
  const auto program =
      std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "assay";
  const std::string shown = "assay " + join(words, " ");
  std::vector<char*> arguments = {const_cast<char*>(program.c_str())};
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const int64_t start = monotonic_ns();
    ASSAY_TRY(const int status, run_to_end(arguments));
    times.push_back(static_cast<double>(monotonic_ns() - start) * 1e-6);
    if (status != 0) return fail(ErrorCode::failed, "{} ended with status {}", shown, status);
  }
  const double median = stats::median(times);
  Row row{.target = "start to end of `" + shown + "`",
          .bound = fmt::format("<= {:.0f} ms", bound_ms),
          .measured = fmt::format("{:.1f} ms", median),
          .ok = median <= bound_ms};
  row.details = {{"median_ms", median}, {"repeats", repeats}};
  return row;
}

}  // namespace

Result<std::vector<Row>> measure_startup(const Context& context) {
  std::vector<Row> rows;
  ASSAY_TRY(rows.emplace_back(), measure_search(context));
  ASSAY_TRY(rows.emplace_back(), measure_start({"--version"}, 10, context.count(51, 5)));
  ASSAY_TRY(rows.emplace_back(),
            measure_start({"kernels", "--shape", "m=16,n=4096,k=4096,dtype=f32"}, 100,
                          context.count(21, 3)));
  return rows;
}

}  // namespace assay::bench
