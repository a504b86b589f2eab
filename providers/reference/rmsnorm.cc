#include "rmsnorm.h"

#include <cmath>

#include "assay/op/rmsnorm/rmsnorm.h"
#include "family.h"

namespace assay::reference {
namespace {

struct BoundNorm {
  rmsnorm::View view;

  int run(void* const* data) const {
    const auto* x = static_cast<const std::byte*>(data[rmsnorm::kX]);
    const auto* w = static_cast<const std::byte*>(data[rmsnorm::kW]);
    auto* out = static_cast<std::byte*>(data[rmsnorm::kOut]);
    // The workspace lies behind the operands.
    auto* const weights = static_cast<double*>(data[rmsnorm::kResidual + (view.adds ? 1 : 0)]);
    double* const row = weights + view.n;
    convert_to_double(view.w, w, view.n, weights);
    for (int64_t i = 0; i < view.m; ++i) {
      convert_to_double(view.x, x + i * view.x_m * size_bytes(view.x), view.n, row);
      if (view.adds) add(static_cast<std::byte*>(data[rmsnorm::kResidual]), i, row);
      double sum = 0;
      for (int64_t j = 0; j < view.n; ++j) sum += row[j] * row[j];
      const double root = 1 / std::sqrt(sum / static_cast<double>(view.n) + view.epsilon);
      for (int64_t j = 0; j < view.n; ++j) row[j] *= root * weights[j];
      convert_from_double(view.out, row, view.n, out + i * view.out_m * size_bytes(view.out));
    }
    return 0;
  }

  // The sum is normalised as it is, and rounded where it is written back.
  void add(std::byte* residual, int64_t i, double* row) const {
    const int64_t size = size_bytes(view.residual);
    std::byte* const at = residual + i * view.residual_m * size;
    for (int64_t j = 0; j < view.n; ++j) {
      row[j] += load_as_double(view.residual, at + j * size);
      store_from_double(view.residual, row[j], at + j * size);
    }
  }
};

int launch_norm(const void* state, void* const* data) {
  return static_cast<const BoundNorm*>(state)->run(data);
}

ProblemRule norm_rule() {
  std::vector<DType> every;
  for (const DTypeInfo& dtype : all_dtypes())
    if (dtype.supported && dtype.floating) every.push_back(dtype.dtype);
  ProblemRule rule;
  rule.operation = rmsnorm::operation().name();
  for (const char* role : {"x", "w", "out", "residual"})
    rule.operands.push_back({.role = role, .dtypes = every, .major = Major::row});
  return rule;
}

// Its workspace: the weights and a row.
class RmsnormFamily final : public SumsFamily {
 public:
  RmsnormFamily() : SumsFamily("rmsnorm", norm_rule()) {}

 private:
  Status do_bind(const KernelMetadata&, const Binding& binding,
                 std::vector<Step>& steps) const override {
    ASSAY_TRY(const rmsnorm::View view, rmsnorm::view(binding.problem));
    steps.push_back(HostStep{&launch_norm, std::make_shared<const BoundNorm>(BoundNorm{view})});
    return {};
  }
};

}  // namespace

std::shared_ptr<const Family> make_rmsnorm_family() { return std::make_shared<RmsnormFamily>(); }

}  // namespace assay::reference
