#include "assay/op/rmsnorm/rmsnorm.h"

#include <algorithm>
#include <cmath>

#include "assay/op/proof_words.h"
#include "assay/op/rmsnorm/compare.h"
#include "assay/op/rmsnorm/description.h"
#include "assay/op/rmsnorm/export_front.h"
#include "assay/op/rmsnorm/first_kernel.h"
#include "assay/op/rmsnorm/impostors.h"
#include "assay/op/rmsnorm/inputs.h"
#include "assay/op/rmsnorm/instance.h"
#include "assay/op/rmsnorm/telling_problems.h"

namespace assay::rmsnorm {
namespace {

const OperationWords& operation_words() {
  static const OperationWords words = {
      .operands =
          {{.role = "x", .dimensions = {"m", "n"}},
           {.role = "w", .dimensions = {"n"}},
           {.role = "out", .dimensions = {"m", "n"}, .output = true},
           {.role = "residual", .dimensions = {"m", "n"}, .optional = true, .output = true}},
      .dimensions = {"m", "n"},
      .scalars = {{"epsilon", std::nullopt}},
      .weights = {"w"},
      .has_layouts = false,
  };
  return words;
}

// A square, a sum, and two products for each element, and one more sum where a residual is added; a
// division, a sum and a root for each row.
Work work_of(const View& view) {
  const auto m = static_cast<double>(view.m), n = static_cast<double>(view.n);
  const auto bytes = [](DType dtype) { return static_cast<double>(size_bytes(dtype)); };
  Work work;
  work.flops = 4 * m * n + 3 * m;
  work.bytes_read = m * n * bytes(view.x) + n * bytes(view.w);
  work.bytes_written = m * n * bytes(view.out);
  if (!view.adds) return work;
  work.flops += m * n;
  work.bytes_read += m * n * bytes(view.residual);
  work.bytes_written += m * n * bytes(view.residual);
  return work;
}

class Rmsnorm final : public Operation, public ProofWords, public FirstKernel, public ExportFront {
 public:
  std::string_view name() const override { return "rmsnorm"; }
  const ProofWords* proof_words() const override { return this; }
  const FirstKernel* first_kernels() const override { return this; }
  const ExportFront* export_front() const override { return this; }
  std::string formula(const Problem& problem) const override { return formula_of(problem); }
  Result<std::vector<ReferenceFile>> reference(const Problem& problem,
                                               ErrorBound /*bound*/) const override {
    return reference_files(problem);
  }
  std::span<const FieldRule> fields() const override { return field_rules(); }
  const OperationWords& words() const override { return operation_words(); }
  Result<Problem> problem(const Json& fields) const override { return problem_from_json(fields); }
  Work work(const Problem& problem) const override {
    const auto sizes = view(problem);
    return sizes ? work_of(*sizes) : Work();
  }
  std::vector<InputKind> useful_kinds(const Problem& problem, ErrorBound) const override {
    const auto sizes = view(problem);
    return sizes ? useful_input_kinds(*sizes) : std::vector<InputKind>();
  }
  Renewal renewal(const Problem& problem, size_t operand, const InputSeeds& seeds) const override {
    const auto sizes = view(problem);
    if (sizes) return renewal_of(problem, *sizes, operand, seeds);
    Renewal none;
    none.sizes = {0, 0, 0};
    return none;
  }
  // Of w alone kernels could keep the roots.
  size_t varied_operand(const Problem& problem) const override {
    return view(problem) ? size_t{kX} : problem.operands().size();
  }
  Result<std::unique_ptr<Instance>> make_instance(const Problem& problem, InputKind kind,
                                                  uint64_t seed) const override {
    return make_rmsnorm_instance(problem, kind, seed);
  }
  Result<std::vector<Problem>> telling_problems() const override {
    return rmsnorm::telling_problems();
  }
  std::span<const std::string_view> impostors() const override { return impostor_names(); }
  bool pretend(size_t impostor, const Instance& instance,
               std::span<std::byte> output) const override {
    return rmsnorm::pretend(impostor, instance, output);
  }
  Result<Problem> fewer_outputs(const Problem& problem, double products) const override {
    return rmsnorm::fewer_outputs(problem, products);
  }

  std::string first_shape() const override { return "operation=rmsnorm,m=16,n=4096"; }
  std::string complete(const std::string& shape) const override { return shape; }
  Result<std::string> first_kernel(const NewKernel& kernel, const Problem& problem) const override {
    return naive_kernel(kernel, problem);
  }

  std::span<const std::string_view> check_methods() const override { return method::kAll; }
  bool leaves_out(const Problem&, InputKind, ErrorBound) const override { return false; }
  // All of a row's energy in one element makes it sqrt(n) of w, which is below 1. A sum written
  // back is one of two numbers below 1.
  double largest_of_uniform(const Problem& problem) const override {
    const double largest = std::sqrt(static_cast<double>(problem.dimension("n")));
    const auto sizes = view(problem);
    return sizes && sizes->adds ? std::max(largest, 2.0) : largest;
  }
};

}  // namespace

const Operation& operation() {
  static const Rmsnorm rmsnorm;
  return rmsnorm;
}

}  // namespace assay::rmsnorm
