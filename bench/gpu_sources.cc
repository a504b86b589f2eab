#include "bench/gpu_sources.h"

#include <span>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/embedded.h"
#include "assay/base/file.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "bench/gpu.h"
#include "bench/runs.h"

namespace assay::bench_files {
std::span<const EmbeddedFile> embedded_files();
}  // namespace assay::bench_files

namespace assay::bench {
namespace {

constexpr int64_t kHours = 3'600'000'000'000;

constexpr const char* kCopies = R"(
#include <cuda_fp16.h>

// A warp for each column. Half an add a step, so that the header is compiled too.
extern "C" __global__ void gemm(const float* a, const float* b, float* out, long long m,
                                long long n, long long k) {
  const long long column = blockIdx.x;
  for (long long row = 0; row < m; ++row) {
    float sum = 0;
    for (long long at = threadIdx.x; at < k; at += 32) sum += a[row * k + at] * b[column * k + at];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    const __half none = __hsub(__float2half(COPY), __float2half(COPY));
    if (threadIdx.x == 0) out[row * n + column] = sum + __half2float(none);
  }
}
)";

}  // namespace

Result<std::string> source_file(const Context& context, const std::string& name) {
  for (const EmbeddedFile& file : bench_files::embedded_files()) {
    if (file.name != name) continue;
    const auto path = context.folder / name;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error)
      return fail(ErrorCode::failed, "cannot make '{}': {}", path.parent_path().string(),
                  error.message());
    ASSAY_TRY(write_file_atomic(path.string(), file.content));
    return path.string();
  }
  return fail(ErrorCode::internal, "{} is not embedded", name);
}

Result<RunRecord> race_on_gpu(const Context& context, const std::string& name,
                              const std::vector<std::string>& words) {
  ASSAY_TRY(const std::string gpu, bench_gpu());
  const std::string folder = (context.folder / name).string();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  SubprocessOptions options;
  options.argv = {assay_program(), "race"};
  options.argv.insert(options.argv.end(), words.begin(), words.end());
  options.argv.insert(options.argv.end(),
                      {"--device", gpu, "--cache-dir", (context.folder / "race_cache").string(),
                       "--lock-dir", context.folder.string(), "--output-dir", folder});
  options.env = child_environment();
  ASSAY_TRY(const CommandOutput output, run_command(options, {.timeout_ns = kHours}));
  if (output.status.kind != ExitStatus::Kind::exited || output.status.code > 1)
    return fail(ErrorCode::failed, "assay race {}: {}", output.status.describe(),
                sanitize(output.err, 1000));
  return load_record(folder + "/record.json");
}

Result<std::string> copies_source(const Context& context, int copies) {
  const std::string path = (context.folder / "copies.cu").string();
  ASSAY_TRY(write_file_atomic(
      path, fmt::format("// assay: {{name: copies, entry: gemm, dtype: f32, layout: tn,\n"
                        "//         args: [a, b, out, m, n, k], tunables: {{COPY: [{}]}},\n"
                        "//         launch: {{grid: n, block: 32}}, targets: [sm_80, sm_90a]}}\n{}",
                        first_numbers(copies), kCopies)));
  return path;
}

Result<double> compile_copies(const std::string& source, int copies, const std::string& target,
                              const std::filesystem::path& cache, Cores cores) {
  SubprocessOptions options;
  if (cores == Cores::first) options.argv = {"/proc/self/exe", "pinned"};
  options.argv.insert(options.argv.end(), {assay_program(), "race", source, "--target", target,
                                           "--shape", kCopiesShape, "--cache-dir", cache.string()});
  options.env = child_environment();
  const int64_t start = monotonic_ns();
  ASSAY_TRY(const CommandOutput output, run_command(options, {.timeout_ns = 400'000'000'000}));
  const double seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
  if (!output.status.success() ||
      output.out.find(fmt::format("{} compiled for", copies)) == std::string::npos)
    return fail(ErrorCode::failed, "assay race --target {}: {}; {}", target,
                output.status.describe(),
                sanitize(output.err.empty() ? output.out : output.err, 600));
  return seconds;
}

std::string first_numbers(int count) {
  std::string text = "0";
  for (int i = 1; i < count; ++i) text += fmt::format(", {}", i);
  return text;
}

std::string assay_program() {
  std::error_code ignored;
  return (std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "assay")
      .string();
}

}  // namespace assay::bench
