#pragma once

// Picks the instance of a kernel template that a design names. Include it, like the templates,
// where the mode's instructions are enabled.

#include "blocked.h"
#include "dots.h"
#include "kernels.h"
#include "rows.h"

namespace assay::native_cpu {

template <class Kernel>
KernelFunctions functions_of(int largest) {
  KernelFunctions functions;
  functions.run = &Kernel::run;
  functions.workspace_bytes = &Kernel::workspace_bytes;
  functions.largest_mr = largest;
  if constexpr (requires { &Kernel::prepare; }) {
    functions.prepare = &Kernel::prepare;
    functions.prepared_bytes = &Kernel::prepared_bytes;
  }
  return functions;
}

template <class Mode, int NG>
KernelFunctions find_tile(Algorithm algorithm) {
  constexpr int kLargest = largest_mr<Mode>(NG);
  switch (algorithm) {
    case Algorithm::rows:
      return functions_of<RowsKernel<Mode, NG, false>>(kLargest);
    case Algorithm::kept:
      // With 16 registers tiles are so low that what is kept is hardly nearer than b.
      if constexpr (Mode::kRegisters == 32)
        return functions_of<RowsKernel<Mode, NG, true>>(kLargest);
      break;
    case Algorithm::blocked: {
      KernelFunctions functions = functions_of<BlockedKernel<Mode, NG, false>>(kLargest);
      functions.prepare = nullptr;
      functions.prepared_bytes = nullptr;
      return functions;
    }
    case Algorithm::panels:
      return functions_of<BlockedKernel<Mode, NG, true>>(kLargest);
    case Algorithm::dots:
      break;
  }
  return {};
}

// NG and NR: which groups per tile, and which numbers of rows of b in a dot tile, are built.
template <class Mode, int... NG, int... NR>
KernelFunctions find_mode(const Tiling& tiling, std::integer_sequence<int, NG...>,
                          std::integer_sequence<int, NR...>) {
  KernelFunctions found;
  if (tiling.algorithm == Algorithm::dots)
    ((tiling.nv == NR &&
      (found = functions_of<DotsKernel<Mode, NR>>(DotsKernel<Mode, NR>::kLargest), true)) ||
     ...);
  else
    ((tiling.nv == NG * Mode::kGroup && (found = find_tile<Mode, NG>(tiling.algorithm), true)) ||
     ...);
  return found;
}

}  // namespace assay::native_cpu
