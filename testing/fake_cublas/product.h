#pragma once

// D = alpha op(A) op(B) + beta C of column-major matrices in memory that the host can read.

#include <cstdint>

namespace fake_cublas {

// cudaDataType_t, cublasComputeType_t.
inline constexpr int kF32 = 0, kF64 = 1, kF16 = 2, kS8 = 3, kS32 = 10, kBf16 = 14;
inline constexpr int kCompute32F = 68, kCompute64F = 70, kCompute32I = 72;

struct Matrix {
  void* data = nullptr;
  int type = kF32;
  int64_t rows = 0, columns = 0;  // As they are stored.
  int64_t leading = 0;            // Elements from one column to the next,
  int64_t stride = 0;             // and from one matrix of a batch to the next.
  bool transposed = false;
};

struct Product {
  Matrix a, b, c, d;
  int compute = kCompute32F;
  double alpha = 1, beta = 0;  // c is not read where beta is 0.
  int64_t count = 1;           // Of a batch.
  unsigned epilogue = 1;       // cublasLtEpilogue_t.
  const void* bias = nullptr;  // Of d's type, one for each row.
};

// How an algorithm goes about it.
struct Recipe {
  int64_t parts = 1;  // Of k, their sums side by side in the workspace.
  void* workspace = nullptr;
  int64_t left_out = 0;  // Steps of k at its end.
};

int64_t element_bytes(int type);
int scale_type(int compute);  // Of alpha and beta.
// Of alpha or beta as a caller passes it.
double factor(const void* value, int compute);
// kSuccess, or kNotSupported for types that are not multiplied into that one.
int check_types(int a, int b, int d, int compute);
int64_t depth(const Product& product);  // k.

// kSuccess, kInvalidValue for matrices that do not fit together, or kNotSupported for their types.
int check(const Product& product);
// Bytes of a recipe's workspace.
int64_t workspace_bytes(const Product& product, int64_t parts);
// A product that was checked.
void compute(const Product& product, const Recipe& recipe);

}  // namespace fake_cublas
