#pragma once

// Picks the instance of a kernel template that a design names. Include it, like the templates,
// where the mode's instructions are enabled.

#include "blocked.h"
#include "built.h"
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

// Of tiles whose b has NG groups.
template <class Mode, Element In, int NG>
KernelFunctions find_tile(Algorithm algorithm) {
  constexpr int kLargest = largest_mr<Mode>(NG);
  constexpr int kVectors = NG * Mode::kGroup;
  switch (algorithm) {
    case Algorithm::rows:
      if constexpr (is_built(In, Algorithm::rows, kVectors))
        return functions_of<RowsKernel<Mode, NG, false>>(kLargest);
      break;
    case Algorithm::kept:
      // With 16 registers tiles are so low that what is kept is hardly nearer than b.
      if constexpr (Mode::kRegisters == 32 && is_built(In, Algorithm::kept, kVectors))
        return functions_of<RowsKernel<Mode, NG, true>>(kLargest);
      break;
    case Algorithm::blocked:
      if constexpr (is_built(In, Algorithm::blocked, kVectors)) {
        KernelFunctions functions = functions_of<BlockedKernel<Mode, NG, false>>(kLargest);
        functions.prepare = nullptr;
        functions.prepared_bytes = nullptr;
        return functions;
      }
      break;
    case Algorithm::panels:
      if constexpr (is_built(In, Algorithm::panels, kVectors))
        return functions_of<BlockedKernel<Mode, NG, true>>(kLargest);
      break;
    case Algorithm::dots:
      break;
  }
  return {};
}

// Of dot tiles with NR rows of b.
template <class Mode, Element In, int NR>
KernelFunctions find_dots() {
  if constexpr (is_built(In, Algorithm::dots, NR))
    return functions_of<DotsKernel<Mode, NR>>(DotsKernel<Mode, NR>::kLargest);
  return {};
}

// NG and NR: which groups per tile, and which numbers of rows of b in a dot tile, there are.
template <class Mode, Element In, int... NG, int... NR>
KernelFunctions find_mode(const Tiling& tiling, std::integer_sequence<int, NG...>,
                          std::integer_sequence<int, NR...>) {
  KernelFunctions found;
  if (tiling.algorithm == Algorithm::dots)
    ((tiling.nv == NR && (found = find_dots<Mode, In, NR>(), true)) || ...);
  else
    ((tiling.nv == NG * Mode::kGroup &&
      (found = find_tile<Mode, In, NG>(tiling.algorithm), true)) ||
     ...);
  return found;
}

}  // namespace assay::native_cpu
