#pragma once

// What is fixed of the tool cutlass_profiler, for assay: it is no provider, though it times the
// kernels of one.

namespace assay::profiler {

inline constexpr const char* kProvider = "cutlass";  // Whose kernels it times.
inline constexpr const char* kFolder = "artifacts/cutlass_profiler";
inline constexpr const char* kResultsFile = "cutlass_profiler_results.json";  // In that folder.

}  // namespace assay::profiler
