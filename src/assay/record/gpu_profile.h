#pragma once

// What a profiler of GPUs (Nsight Compute's ncu) counted of one kernel, beside the timing: for
// reading what limits it. No claim rests on it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Metrics, by the tool's own names and in its base units: bytes, nanoseconds, percent. Of the GPU
// sm_90 as `ncu --query-metrics --chip gh100` lists them.
namespace metric {
inline constexpr std::string_view kNanoseconds = "gpu__time_duration.sum";
inline constexpr std::string_view kRead = "dram__bytes_read.sum";
inline constexpr std::string_view kWritten = "dram__bytes_write.sum";
inline constexpr std::string_view kMemory = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr std::string_view kL2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr std::string_view kTensor =
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
inline constexpr std::string_view kOccupancy = "sm__warps_active.avg.pct_of_peak_sustained_active";
inline constexpr std::string_view kLocalLoads = "smsp__inst_executed_op_local_ld.sum";
inline constexpr std::string_view kLocalStores = "smsp__inst_executed_op_local_st.sum";
inline constexpr std::string_view kWaves = "launch__waves_per_multiprocessor";
inline constexpr std::string_view kRegisters = "launch__registers_per_thread";
inline constexpr std::string_view kBlocks = "launch__grid_size";
inline constexpr std::string_view kThreads = "launch__block_size";
inline constexpr std::string_view kShared = "launch__shared_mem_per_block";
}  // namespace metric

// A kernel of the GPU that one launch is made of: a library's may be several.
struct ProfiledKernel {
  std::string name;
  std::map<std::string, double> metrics;  // Medians over the launches; what was not told is absent.

  std::optional<double> at(std::string_view metric) const;
  bool operator==(const ProfiledKernel&) const = default;
};

struct GpuProfile {
  std::string tool;                       // "ncu 2025.3.1"; empty where there is none.
  std::vector<std::string> command_line;  // As it was run; empty where nothing was.
  std::string output;                     // File of the run's folder that has what the tool wrote.
  std::string unavailable;                // Why there are no kernels; empty where there are some.
  std::string note;                       // What was left out of what was asked.
  int launches = 0;
  std::vector<ProfiledKernel> kernels;  // Of one launch, in order.

  // Over the kernels of a launch; nothing where one of them lacks it.
  std::optional<double> sum(std::string_view metric) const;
  // Their mean by time, or of one alone.
  std::optional<double> mean(std::string_view metric) const;
  bool operator==(const GpuProfile&) const = default;
};

}  // namespace assay
