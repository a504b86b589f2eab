#include "assay/worker/gpu/ceilings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/version.h"
#include "assay/process/gpu/code.h"
#include "assay/worker/gpu/peaks.h"

namespace assay::sweep {
namespace {

constexpr int kSlices = 5;
constexpr double kSliceNs = 2e6;
constexpr uint32_t kFirstSteps = 64;
constexpr uint32_t kMostSteps = 10'000'000;
constexpr size_t kBufferBytes = size_t{1} << 31;
constexpr uint32_t kThreads = 256;

class Runs {
 public:
  static Result<Runs> create(cuda::CudaDevice& device) {
    Runs runs(device);
    ASSAY_TRY(runs.stream_, device.make_stream());
    ASSAY_TRY(auto start, cuda::Event::create(device.driver()));
    ASSAY_TRY(auto end, cuda::Event::create(device.driver()));
    runs.start_ = std::make_unique<cuda::Event>(std::move(start));
    runs.end_ = std::make_unique<cuda::Event>(std::move(end));
    return runs;
  }

  // Nanoseconds of one launch.
  Result<double> time(const DeviceLaunch& launch) {
    const auto native = static_cast<cuda::abi::Stream>(stream_->native());
    ASSAY_TRY(start_->record(native));
    ASSAY_TRY(stream_->launch(launch));
    ASSAY_TRY(end_->record(native));
    ASSAY_TRY(stream_->synchronize());
    return end_->ns_since(*start_);
  }

  Result<double> best(const DeviceLaunch& launch) {
    double best = HUGE_VAL;
    for (int slice = 0; slice <= kSlices; ++slice) {
      ASSAY_TRY(const double ns, time(launch));
      if (slice > 0 && ns > 0) best = std::min(best, ns);  // The first one loads the code.
    }
    return best;
  }

 private:
  explicit Runs(cuda::CudaDevice&) {}
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<cuda::Event> start_, end_;
};

// Operations a second of a kernel that repeats one step.
Result<double> rate(cuda::CudaDevice& device, Runs& runs, const Peak& peak) {
  ASSAY_TRY(const auto code, load_code(device, peak.code));
  ASSAY_TRY(const auto function, code->function(peak.entry, 0, false));
  uint32_t steps = kFirstSteps;
  uint64_t nowhere = 0;
  const std::array<void*, 2> parameters = {&steps, &nowhere};
  const DeviceLaunch launch{
      .function = function.handle,
      .grid = {static_cast<uint32_t>(device.multiprocessors()) * peak.blocks, 1, 1},
      .block = {peak.threads, 1, 1},
      .parameters = parameters};
  ASSAY_TRY(const double first, runs.best(launch));
  if (!std::isfinite(first)) return 0.0;
  steps = static_cast<uint32_t>(
      std::clamp(kFirstSteps * kSliceNs / first, 1.0 * kFirstSteps, 1.0 * kMostSteps));
  ASSAY_TRY(const double ns, runs.best(launch));
  return std::isfinite(ns) ? peak.operations * steps * launch.grid[0] / (ns * 1e-9) : 0.0;
}

}  // namespace

Result<std::vector<Ceiling>> measure_gpu_ceilings(cuda::CudaDevice& device) {
  std::vector<Ceiling> ceilings;
  const std::string from = utc_now_iso8601();
  const auto add = [&](std::string name, double value, const char* unit) {
    if (value > 0 && std::isfinite(value))
      ceilings.push_back({std::move(name), value, unit, 1, from, utc_now_iso8601()});
  };
  ASSAY_TRY(auto runs, Runs::create(device));
  {
    const size_t half = std::min(kBufferBytes, device.memory_bytes() / 8) / 4096 * 4096;
    ASSAY_TRY(const auto memory, device.allocate(2 * half, {}));
    auto* data = static_cast<std::byte*>(memory->data());
    const auto& driver = *device.driver();
    ASSAY_TRY(driver.check(driver.call().fill_words(reinterpret_cast<cuda::abi::Address>(data),
                                                    0x3c5a, 2 * half / 4, nullptr),
                           "filling a buffer"));
    ASSAY_TRY(driver.check(driver.call().context_synchronize(), "filling a buffer"));
    ASSAY_TRY(const auto code, load_code(device, traffic_code(device.gpu())));
    ASSAY_TRY(const auto read, code->function("assay_read", 0, false));
    ASSAY_TRY(const auto copy, code->function("assay_copy", 0, false));
    void* to = data + half;
    uint64_t bytes = half;
    const auto launch = [&](void* function, std::span<void* const> parameters) {
      return DeviceLaunch{.function = function,
                          .grid = {static_cast<uint32_t>(device.multiprocessors()) * 8, 1, 1},
                          .block = {kThreads, 1, 1},
                          .parameters = parameters};
    };
    void* source = data;
    const std::array<void*, 3> parameters = {&to, &source, &bytes};
    ASSAY_TRY(const double copied, runs.best(launch(copy.handle, parameters)));
    bytes = 2 * half;
    ASSAY_TRY(const double seen, runs.best(launch(read.handle, parameters)));
    add("read", 2.0 * static_cast<double>(half) / (seen * 1e-9), "byte/s");
    add("copy", 2.0 * static_cast<double>(half) / (copied * 1e-9), "byte/s");
  }
  for (const Peak& peak : gpu_peaks(device.gpu())) {
    // What a GPU's driver does not assemble, the GPU has no ceiling of.
    if (const auto reached = rate(device, runs, peak))
      add(peak.name, *reached, "flop/s");
    else if (reached.error().code == ErrorCode::machine ||
             reached.error().code == ErrorCode::device_lost)
      return fail(reached.error());
  }
  return ceilings;
}

Result<std::vector<Ceiling>> gpu_ceilings(cuda::CudaDevice& device, const std::string& folder) {
  const std::string asked = fmt::format("{} {} {}", device.gpu().uuid,
                                        device.driver()->version_text(), build_info().version);
  const std::string path =
      fmt::format("{}/ceilings/{}.json", folder, sha256_hex(asked).substr(0, 16));
  constexpr size_t kMostBytes = 1 << 16;
  if (const auto text = read_file(path, kMostBytes)) {
    const Json kept = Json::parse(*text, nullptr, false);
    std::vector<Ceiling> ceilings;
    if (kept.is_object() && kept.value("for", Json()) == Json(asked) &&
        kept.value("ceilings", Json()).is_array())
      for (const Json& one : kept["ceilings"])
        if (one.is_object() && one.value("value", Json()).is_number())
          ceilings.push_back({one.value("name", ""), one["value"].get<double>(),
                              one.value("unit", ""), 1, one.value("from", ""),
                              one.value("until", "")});
    if (!ceilings.empty()) return ceilings;
  }
  ASSAY_TRY(const auto ceilings, measure_gpu_ceilings(device));
  Json list = Json::array();
  for (const Ceiling& one : ceilings)
    list.push_back({{"name", one.name},
                    {"value", one.value},
                    {"unit", one.unit},
                    {"from", one.from},
                    {"until", one.until}});
  // Without a place to keep them they are measured again.
  if (!folder.empty() && make_directories(folder + "/ceilings"))
    (void)write_file_atomic(path, Json({{"for", asked}, {"ceilings", list}}).dump(2));
  return ceilings;
}

}  // namespace assay::sweep
