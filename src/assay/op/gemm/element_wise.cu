// An epilogue as a kernel of its own, for libraries on a GPU that have none: it reads the sums that a
// product left, and writes out (epilogue_alone.h). element_wise.ptx beside it is made of this file:
//
//   nvcc -ptx -O3 --fmad=true -arch=compute_75 element_wise.cu -o element_wise.ptx
//
// and then says ".version 7.8", which drivers since 2022 read.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

using int64 = long long;
constexpr int kWidth = 8;  // Columns of a thread: 16 bytes of the narrow types.

// As ElementCode: f32, f16, bf16. As gemm::EpilogueStep::Kind.
enum : int { kF32 = 1, kF16 = 2, kBf16 = 3 };
enum : int {
  kBias,
  kRowBias,
  kResidual,
  kScale,
  kColumnScale,
  kRowScale,
  kRelu,
  kGelu,
  kGeluTanh,
  kSilu,
  kClamp,
  kSwiglu,
  kGeglu,
  kGegluTanh,
  kSwigluPairs,
  kGegluPairs,
  kGegluTanhPairs
};

__device__ float to_float(const void* from, int64 at, int dtype) {
  if (dtype == kF32) return static_cast<const float*>(from)[at];
  if (dtype == kF16) return __half2float(static_cast<const __half*>(from)[at]);
  return __bfloat162float(static_cast<const __nv_bfloat16*>(from)[at]);
}

__device__ bool is_aligned(const void* from, int64 at, int dtype) {
  const int bytes = dtype == kF32 ? 4 : 2;
  return (reinterpret_cast<unsigned long long>(from) + at * bytes) % 16 == 0;
}

// `count` elements `stride` apart; wide loads where they lie side by side.
__device__ __forceinline__ void load(const void* from, int64 at, int64 stride, int count, int dtype,
                                  float* to) {
  if (stride == 1 && count == kWidth && is_aligned(from, at, dtype)) {
    if (dtype == kF32) {
      const auto* wide = reinterpret_cast<const float4*>(static_cast<const float*>(from) + at);
      const float4 low = wide[0], high = wide[1];
      to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
      to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
      return;
    }
    const uint4 wide = *reinterpret_cast<const uint4*>(static_cast<const __half*>(from) + at);
    const unsigned words[4] = {wide.x, wide.y, wide.z, wide.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (dtype == kF16) {
        const __half2 pair = *reinterpret_cast<const __half2*>(&words[i]);
        to[2 * i] = __low2float(pair), to[2 * i + 1] = __high2float(pair);
      } else {
        to[2 * i] = __uint_as_float(words[i] << 16);
        to[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
      }
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < kWidth; ++i)
    if (i < count) to[i] = to_float(from, at + i * stride, dtype);
}

__device__ __forceinline__ void store(void* to, int64 at, int count, int dtype,
                                   const float* from) {
  if (count == kWidth && is_aligned(to, at, dtype)) {
    if (dtype == kF32) {
      auto* wide = reinterpret_cast<float4*>(static_cast<float*>(to) + at);
      wide[0] = make_float4(from[0], from[1], from[2], from[3]);
      wide[1] = make_float4(from[4], from[5], from[6], from[7]);
      return;
    }
    unsigned words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (dtype == kF16) {
        const __half2 pair = __floats2half2_rn(from[2 * i], from[2 * i + 1]);
        words[i] = *reinterpret_cast<const unsigned*>(&pair);
      } else {
        const __nv_bfloat16 low = __float2bfloat16_rn(from[2 * i]);
        const __nv_bfloat16 high = __float2bfloat16_rn(from[2 * i + 1]);
        words[i] = *reinterpret_cast<const unsigned short*>(&low) |
                   static_cast<unsigned>(*reinterpret_cast<const unsigned short*>(&high)) << 16;
      }
    }
    *reinterpret_cast<uint4*>(static_cast<__half*>(to) + at) =
        make_uint4(words[0], words[1], words[2], words[3]);
    return;
  }
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    if (i >= count) continue;
    if (dtype == kF32)
      static_cast<float*>(to)[at + i] = from[i];
    else if (dtype == kF16)
      static_cast<__half*>(to)[at + i] = __float2half_rn(from[i]);
    else
      static_cast<__nv_bfloat16*>(to)[at + i] = __float2bfloat16_rn(from[i]);
  }
}

