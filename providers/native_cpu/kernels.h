#pragma once

// The functions behind a design: found by its instruction set, algorithm, type and tile.

#include "gemm_call.h"

namespace assay::native_cpu {

// Memory sizes are bytes; memory handed in is aligned to 64. run returns 0, or 1 where threads
// could not be had. prepare writes prepared_bytes from call.b; null unless algorithm is panels.
struct KernelFunctions {
  int (*run)(const GemmCall& call, const Tiling& tiling, void* workspace) = nullptr;
  int64_t (*workspace_bytes)(const GemmCall& call, const Tiling& tiling) = nullptr;
  int (*prepare)(const GemmCall& call, void* prepared) = nullptr;
  int64_t (*prepared_bytes)(const GemmCall& call) = nullptr;
  int largest_mr = 0;  // Rows of the largest tile that the registers hold.
  explicit operator bool() const { return run != nullptr; }
};

// Empty where no such kernel was built: an nv that is not instantiated.
KernelFunctions find_kernel(const Tiling& tiling);

// Whether this processor and operating system run its kernels for inputs of that type.
bool is_supported(Isa isa, Element in);

// Each defined in the one file that is compiled for that instruction set.
KernelFunctions find_avx2(const Tiling& tiling);
KernelFunctions find_avx512(const Tiling& tiling);
KernelFunctions find_avx512_bf16(const Tiling& tiling);
KernelFunctions find_avx512_vnni(const Tiling& tiling);
KernelFunctions find_amx(const Tiling& tiling);

// Whether the system lets this process use the tiles of AMX. Asked of it at the first call.
bool amx_is_permitted();

}  // namespace assay::native_cpu
