#pragma once

// GEMM as Python gives it: arrays and scalars, or a shape's text.

#include <optional>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "array.h"
#include "assay/kernel/kernel.h"
#include "assay/op/gemm/gemm.h"

namespace assay::python {

struct GemmScalars {
  double alpha = 1, beta = 0;
  std::optional<DType> accumulate;    // As for gemm::Shape where it is not given.
  std::vector<std::string> constant;  // Inputs that may be packed once.
};

// accumulate: a dtype's name.
GemmScalars scalars_of(double alpha, double beta, const std::optional<std::string>& accumulate,
                       std::vector<std::string> constant);

struct GemmArrays {
  Array a, b;
  std::optional<Array> out, c;

  std::vector<Array> list() const;  // In the order of a problem's operands.
};

// `out` and `c` may be None.
GemmArrays read_arrays(pybind11::handle a, pybind11::handle b, pybind11::handle out,
                       pybind11::handle c);

// The same for a plan: `out` may not be None (TypeError).
GemmArrays read_plan_arrays(pybind11::handle a, pybind11::handle b, pybind11::handle out,
                            pybind11::handle c);

// Without `out`, it is as dense and row-major as a new array would be. Errors: gemm's, and an out
// that shares memory with an input.
Problem problem_of_arrays(const GemmArrays& arrays, const GemmScalars& scalars);

// "m=4,n=2048,k=1024,dtype=f32,layout=tt": one problem, by the rules of --shape.
Problem problem_of_shape(const std::string& text);

}  // namespace assay::python
