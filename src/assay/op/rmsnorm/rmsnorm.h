#pragma once

// RMS normalisation: out[i, j] = x[i, j] / sqrt(mean over j of x[i, j]^2 + epsilon) * w[j], with x
// and out (m, n) in rows, and w (n). With a residual, (m, n) too, it is x + residual that is
// normalised, and that sum is written back to residual. The typed front of the operation "rmsnorm".

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/op/operation.h"
#include "assay/op/problem.h"

namespace assay::rmsnorm {

struct Shape {
  std::string name;  // Empty: made from role and sizes, e.g. rmsnorm_m16_n4096.
  std::string role;
  int64_t m = 0, n = 0;
  DType dtype = DType::f32;           // Of x, w and out where they are not given.
  std::optional<DType> x, w, out,     // f64, f32, f16 or bf16.
      residual,                       // Likewise; there is none where it is not given.
      accumulate;                     // Of sums and the root: f64 with f64 inputs, else f32.
  double epsilon = 1e-6;              // 1e-30 .. 1.
  std::vector<std::string> constant;  // {"w"}, or nothing.
  double weight = 1.0;
  std::optional<int64_t> ldx, ldout, ldresidual;  // Elements between rows; default n.
};

Result<Problem> problem(const Shape& shape);

// A problem's sizes, types and strides by name, for kernels of this operation.
struct View {
  int64_t m, n;
  int64_t x_m, out_m;  // Elements between rows.
  DType x, w, out, accumulate;
  double epsilon;
  bool adds;  // There is a residual, of these:
  DType residual;
  int64_t residual_m;
};
Result<View> view(const Problem& problem);  // Refuses other operations.

// The operands' order. A residual is in some problems.
enum Place : size_t { kX, kW, kOut, kResidual };

const Operation& operation();

}  // namespace assay::rmsnorm
