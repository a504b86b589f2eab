#pragma once

// GEMM as Python gives it: arrays and scalars, or a shape's text.

#include <functional>
#include <map>
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
  std::string epilogue;               // "bias+gelu"
  std::vector<std::string> constant;  // Inputs that may be packed once.
};

struct GemmArrays {
  Array a, b;
  std::optional<Array> out, c;
  std::map<std::string, Array, std::less<>> of_epilogue;  // By the names of its steps.

  // Those of the problem's operands, in their order.
  std::vector<Array> list(const Problem& problem) const;
};

struct GemmCall {
  GemmArrays arrays;
  GemmScalars scalars;
};

// options: any of c, alpha, beta, accumulate (a dtype's name), epilogue, epilogue_operands (names
// to arrays) and constant. `out` and `c` may be None.
GemmCall read_call(pybind11::handle a, pybind11::handle b, pybind11::handle out,
                   const pybind11::dict& options);

// The same for a plan: `out` may not be None (TypeError).
GemmCall read_plan_call(pybind11::handle a, pybind11::handle b, pybind11::handle out,
                        const pybind11::dict& options);

// Without `out`, it is as dense and row-major as a new array would be. Errors: gemm's, and an out
// that shares memory with an input.
Problem problem_of(const GemmCall& call);

// "m=4,n=2048,k=1024,dtype=f32,layout=tt": one problem, by the rules of --shape.
Problem problem_of_shape(const std::string& text);

}  // namespace assay::python
