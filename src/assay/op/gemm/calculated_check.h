#pragma once

// The comparison of an output with float64 by a Calculator: element by element; of an output whose
// activations were varied, and which is too large for that (Calculator::multiplications_of_a_look),
// rows spread over all of it element by element, and every row through vectors of random signs
// (varied_check.h has both for the host). Not for use outside op/gemm.

#include <memory>
#include <mutex>
#include <vector>

#include "assay/op/calculator.h"
#include "assay/op/gemm/base.h"
#include "assay/op/gemm/judge.h"
#include "assay/op/gemm/varied_check.h"

namespace assay::gemm {

// Of one instance, whose inputs the calculator gets once where it has room for them.
class CalculatedCheck {
 public:
  // inputs: the instance's own, as its kernel got them, and the same at every call. variation: 0,
  // or as in variation.h.
  Result<Check> check(Calculator& calculator, const Base& base, const VariedInputs& inputs,
                      const void* output, uint64_t variation);
  // What check() needs where nothing is varied, ahead of its first call.
  Status prepare(Calculator& calculator, const Base& base, const VariedInputs& inputs);

 private:
  using Memory = std::shared_ptr<const Calculator::Memory>;
  // What the calculator holds of the inputs, and what they make, by batch.
  struct Held {
    Memory a, b, c;
    std::vector<Calculator::Product> products;
    // Of looks that project: signs, and for each batch what they make of the side that does not
    // vary (calculated_check.cc).
    Memory signs;
    std::vector<Memory> images;
  };
  struct Sides;

  Result<Held> hold(Calculator& calculator, const VariedInputs& inputs);
  Status hold_products(Calculator& calculator, const Base& base, Held& held);
  static Sides sides_of(const Base& base, const Held& held, const void* output, int64_t batch);
  static Result<Calculator::Product> multiply(Calculator& calculator, const Base& base,
                                              const Held& held, int64_t batch);
  static Result<Check> whole(Calculator& calculator, const Base& base, const Held& held,
                             const void* output, bool exact);
  static Result<Check> sampled(Calculator& calculator, const Base& base, const Held& held,
                               const void* output, uint64_t variation);
  static Status make_images(Calculator& calculator, const Base& base, Held& held);
  static Status project(Calculator& calculator, const Sides& sides, const Held& held, int64_t batch,
                        Judge& judge);

  std::mutex mutex_;
  Held held_;
};

}  // namespace assay::gemm
