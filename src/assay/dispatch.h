#pragma once

// Everything that a program needs to run the kernels of a tuned table (docs/dispatch.md). Link
// assay::dispatch, and assay::providers for the kernels that come with assay. The arguments of an
// operation are in its own header, such as op/gemm/tuned.h.

#include "assay/device/cpu/cpu_device.h"
#include "assay/kernel/catalog.h"
#include "assay/select/tuned_table.h"
