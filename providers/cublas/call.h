#pragma once

// A problem as cublasGemmEx takes it: the transposed product of column-major matrices.

#include "api.h"
#include "assay/kernel/refusals.h"
#include "assay/op/gemm/gemm.h"

namespace assay::cublas {

// Everything that stands against the call; empty: nothing.
Refusals objections(const gemm::View& view);

class Call {
 public:
  // Of a view without objections.
  Call(std::shared_ptr<const Api> api, Handle handle, const gemm::View& view);

  // Enqueues; returns the library's code.
  Code enqueue(const void* a, const void* b, void* out, void* workspace, size_t bytes,
               void* stream) const;

 private:
  struct Matrix {
    int transpose = kAsIs, type = 0, leading = 0;
    long long stride = 0;  // Between the matrices of a batch, elements.
  };

  std::shared_ptr<const Api> api_;
  Handle handle_;
  int rows_, columns_, depth_, count_;  // Of out as a column-major matrix: n x m.
  Matrix first_, second_, out_;         // b, a, out.
  int compute_;
  // As the library reads them: in the type that it computes in.
  struct Factor {
    explicit Factor(double value)
        : f64(value), f32(static_cast<float>(value)), s32(static_cast<int32_t>(value)) {}
    const void* in(int compute) const;
    double f64;
    float f32;
    int32_t s32;
  };
  Factor alpha_, beta_;
};

}  // namespace assay::cublas
