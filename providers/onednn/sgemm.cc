#include <cstring>

#include "assay/op/gemm/gemm.h"
#include "gemm.h"
#include "matrices.h"

namespace assay::onednn {
namespace {

struct Bound {
  std::shared_ptr<const Api> api;
  int threads = 1;
  Matrices matrices;
  char transpose_a = 'N', transpose_b = 'N';
  int64_t lda = 0, ldb = 0, ldout = 0;
  float alpha = 1, beta = 0;
  size_t a_place = 0, b_place = 0, out_place = 0, c_place = 0;
  Matrix c;  // In the orientation of matrices.out.

  // The call adds to what is there.
  void copy_c(const float* from, float* to) const {
    for (int64_t i = 0; i < c.rows; ++i, from += c.row_stride, to += ldout) {
      if (c.column_stride == 1) {
        std::memcpy(to, from, static_cast<size_t>(c.columns) * sizeof(float));
        continue;
      }
      for (int64_t j = 0; j < c.columns; ++j) to[j] = from[j * c.column_stride];
    }
  }

  static int launch(const void* state, void* const* data) {
    const auto& call = *static_cast<const Bound*>(state);
    call.api->use_threads(call.threads);
    const Matrix &a = call.matrices.a, &b = call.matrices.b, &out = call.matrices.out;
    const auto* a_data = static_cast<const float*>(data[call.a_place]);
    const auto* b_data = static_cast<const float*>(data[call.b_place]);
    auto* out_data = static_cast<float*>(data[call.out_place]);
    for (int64_t l = 0; l < out.batch; ++l) {
      float* const to = out_data + l * out.batch_stride;
      if (call.beta != 0)
        call.copy_c(static_cast<const float*>(data[call.c_place]) + l * call.c.batch_stride, to);
      const int status =
          call.api->sgemm(call.transpose_a, call.transpose_b, out.rows, out.columns, a.columns,
                          call.alpha, a_data + l * a.batch_stride, call.lda,
                          b_data + l * b.batch_stride, call.ldb, call.beta, to, call.ldout);
      if (status != abi::kSuccess) return status;
    }
    return 0;
  }
};

std::vector<DesignGroup> groups() {
  ProblemRule rule;
  for (const char* role : {"a", "b", "c", "out"})
    rule.operands.push_back({.role = role, .dtypes = {DType::f32}});
  rule.accumulate = {DType::f32};
  rule.scalars = true;
  std::vector<DesignGroup> groups;
  groups.push_back(group_of("sgemm", false, std::move(rule)));
  return groups;
}

class SgemmFamily final : public Family {
 public:
  explicit SgemmFamily(std::shared_ptr<const Api> api) : api_(std::move(api)), space_(groups()) {}

  std::string_view name() const override { return "sgemm"; }

 private:
  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    space_.enumerate(query, sink);
  }

  Refusals do_supports(const KernelMetadata&, const Problem& problem,
                       const Target&) const override {
    Refusals refusals;
    const auto view = gemm::view(problem);
    if (view)
      check_strides(matrices_of(*view), refusals);
    else
      refusals.add(Reason::other, view.error().message);
    return refusals;
  }

  Result<Artifact> do_compile(const KernelMetadata& row, const MaskedProblem&, const Target&,
                              const CompileContext&) const override {
    return library_artifact(*api_, row);
  }

  Status do_bind(const KernelMetadata&, const Binding& binding,
                 std::vector<Step>& steps) const override {
    ASSAY_TRY(check_artifact(*api_, binding.artifact));
    ASSAY_TRY(const gemm::View view, gemm::view(binding.problem));
    auto call = std::make_shared<Bound>();
    call->api = api_;
    call->threads = binding.threads;
    call->matrices = matrices_of(view);
    const auto place = [](const Matrix& matrix, int64_t& leading) {
      const bool by_rows = matrix.leading(true).has_value();
      leading = matrix.leading(by_rows).value_or(0);
      return by_rows ? 'N' : 'T';
    };
    call->transpose_a = place(call->matrices.a, call->lda);
    call->transpose_b = place(call->matrices.b, call->ldb);
    if (place(call->matrices.out, call->ldout) != 'N' || call->lda == 0 || call->ldb == 0)
      return fail(ErrorCode::internal, "strides that supports() refuses");
    call->alpha = static_cast<float>(view.alpha);
    call->beta = view.has_c ? static_cast<float>(view.beta) : 0;
    const bool swapped = call->matrices.swapped;
    call->c = {view.l, view.m, view.n, view.c_l, view.c_m, view.c_n, DType::f32};
    if (swapped) call->c = call->c.transposed();
    const Places places = places_of(binding.problem);
    call->a_place = swapped ? places.b : places.a;
    call->b_place = swapped ? places.a : places.b;
    call->out_place = places.out;
    call->c_place = places.c;
    api_->use_threads(binding.threads);
    steps.push_back(HostStep{&Bound::launch, std::move(call)});
    return {};
  }

  std::shared_ptr<const Api> api_;
  DesignSpace space_;
};

}  // namespace

std::shared_ptr<const Family> make_sgemm_family(std::shared_ptr<const Api> api) {
  return std::make_shared<SgemmFamily>(std::move(api));
}

}  // namespace assay::onednn
