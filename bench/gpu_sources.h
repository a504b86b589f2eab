#pragma once

// Kernels of the rows on a GPU, as the sources that users have.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "assay/record/record.h"
#include "bench/row.h"

namespace assay::bench {

// A file of the checkout that this program holds, "examples/hopper_skinny/skinny.cu", written into
// the bench's folder under that name: it needs no checkout where it runs.
Result<std::string> source_file(const Context& context, const std::string& name);

// What `assay race` on the bench's GPU with these words says; its record lies in the bench's
// folder under `name`.
Result<RunRecord> race_on_gpu(const Context& context, const std::string& name,
                              const std::vector<std::string>& words);

// f32 GEMM as CUDA source with a tunable that changes nothing: as many kernels to compile.
Result<std::string> copies_source(const Context& context, int copies);

// Seconds of `assay race --target` of that source's kernels, into `cache`.
enum class Cores : uint8_t { all, first };
Result<double> compile_copies(const std::string& source, int copies, const std::string& target,
                              const std::filesystem::path& cache, Cores cores);
// The one problem that they are compiled for.
inline constexpr const char* kCopiesShape = "m=1,n=64,k=64,dtype=f32";

// "0, 1, 2": values of a tunable.
std::string first_numbers(int count);

// The program `assay`, which lies beside this one.
std::string assay_program();

}  // namespace assay::bench
