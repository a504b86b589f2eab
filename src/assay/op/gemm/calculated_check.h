#pragma once

// The comparison of an output with float64 by a Calculator: element by element; of a timed launch's
// output, if it is too large for that (Calculator::multiplications_of_a_look), rows spread over all
// of it element by element, and every row through vectors of random signs (renewed_check.h has both
// for the host). Not for use outside op/gemm.

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "assay/op/calculator.h"
#include "assay/op/gemm/base.h"
#include "assay/op/gemm/judge.h"
#include "assay/op/gemm/renewed_check.h"

namespace assay::gemm {

// Of one instance, whose inputs the calculator gets once where it has room for them.
class CalculatedCheck {
 public:
  // inputs: the instance's own, as its kernel got them, and the same at every call.
  Result<Check> check(Calculator& calculator, const Base& base, const OwnInputs& inputs,
                      const void* output, const InputSeeds& seeds, ErrorBound bound);
  // What check() needs for the instance's own inputs, ahead of its first call.
  Status prepare(Calculator& calculator, const Base& base, const OwnInputs& inputs);

 private:
  using Memory = std::shared_ptr<const Calculator::Memory>;
  // What the calculator holds of the inputs, and what they make, by batch.
  struct Held {
    Memory a, b, c;
    std::vector<Calculator::Product> products;
    // Of looks that project: signs, and for each batch what they make of the right side
    // (calculated_check.cc).
    Memory signs;
    std::vector<Memory> images;
  };
  struct Sides;

  Result<Held> hold(Calculator& calculator, const OwnInputs& inputs);
  Result<Held> hold_renewed(Calculator& calculator, const Base& base, const InputSeeds& seeds,
                            bool projects);
  Status hold_products(Calculator& calculator, const Base& base, Held& held);
  static Sides sides_of(const Base& base, const Held& held, const void* output, int64_t batch);
  static Result<Calculator::Product> multiply(Calculator& calculator, const Base& base,
                                              const Held& held, int64_t batch);
  static Result<Check> whole(Calculator& calculator, const Held& held, const void* output,
                             Judge judge);
  static Result<Check> sampled(Calculator& calculator, const Held& held, const void* output,
                               const InputSeeds& seeds, Judge judge);
  static Status make_images(Calculator& calculator, const Base& base, Held& held);
  static Status project(Calculator& calculator, const Sides& sides, const Held& held, int64_t batch,
                        Judge& judge);

  std::mutex mutex_;
  Held held_;
  std::map<uint64_t, Held> sets_;  // What is constant in them, by the seed of the set.
};

}  // namespace assay::gemm
