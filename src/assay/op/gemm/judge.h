#pragma once

// Elements of an output against what is expected of them, and what they add up to. Not for use
// outside op/gemm. Whole outputs on a GPU are judged there, by the same rules in device code
// (referee/gpu_code.cc).

#include <cstdint>
#include <string>

#include "assay/op/gemm/base.h"
#include "assay/op/gemm/budgets.h"
#include "assay/op/gemm/plain_order.h"

namespace assay::gemm {

struct Judge {
  // Where an element stands in the kernel's own out.
  struct Place {
    int64_t batch = 0, row = 0, column = 0;
  };
  // product: of a and b for this element, magnitude that of their absolute values (not looked at
  // where things are exact); addend: of c, 0 where there is none.
  void element(const Place& place, double got, double product, double magnitude, double addend);
  // A sum as a right kernel may hand it to an epilogue, and an element that one makes of such.
  Approximate sum(int64_t batch, double product, double magnitude, double addend) const;
  void element(const Place& place, double got, Approximate made, bool is_wide);
  // What another one has found in other elements.
  void add(const Judge& other);
  // Something that is no single element is wrong.
  void wrong(const std::string& sentence);
  // One whose expected value is finite: `square` is what rounding makes of its error in the mean.
  void compare(const Place& place, double got, double expected, double budget, bool to_the_bit,
               bool is_wide, double square);
  void refuse(const Place& place, double got, double expected, double within);
  void compare_non_finite(const Place& place, double got, double expected);

  Check conclude(int64_t elements, std::string method);

  const Base& base;
  bool exact;  // What is expected is so, to the bit.
  ErrorBound bound;
  Budgets budgets;  // By that bound.
  Check check = {};
  double sum_of_errors = 0;  // In budgets, of check.compared elements.
  SquareSums ordinary = {}, wide = {};
};

}  // namespace assay::gemm
