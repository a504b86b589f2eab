#pragma once

// What our own device code has in common. It is PTX, which the driver assembles for the GPU at
// hand: no compiler is needed where it runs.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/device/cuda/cuda_device.h"
#include "assay/tensor/dtype.h"

namespace assay::sweep {

// A thread's place in the whole grid goes to %d5, the number of threads to %d7; %r2 to %r5 and %d6
// are scratch, %r4 keeps its place in its block.
inline constexpr std::string_view kThreadPlace = R"(
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mov.u32 %r5, %nctaid.x;
  mul.wide.u32 %d5, %r2, %r3;
  cvt.u64.u32 %d6, %r4;
  add.u64 %d5, %d5, %d6;
  mul.wide.u32 %d7, %r3, %r5;
)";

// What begins each text, for a target as code_target() names it.
std::string code_header(const std::string& target);

// The finaliser of splitmix64 (Steele, Lea and Flood, 2014) on the register `word`; another is
// scratch.
std::string mix_word(std::string_view word, std::string_view scratch);

// How device code reads and writes an element.
enum class ElementCode : uint32_t { f64, f32, f16, bf16, s8, s32 };
Result<ElementCode> element_code(DType dtype);  // Unsupported for types that are names only.

// Threads of a block.
inline constexpr uint32_t kCodeThreads = 256;

// Blocks for a loop over `items`, in which each thread goes on by the number of all threads: no
// more than the GPU holds at once.
uint32_t blocks_for(const cuda::CudaDevice& device, size_t items);

// What it is written for: the oldest GPUs that it may meet, or, where newer instructions
// help, 9.0.
std::string code_target(const cuda::Gpu& gpu);

// Assembles it. Errors are the driver's, with what its assembler said.
Result<std::shared_ptr<const cuda::Module>> load_code(cuda::CudaDevice& device,
                                                      const std::string& ptx);

}  // namespace assay::sweep
