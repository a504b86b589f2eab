#include "gemm.h"

#include <algorithm>
#include <array>
#include <utility>

#include "assay/op/gemm/epilogue.h"
#include "assay/op/gemm/matrix.h"
#include "family.h"

namespace assay::reference {
namespace {

// A line of a matrix as doubles, whatever its type and stride.
void load_line(DType dtype, const std::byte* first, int64_t stride, int64_t count, double* out) {
  if (stride == 1) return convert_to_double(dtype, first, count, out);
  const int64_t step = stride * size_bytes(dtype);
  for (int64_t i = 0; i < count; ++i) out[i] = load_as_double(dtype, first + i * step);
}

struct Bound {
  gemm::View view;
  DType c = DType::f32;
  gemm::Places places;
  Problem problem;
  gemm::Epilogue epilogue;

  // out[i, :] is a sum of rows of b, so that b's rows are read along their length.
  int run(void* const* data) const {
    const auto* a = static_cast<const std::byte*>(data[places.a]);
    const auto* b = static_cast<const std::byte*>(data[places.b]);
    const auto* c_data = static_cast<const std::byte*>(data[places.c]);
    auto* out = static_cast<std::byte*>(data[places.out]);
    auto* sums = static_cast<double*>(data[places.workspace]);
    double* line = sums + view.n;
    const gemm::EpilogueOperands operands = gemm::epilogue_operands(
        problem, view, epilogue,
        [&](size_t operand) { return static_cast<std::byte*>(data[operand]); });
    const int64_t a_bytes = size_bytes(view.a), b_bytes = size_bytes(view.b),
                  out_bytes = size_bytes(view.out);
    for (int64_t l = 0; l < view.l; ++l) {
      for (int64_t i = 0; i < view.m; ++i) {
        std::fill(sums, sums + view.n, 0.0);
        for (int64_t p = 0; p < view.k; ++p) {
          const double factor =
              load_as_double(view.a, a + (l * view.a_l + i * view.a_m + p * view.a_k) * a_bytes);
          load_line(view.b, b + (l * view.b_l + p * view.b_k) * b_bytes, view.b_n, view.n, line);
          for (int64_t j = 0; j < view.n; ++j) sums[j] += factor * line[j];
        }
        if (view.has_c)
          load_line(c, c_data + (l * view.c_l + i * view.c_m) * size_bytes(c), view.c_n, view.n,
                    line);
        for (int64_t j = 0; j < view.n; ++j) {
          sums[j] *= view.alpha;
          if (view.has_c) sums[j] += view.beta * line[j];
        }
        for (int64_t j = 0; j < view.out_columns; ++j) {
          const auto [first, second] = epilogue.columns(j, view.n);
          const std::array<double, 2> made_of = {sums[first], sums[second]};
          store_from_double(view.out, apply(epilogue, operands, made_of, l, i, j, view),
                            out + (l * view.out_l + i * view.out_m + j * view.out_n) * out_bytes);
        }
      }
    }
    return 0;
  }
};

int launch(const void* state, void* const* data) {
  return static_cast<const Bound*>(state)->run(data);
}

ProblemRule rule() {
  std::vector<DType> every;
  for (const DTypeInfo& dtype : all_dtypes())
    if (dtype.supported) every.push_back(dtype.dtype);
  ProblemRule rule;
  for (const char* role : {"a", "b", "c", "out"})
    rule.operands.push_back({.role = role, .dtypes = every});
  rule.scalars = true;
  rule.take_steps(gemm::Epilogue::step_names(), gemm::Epilogue::operand_names(), every);
  return rule;
}

// Its workspace: a row of sums and a row of b or c.
class GemmFamily final : public SumsFamily {
 public:
  GemmFamily() : SumsFamily("gemm", rule()) {}

 private:
  Status do_bind(const KernelMetadata&, const Binding& binding,
                 std::vector<Step>& steps) const override {
    ASSAY_TRY(gemm::Epilogue epilogue, gemm::epilogue_of(binding.problem));
    ASSAY_TRY(const gemm::View view, gemm::view(binding.problem));
    auto bound =
        std::make_shared<Bound>(Bound{view, DType::f32, {}, binding.problem, std::move(epilogue)});
    bound->places = gemm::places_of(binding.problem);
    if (bound->places.has_c) bound->c = binding.problem.operands()[bound->places.c].dtype;
    steps.push_back(HostStep{&launch, std::move(bound)});
    return {};
  }
};

}  // namespace

std::shared_ptr<const Family> make_gemm_family() { return std::make_shared<GemmFamily>(); }

}  // namespace assay::reference
