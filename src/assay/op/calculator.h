#pragma once

// Comparisons that an operation may leave to a machine which is faster than the host: of outputs
// against float64, whole where the host can afford a part of them. Said without naming a device:
// referee/gpu.h does it on a GPU.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "assay/op/operation.h"
#include "assay/op/renewal.h"
#include "assay/tensor/dtype.h"

namespace assay {

class Calculator {
 public:
  virtual ~Calculator() = default;

  // What it holds; freed with the last pointer.
  class Memory {
   public:
    virtual ~Memory() = default;
    virtual const void* data() const = 0;  // An address of its own, not the host's.
  };
  // ErrorCode::machine where there is not enough of it; so from all that follow.
  virtual Result<std::shared_ptr<const Memory>> keep(std::span<const std::byte> bytes) = 0;

  // What it holds from there on, as many bytes as `to` has.
  virtual Status read(const void* memory, std::span<std::byte> to) = 0;

  // Multiplications that one look at a timed output may take: a few milliseconds, since a run has
  // thousands of them. Beyond that a part is compared, and all of it through projections.
  virtual double multiplications_of_a_look() const = 0;

  // Whether what one comparison needed may stay for the next: others want memory, too.
  virtual bool has_room() const = 0;

  // An operand of `bytes` bytes as renew() (renewal.h) makes it; what lies between strided elements
  // is not defined.
  virtual Result<std::shared_ptr<const Memory>> renew(const Renewal& renewal, size_t bytes) = 0;

  // Strides in elements.
  struct Matrix {
    const void* data = nullptr;  // The calculator's.
    DType dtype = DType::f32;
    int64_t rows = 0, columns = 0, row_stride = 0, column_stride = 0;

    Matrix transposed() const { return {data, dtype, columns, rows, column_stride, row_stride}; }
    // Row `first` and every `step`th behind it.
    Matrix every(int64_t first, int64_t step) const {
      return {static_cast<const std::byte*>(data) + first * row_stride * size_bytes(dtype),
              dtype,
              (rows - first + step - 1) / step,
              columns,
              row_stride * step,
              column_stride};
    }
  };

  // a x b and |a| x |b| in float64: rows x columns of each.
  struct Product {
    std::shared_ptr<const Memory> product, magnitude;
    int64_t rows = 0, columns = 0;
  };
  virtual Result<Product> multiply(const Matrix& a, const Matrix& b) = 0;

  // out against alpha * product + beta * c, element by element. Not finite: the same infinity, or
  // not a number. `exact`: the same number, and errors are in units of exact_step. Otherwise they
  // are in units of
  //   sums + rounding * (|expected| + sums) + (min_normal where |expected| is below it),
  //   sums = growth * (|alpha| magnitude + |beta c|) + underflow,
  // and one above 1 is wrong.
  struct Rule {
    double alpha = 1, beta = 0;
    bool exact = false;
    double exact_step = 1;
    double growth = 0, rounding = 0, underflow = 0, min_normal = 0;
    // Squares of errors are summed up where the magnitude is at least `split`, if that is above 0,
    // and so is what they are held against:
    //   plain * (|alpha| magnitude + |beta c|)^2 + last * expected^2.
    double split = 0, plain = 0, last = 0;
  };
  struct Element {
    int64_t row = 0, column = 0;
    double got = 0, product = 0, magnitude = 0, addend = 0;
  };
  struct Comparison {
    int64_t wrong = 0;
    std::optional<Element> first;  // Of those: the first, row by row.
    double largest_error = 0, sum_of_errors = 0;
    double largest_unit = 0;
    double squared = 0, squared_errors = 0, plain_squares = 0;  // Elements, and the two sums.
  };
  // c: of out's sizes, or null.
  virtual Result<Comparison> compare(const Matrix& out, const Product& product, const Matrix* c,
                                     const Rule& rule) = 0;
};

// An instance that can leave its comparisons to a calculator.
class CalculatedInstance : public Instance {
 public:
  const CalculatedInstance* calculated() const final { return this; }

  // As check(), of an output that the calculator holds. Where it fails, check() is still there.
  virtual Result<Check> check_on(Calculator& calculator, const void* output,
                                 const InputSeeds& seeds, ErrorBound bound) const = 0;

  // Makes what check() needs, ahead of its first call: not needed where check_on() does it all.
  virtual Status prepare_check() const = 0;
  // Likewise what check_on() needs for the instance's own inputs.
  virtual Status prepare_check_on(Calculator& calculator) const = 0;
};

}  // namespace assay
