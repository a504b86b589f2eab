#include "compile.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <poll.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/compiler.h"
#include "assay/base/fd.h"
#include "assay/base/file.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/kernel/device_code/resources.h"
#include "call.h"

namespace assay::cutlass {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSource = "kernel.cu";
constexpr const char* kObject = "kernel.so";
// CompileContext's limit is for a user's source; the parent allows for twice that.
constexpr double kPatience = 2;
// An object has a few megabytes: even a disk that reads one in a second is done by then.
constexpr double kMappingSeconds = 10;

int64_t number_before(std::string_view text, std::string_view words) {
  const size_t at = text.find(words);
  if (at == std::string_view::npos) return 0;
  size_t from = at;
  while (from > 0 && text[from - 1] >= '0' && text[from - 1] <= '9') --from;
  int64_t number = 0;
  std::from_chars(text.data() + from, text.data() + at, number);
  return number;
}

// Bytes that are free now, or as many as one compiler needs where that cannot be read.
int64_t free_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemAvailable:")) return number_before(line, " kB") * 1024;
  return kCompilerBytes;
}

// Compilers of this machine that take turns: one lock file for each that memory has room for.
Result<FileLock> take_turn(const fs::path& cache, double seconds, int cancel_fd) {
  const fs::path folder = cache / "cutlass";
  ASSAY_TRY(make_directories(folder.string()));
  const auto cores = static_cast<int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  const int64_t most = std::clamp<int64_t>(free_memory() / kCompilerBytes, 1, cores);
  const auto file = [&](int64_t slot) {
    return (folder / fmt::format("compiler-{}.lock", slot)).string();
  };
  for (int64_t slot = 0; slot < most; ++slot) {
    auto taken = FileLock::try_lock(file(slot), "nvcc");
    if (taken || taken.error().code != ErrorCode::busy) return taken;
  }
  return FileLock::lock(file(::getpid() % most),
                        {.deadline_ns = monotonic_ns() + static_cast<int64_t>(seconds * 1e9),
                         .keep_waiting =
                             [&](std::string_view) {
                               if (cancel_fd < 0) return true;
                               const auto asked = wait_for_fd(cancel_fd, POLLIN, monotonic_ns());
                               return !asked || !*asked;
                             }},
                        "nvcc");
}

Result<std::string> run_nvcc(const Toolchain& toolchain, const fs::path& folder,
                             const std::string& code, const CompileContext& context) {
  SubprocessOptions options;
  options.argv = {toolchain.nvcc};
  for (const std::string& flag : compile_flags(code)) options.argv.push_back(flag);
  options.argv.insert(options.argv.end(),
                      {"-I", toolchain.headers.include, "-o", kObject, kSource});
  options.env = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "TMPDIR=" + folder.string()};
  options.working_directory = folder.string();
  options.address_space_bytes =
      static_cast<std::uint64_t>(std::max<int64_t>(context.memory_bytes, 0));
  const double seconds = kPatience * context.timeout_seconds;
  ASSAY_TRY(const CommandOutput output,
            run_command(options, {.timeout_ns = static_cast<int64_t>(seconds * 1e9),
                                  .cancel_fd = context.cancel_fd}));
  if (output.timed_out)
    return fail(ErrorCode::build_failed, "nvcc was stopped after {} (twice --compile-timeout)",
                format_duration(seconds));
  if (!output.status.success())
    return fail(ErrorCode::build_failed, "nvcc {}:{}", output.status.describe(),
                first_lines(output.err.empty() ? output.out : output.err, "ptxas info"));
  return output.out + output.err;
}

}  // namespace

Resources resources_of(std::string_view compiler_output) {
  // Its kernels are parts of one call: what any of them takes.
  const device_code::Resources most = device_code::resources_of(compiler_output, "");
  const auto lines = split(compiler_output, '\n');
  return {most.registers.value_or(0), most.spill_store_bytes.value_or(0),
          most.spill_load_bytes.value_or(0), most.stack_bytes.value_or(0),
          std::ranges::any_of(lines, [](std::string_view line) {
            return line.find("wgmma") != std::string_view::npos &&
                   line.find("serialized") != std::string_view::npos;
          })};
}

std::string objection(const Json& facts) {
  const auto number = [&](const char* name) {
    const auto found = facts.find(name);
    return found != facts.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
  };
  const int64_t spilled = number("spill_store_bytes") + number("spill_load_bytes");
  if (spilled > 0)
    return fmt::format(
        "it spills: {} sums a thread do not fit beside the rest into its {} registers, and {} "
        "bytes are stored and loaded again",
        number("accumulators"), number("registers"), spilled);
  const auto serialised = facts.find("serialised");
  if (serialised != facts.end() && serialised->is_boolean() && serialised->get<bool>())
    return "the compiler serialises its tensor instructions: each waits for the one before";
  return {};
}

Result<Artifact> compile(const Configuration& configuration, const Toolchain& toolchain,
                         const Target& target, const CompileContext& context) {
  if (context.cache == nullptr)
    return fail(ErrorCode::internal, "a source is compiled into a cache, and none was given");
  ASSAY_TRY(const Json key, key_of(configuration, target, toolchain.identity));
  ASSAY_TRY(const std::string source, configuration.source());
  const std::string code = configuration.operands.generation->code_for(target);
  const auto build = [&](const fs::path& folder) -> Result<ArtifactCache::Built> {
    ASSAY_TRY(const FileLock turn,
              take_turn(context.cache->root(), 60 * context.timeout_seconds, context.cancel_fd));
    ASSAY_TRY(write_file_atomic((folder / kSource).string(), source));
    const int64_t start = monotonic_ns();
    ASSAY_TRY(const std::string output, run_nvcc(toolchain, folder, code, context));
    const double seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
    ASSAY_TRY(const std::string version, toolchain.compiler_version());
    ASSAY_TRY(const KernelFacts kernel,
              ask_object((folder / kObject).string(),
                         std::min(context.timeout_seconds, kMappingSeconds), context.cancel_fd));
    const Resources resources = resources_of(output);
    return ArtifactCache::Built{kObject,
                                {{"kernel", configuration.stock_name()},
                                 {"compiler", fmt::format("{} {}", toolchain.nvcc, version)},
                                 {"cutlass", toolchain.headers.version},
                                 {"flags", compile_flags(code)},
                                 {"seconds", seconds},
                                 {"registers", resources.registers},
                                 {"spill_store_bytes", resources.spill_store_bytes},
                                 {"spill_load_bytes", resources.spill_load_bytes},
                                 {"stack_bytes", resources.stack_bytes},
                                 {"serialised", resources.serialised},
                                 {"accumulators", kernel.accumulators},
                                 {"dynamic_shared_bytes", kernel.shared_bytes},
                                 {"stages", kernel.stages},
                                 {"threads", kernel.threads}}};
  };
  auto artifact = context.cache->get_or_build(key, build);
  if (!artifact) return fail(with_context(std::move(artifact).error(), configuration.stock_name()));
  Shelf(context.cache->root(), toolchain.identity, code).note(configuration.stock_name());
  return artifact;
}

}  // namespace assay::cutlass
