#pragma once

// GEMM: out = epilogue(alpha * a x b + beta * c), with a (L, M, K), b (L, K, N), c and out
// (L, M, N), any strides. The epilogue is a chain of steps (epilogue.h), some of which bring
// operands of their own. The typed front of the operation "gemm".

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/op/operation.h"
#include "assay/op/problem.h"
#include "assay/tensor/view.h"

namespace assay::gemm {

struct Shape {
  std::string name;  // Empty: made from role and sizes, e.g. gemm_m256_n1024_k128.
  std::string role;
  int64_t m = 0, n = 0, k = 0;
  int64_t batch = 1;         // L.
  DType dtype = DType::f32;  // Of a, b and out where they are not given.
  std::optional<DType> a, b, out,
      accumulate;             // accumulate defaults: f64 -> f64, s8 -> s32, else f32.
  std::string layout = "tn";  // t = row-major, n = column-major, for a, b and optionally out.
  std::vector<std::string> constant;  // Operands that may be prepared ahead: weights.
  double alpha = 1.0, beta = 0.0;     // beta other than 0 adds an operand c of out's dtype.
  std::string epilogue;               // Empty, or steps such as "bias+gelu" (epilogue.h).
  // Of the operands of its steps, by name; out's where it is not given.
  std::map<std::string, DType, std::less<>> epilogue_dtypes;
  double weight = 1.0;
  std::optional<int64_t> lda, ldb, ldout;  // Leading dimensions, elements; default dense.
};

struct Arguments {
  TensorView a, b, out;  // Rank 3, or rank 2 for L = 1.
  std::optional<TensorView> c;
  DType accumulate = DType::f32;
  double alpha = 1.0, beta = 0.0;
  std::string epilogue;
  // Of its steps, by name: residual as out; the others of rank 1, and dense.
  std::map<std::string, TensorView, std::less<>> epilogue_operands;
  std::vector<std::string> constant;
};

Result<Problem> problem(const Shape& shape);
Result<Problem> problem(const Arguments& arguments);

// A problem's sizes and strides by name, for kernels of this operation. Strides in elements.
struct View {
  int64_t l, m, n, k;
  int64_t out_columns;                     // n, or half of it where the epilogue has a gate.
  int epilogue_addends, epilogue_factors;  // Steps that add an operand, or multiply by one.
  int64_t a_l, a_m, a_k, b_l, b_k, b_n, out_l, out_m, out_n;
  DType a, b, out, accumulate;
  double alpha, beta;
  bool has_c;
  int64_t c_l, c_m, c_n;
};
Result<View> view(const Problem& problem);  // Refuses other operations.

// "tt", "tnt" ... from strides: t where the last dimension is contiguous, else n.
std::string layout_string(const Problem& problem, bool with_out);

const Operation& operation();

}  // namespace assay::gemm
