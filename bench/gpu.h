#pragma once

// What the rows measured on a GPU share.

#include <string>
#include <vector>

#include "assay/measure/condition.h"
#include "assay/op/gemm/gemm.h"
#include "assay/sweep/sweep.h"
#include "bench/row.h"

namespace assay::bench {

// UUID of the GPU that ASSAY_DEVICE names (default: the first). ErrorCode::missing without one.
Result<std::string> bench_gpu();

// As make_request, on that GPU.
Result<sweep::Request> make_gpu_request(const Context& context, const std::string& name,
                                        measure::Spacing spacing);

// A kernel's launch that takes longer by a known share, as CUDA source with the tunable SLOW
// (thousandths), written into the bench's folder.
Result<std::string> slowed_source(const Context& context);

// f16, weights [n, k] constant.
gemm::Shape gpu_shape(int64_t m, int64_t n, int64_t k);

}  // namespace assay::bench
