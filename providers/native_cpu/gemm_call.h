#pragma once

// What every kernel of this provider is called with: one GEMM with pointers and strides, and the
// row of the design space that says how to do it. Nothing here depends on an instruction set, so
// that the files that do may include it before they switch their target on.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace assay::native_cpu {

enum class Element : uint8_t { f32, bf16, f16, s8, s32 };

inline int64_t element_bytes(Element element) {
  switch (element) {
    case Element::f32:
    case Element::s32:
      return 4;
    case Element::bf16:
    case Element::f16:
      return 2;
    case Element::s8:
      return 1;
  }
  return 0;
}

// What becomes of a sum before it is an element of out.
enum class StepKind : uint8_t { add, multiply, relu, gelu, gelu_tanh, silu, clamp };

// Strides count elements; 0 where there is one for all batches, rows or columns.
struct EpilogueStep {
  StepKind kind = StepKind::relu;
  Element element = Element::f32;  // Of data.
  float low = 0, high = 0;         // Of clamp.
  const void* data = nullptr;      // What is added, or multiplied by.
  int64_t batch_stride = 0, row_stride = 0, column_stride = 0;
};
inline constexpr int kMostSteps = 8;

// out[l,m,n] = alpha * sum_k a[l,m,k] b[l,k,n] + beta * c[l,m,n]; sums are kept in f32, of s8 in
// s32 (modulo 2^32). Strides count elements. c has the type of out and is not read when beta is 0.
// Steps follow in f32, and are none where sums are s32.
struct GemmCall {
  int64_t l = 1, m = 0, n = 0, k = 0;
  Element in = Element::f32;   // Type of a and b: f32, bf16, f16 or s8.
  Element out = Element::f32;  // Type of out and c: f32 or that of a; s32 for s8.
  const void* a = nullptr;
  int64_t a_batch = 0, a_row = 0, a_column = 1;  // a_row steps m, a_column steps k.
  const void* b = nullptr;                       // Not read by kernels on prepared panels.
  int64_t b_batch = 0, b_row = 0, b_column = 1;  // b_row steps k, b_column steps n.
  const void* c = nullptr;
  int64_t c_batch = 0, c_row = 0, c_column = 1;
  void* d = nullptr;
  int64_t d_batch = 0, d_row = 0, d_column = 1;
  float alpha = 1, beta = 0;
  int32_t whole_alpha = 1, whole_beta = 0;  // The same for s32 sums, where f32 would round them.
  const void* panels = nullptr;             // Prepared b, as the row's prepare function wrote it.
  const EpilogueStep* steps = nullptr;
  int64_t step_count = 0;
};

enum class Isa : uint8_t { avx2, avx512, avx512_bf16, avx512_vnni, amx };
enum class Algorithm : uint8_t {
  rows,     // b as [k,n]: a few rows of b at a time, partial results kept compact.
  kept,     // As rows, where rows of a make several passes: the first keeps b as the others use it.
  dots,     // b as [n,k]: dot products along k, several rows of b at a time.
  blocked,  // Cache blocks with b packed on the fly.
  panels,   // As blocked, on panels packed ahead from a constant b.
};

// One point of the design space. Blocks are in elements.
struct Tiling {
  Isa isa = Isa::avx2;
  Algorithm algorithm = Algorithm::rows;
  Element in = Element::f32;
  int mr = 1;     // Most rows of a in one register tile.
  int nv = 1;     // rows, blocked, panels: vectors of columns in a tile; dots: most columns.
  int kc = 64;    // k per pass over a block of b (0: all of k).
  int nc = 1024;  // Columns per block (0: all of the thread's columns).
  int mc = 512;   // blocked, panels: rows of a packed at a time.
  // 1: the next block of b is asked for while this one is at work; above (rows, kept): what lies so
  // many bytes further in the rows that are read.
  int ahead = 0;
  int threads = 1;
};

}  // namespace assay::native_cpu
