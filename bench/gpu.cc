#include "bench/gpu.h"

#include <cstdlib>

#include "assay/base/file.h"
#include "assay/device/cuda/selection.h"
#include "bench/runs.h"

namespace assay::bench {
namespace {

// A warp for each column, which takes at least BASE cycles, and goes on until it has run longer by
// SLOW thousandths. All blocks of the bench's shapes are on the GPU together, so the launch is
// longer by as much. COPY makes kernels of one code.
constexpr const char* kSlowed = R"(// assay: {name: slowed, entry: slowed, dtype: f16, layout: tn,
//         args: [a, b, out, n, k],
//         tunables: {SLOW: [0, 10, 30], BASE: [0, 370000],
//                    COPY: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
//                           20, 21, 22, 23, 24]},
//         constraints: [m == 1, n % 8 == 0, k % 256 == 0], alignment: 16,
//         launch: {grid: n // 8, block: 256}, targets: [sm_80, sm_90a]}
#include <cuda_fp16.h>

__global__ void __launch_bounds__(256) slowed(const __half* a, const __half* b, __half* out, int n,
                                              int k) {
  const long long start = clock64();
  const int column = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int at = lane * 8; at < k; at += 256) {
    const uint4 packed = *reinterpret_cast<const uint4*>(b + static_cast<size_t>(column) * k + at);
    const uint4 row = *reinterpret_cast<const uint4*>(a + at);
    const __half* weights = reinterpret_cast<const __half*>(&packed);
    const __half* tokens = reinterpret_cast<const __half*>(&row);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += __half2float(tokens[i]) * __half2float(weights[i]);
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (lane == 0) out[column] = __float2half(sum);
  long long took = clock64() - start;
  if (took < BASE) took = BASE;
  while (clock64() - start < took + took * SLOW / 1000) {
  }
}
)";

}  // namespace

Result<std::string> bench_gpu() {
  const auto driver = cuda::Driver::open();
  if (!driver) return fail(ErrorCode::missing, "{}", driver.error().message);
  ASSAY_TRY(const auto gpus, cuda::list_gpus(**driver));
  const char* wanted = std::getenv("ASSAY_DEVICE");
  ASSAY_TRY(const int index, cuda::choose_device(wanted == nullptr ? "gpu" : wanted, gpus, ""));
  if (index < 0) return fail(ErrorCode::missing, "ASSAY_DEVICE names the CPU");
  return gpus[static_cast<size_t>(index)].uuid;
}

Result<sweep::Request> make_gpu_request(const Context& context, const std::string& name,
                                        measure::Spacing spacing) {
  sweep::Request request = make_request(context, name, {});
  ASSAY_TRY(request.venue.gpu, bench_gpu());
  ASSAY_TRY(request.question.condition, measure::parse_condition("", measure::Place::gpu));
  request.question.condition.has_spacing = true;
  request.question.condition.values.spacing = spacing;
  return request;
}

Result<std::string> slowed_source(const Context& context) {
  const std::string path = (context.folder / "slowed.cu").string();
  ASSAY_TRY(write_file_atomic(path, kSlowed));
  return path;
}

gemm::Shape gpu_shape(int64_t m, int64_t n, int64_t k) {
  gemm::Shape shape{.m = m, .n = n, .k = k, .dtype = DType::f16, .layout = "tn"};
  shape.constant = {"b"};
  return shape;
}

}  // namespace assay::bench
