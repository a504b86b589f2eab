#include <type_traits>

#include "assay/op/gemm/matrix.h"
#include "export.h"
#include "gemm.h"
#include "matrices.h"

namespace assay::onednn {
namespace {

using gemm::Matrix;

// What every batch's call shares.
struct Call {
  std::shared_ptr<const Api> api;
  int threads = 1;
  gemm::View view;
  Matrices matrices;
  char transpose_a = 'N', transpose_b = 'N';
  int64_t lda = 0, ldb = 0, ldout = 0;
  float alpha = 1, beta = 0;
  size_t a_place = 0, b_place = 0, out_place = 0, c_place = 0;
};

int run(const Call& call, const float* a, const float* b, float* out) {
  return call.api->sgemm(call.transpose_a, call.transpose_b, call.matrices.out.rows,
                         call.matrices.out.columns, call.matrices.a.columns, call.alpha, a,
                         call.lda, b, call.ldb, call.beta, out, call.ldout);
}

int run(const Call& call, const int8_t* a, const int8_t* b, int32_t* out) {
  constexpr int32_t kNoOffset = 0;
  return call.api->gemm_s8s8s32(call.transpose_a, call.transpose_b, 'F', call.matrices.out.rows,
                                call.matrices.out.columns, call.matrices.a.columns, 1, a, call.lda,
                                0, b, call.ldb, 0, call.beta, out, call.ldout, &kNoOffset);
}

template <class In, class Out>
int launch(const void* state, void* const* data) {
  const auto& call = *static_cast<const Call*>(state);
  call.api->use_threads(call.threads);
  const auto* a = static_cast<const In*>(data[call.a_place]);
  const auto* b = static_cast<const In*>(data[call.b_place]);
  auto* out = static_cast<Out*>(data[call.out_place]);
  for (int64_t l = 0; l < call.view.l; ++l) {
    // The calls add to what is there.
    if (call.beta != 0) copy_c(call.view, data[call.c_place], out, l);
    const int status = run(call, a + l * call.matrices.a.batch_stride,
                           b + l * call.matrices.b.batch_stride, out + l * call.view.out_l);
    if (status != abi::kSuccess) return status;
  }
  return 0;
}

void check(const Api& api, const Problem& problem, Refusals& refusals) {
  const auto view = gemm::view(problem);
  if (!view) {
    refusals.add(Reason::other, view.error().message);
    return;
  }
  check_strides(matrices_of(*view), refusals);
  if (view->a == DType::s8) api.check_sums_of_bytes(refusals);
}

Result<std::shared_ptr<Call>> make_call(const std::shared_ptr<const Api>& api,
                                        const Binding& binding) {
  auto call = std::make_shared<Call>();
  ASSAY_TRY(call->view, gemm::view(binding.problem));
  call->api = api;
  call->threads = binding.threads;
  call->matrices = matrices_of(call->view);
  const auto place = [](const Matrix& matrix, int64_t& leading) {
    const bool by_rows = matrix.leading(true).has_value();
    leading = matrix.leading(by_rows).value_or(0);
    return by_rows ? 'N' : 'T';
  };
  call->transpose_a = place(call->matrices.a, call->lda);
  call->transpose_b = place(call->matrices.b, call->ldb);
  if (place(call->matrices.out, call->ldout) != 'N' || call->lda == 0 || call->ldb == 0)
    return fail(ErrorCode::internal, "strides that supports() refuses");
  call->alpha = static_cast<float>(call->view.alpha);
  call->beta = call->view.has_c ? static_cast<float>(call->view.beta) : 0;
  const bool swapped = call->matrices.swapped;
  const gemm::Places places = gemm::places_of(binding.problem);
  call->a_place = swapped ? places.b : places.a;
  call->b_place = swapped ? places.a : places.b;
  call->out_place = places.out;
  call->c_place = places.c;
  api->use_threads(binding.threads);
  return call;
}

template <class In, class Out>
std::shared_ptr<const Family> make_family(const char* name, std::shared_ptr<const Api> api,
                                          ProblemRule rule) {
  Routine routine{.name = name, .rules = {std::move(rule)}};
  routine.check = [api](const KernelMetadata&, const Problem& problem, Refusals& refusals) {
    check(*api, problem, refusals);
  };
  routine.bind = [api](const KernelMetadata&, const Binding& binding) -> Result<HostStep> {
    ASSAY_TRY(auto call, make_call(api, binding));
    return HostStep{&launch<In, Out>, std::move(call)};
  };
  if constexpr (std::is_same_v<In, float>)
    routine.export_call = [api](const Problem& problem, const ExportOptions& options) {
      return export_call(*api,
                         {.routine = "sgemm", .problem = problem, .threads = options.threads});
    };
  return make_library_family(name, api->facts(), {std::move(routine)});
}

}  // namespace

std::shared_ptr<const Family> make_sgemm_family(std::shared_ptr<const Api> api) {
  ProblemRule rule;
  for (const char* role : {"a", "b", "c", "out"})
    rule.operands.push_back({.role = role, .dtypes = {DType::f32}});
  rule.accumulate = {DType::f32};
  rule.scalars = true;
  return make_family<float, float>("sgemm", std::move(api), std::move(rule));
}

// Without alpha and c: the library takes them as f32.
std::shared_ptr<const Family> make_gemm_s8s8s32_family(std::shared_ptr<const Api> api) {
  ProblemRule rule;
  rule.operands = {{.role = "a", .dtypes = {DType::s8}},
                   {.role = "b", .dtypes = {DType::s8}},
                   {.role = "out", .dtypes = {DType::s32}}};
  rule.accumulate = {DType::s32};
  return make_family<int8_t, int32_t>("gemm_s8s8s32", std::move(api), std::move(rule));
}

}  // namespace assay::onednn