// Inline and unrolled: x stays in registers. A call with an address would put it into memory.
__device__ __forceinline__ float silu(float x) { return x / (1.0f + __expf(-x)); }
__device__ __forceinline__ float gelu(float x) {
  return 0.5f * x * (1.0f + erff(x * 0.70710678f));
}
__device__ __forceinline__ float gelu_tanh(float x) {
  return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

__device__ __forceinline__ void functions(int kind, float* x) {
  if (kind == kSilu || kind == kSwiglu || kind == kSwigluPairs) {
#pragma unroll
    for (int c = 0; c < kWidth; ++c) x[c] = silu(x[c]);
  } else if (kind == kGelu || kind == kGeglu || kind == kGegluPairs) {
#pragma unroll
    for (int c = 0; c < kWidth; ++c) x[c] = gelu(x[c]);
  } else {
#pragma unroll
    for (int c = 0; c < kWidth; ++c) x[c] = gelu_tanh(x[c]);
  }
}

struct Step {
  int kind, dtype;
  float low, high;
  int64 batch, row, column;
  const void* operand;
};

__device__ __forceinline__ void step_on(const Step& step, int64 l, int64 i, int64 j, int64 stride,
                                        int count, float* x) {
  if (step.kind <= kRowScale) {
    float operand[kWidth] = {};
    load(step.operand, l * step.batch + i * step.row + j * step.column, stride * step.column,
         count, step.dtype, operand);
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      x[c] = step.kind <= kResidual ? x[c] + operand[c] : x[c] * operand[c];
  } else if (step.kind == kRelu) {
#pragma unroll
    for (int c = 0; c < kWidth; ++c) x[c] = x[c] < 0 ? 0.0f : x[c];
  } else if (step.kind == kClamp) {
    const float low = step.low, high = step.high;
#pragma unroll
    for (int c = 0; c < kWidth; ++c) x[c] = x[c] < low ? low : x[c] > high ? high : x[c];
  } else {
    functions(step.kind, x);
  }
}

}  // namespace

#define STEP(i)                                                                              \
  int kind##i, int dtype##i, float low##i, float high##i, int64 batch##i, int64 row##i,      \
      int64 column##i, const void *operand##i
#define MADE(i) \
  all[i] = {kind##i, dtype##i, low##i, high##i, batch##i, row##i, column##i, operand##i}

// Sums are rows of n elements, `sums_row` apart; out has `columns`, side by side. gate: the step
// that is one, or -1. dtype: of sums and out.
extern "C" __global__ void assay_element_wise(const void* sums, void* out, int64 l, int64 m,
                                              int64 n, int64 columns, int64 sums_batch,
                                              int64 sums_row, int64 out_batch, int64 out_row,
                                              int dtype, int steps, int gate, STEP(0), STEP(1),
                                              STEP(2), STEP(3), STEP(4), STEP(5), STEP(6),
                                              STEP(7)) {
  // Which step is next is not known ahead, so that registers cannot hold them.
  __shared__ Step all[8];
  if (threadIdx.x == 0) {
    MADE(0), MADE(1), MADE(2), MADE(3), MADE(4), MADE(5), MADE(6), MADE(7);
  }
  __syncthreads();
  const int64 groups = (columns + kWidth - 1) / kWidth, items = l * m * groups;
  const bool pairs = gate >= 0 && all[gate].kind >= kSwigluPairs;
  const int64 stride = pairs ? 2 : 1;
  const bool is_narrow = items <= 0xffffffff;
  for (int64 item = blockIdx.x * int64{blockDim.x} + threadIdx.x; item < items;
       item += int64{gridDim.x} * blockDim.x) {
    // Division of 64 bits takes longer than all that follows.
    const int64 line = is_narrow ? static_cast<unsigned>(item) / static_cast<unsigned>(groups)
                                 : item / groups;
    const int64 j = (item - line * groups) * kWidth, b = l == 1 ? 0 : line / m, i = line - b * m;
    const int count = columns - j < kWidth ? static_cast<int>(columns - j) : kWidth;
    const int64 from = b * sums_batch + i * sums_row;
    const int64 first = pairs ? 2 * j : j, second = pairs ? 2 * j + 1 : n / 2 + j;
    float x[kWidth] = {}, up[kWidth] = {};
    if (pairs && count == kWidth) {
      // Both of each pair at once.
      float low[kWidth], high[kWidth];
      load(sums, from + first, 1, kWidth, dtype, low);
      load(sums, from + first + kWidth, 1, kWidth, dtype, high);
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        x[c] = low[2 * c], up[c] = low[2 * c + 1];
        x[c + 4] = high[2 * c], up[c + 4] = high[2 * c + 1];
      }
    } else {
      load(sums, from + first, stride, count, dtype, x);
      if (gate >= 0) load(sums, from + second, stride, count, dtype, up);
    }
    const int ahead = gate < 0 ? steps : gate;
    for (int s = 0; s < ahead; ++s) {
      step_on(all[s], b, i, first, stride, count, x);
      if (gate >= 0) step_on(all[s], b, i, second, stride, count, up);
    }
    if (gate >= 0) {
      functions(all[gate].kind, x);
#pragma unroll
      for (int c = 0; c < kWidth; ++c) x[c] *= up[c];
      for (int s = gate + 1; s < steps; ++s) step_on(all[s], b, i, j, 1, count, x);
    }
    store(out, b * out_batch + i * out_row + j, count, dtype, x);
  }
}
