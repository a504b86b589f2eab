#include "gemm.h"

namespace assay::libxsmm {
namespace {

void check(const KernelMetadata&, const Problem& problem, Refusals& refusals) {
  const auto view = gemm::view(problem);
  if (!view) {
    refusals.add(Reason::other, view.error().message);
    return;
  }
  // Compared without a product that could overflow.
  if (view->m > abi::kMostProducts / view->n || view->m * view->n > abi::kMostProducts / view->k) {
    refusals.add(Reason::size,
                 fmt::format("m={}, n={}, k={}: of more than {} products libxsmm_gemm makes a call "
                             "to another BLAS",
                             view->m, view->n, view->k, abi::kMostProducts));
    return;
  }
  const Matrices matrices = matrices_of(*view);
  check_matrix(matrices.a, matrices.swapped ? "b" : "a", true, refusals);
  check_matrix(matrices.b, matrices.swapped ? "a" : "b", false, refusals);
  check_matrix(matrices.out, "out", false, refusals);
}

template <class T>
struct Bound {
  std::shared_ptr<const Api> api;
  abi::gemm<T>* function = nullptr;
  gemm::View view;
  Matrices matrices;
  abi::Int m = 0, n = 0, k = 0, lda = 0, ldb = 0, ldout = 0;  // The library's a is b.
  char transpose = 'N';                                       // Of the library's b.
  size_t a_place = 0, b_place = 0, out_place = 0;

  static int launch(const void* state, void* const* data) {
    const auto& call = *static_cast<const Bound*>(state);
    const T one = 1, zero = 0;
    const char plain = 'N';
    for (int64_t l = 0; l < call.view.l; ++l)
      call.function(
          &plain, &call.transpose, &call.m, &call.n, &call.k, &one,
          static_cast<const T*>(data[call.b_place]) + l * call.matrices.b.batch_stride, &call.lda,
          static_cast<const T*>(data[call.a_place]) + l * call.matrices.a.batch_stride, &call.ldb,
          &zero, static_cast<T*>(data[call.out_place]) + l * call.view.out_l, &call.ldout);
    return 0;
  }
};

template <class T>
Result<HostStep> bind(const std::shared_ptr<const Api>& api, abi::gemm<T>* function,
                      const Binding& binding) {
  auto call = std::make_shared<Bound<T>>();
  ASSAY_TRY(call->view, gemm::view(binding.problem));
  call->api = api;
  call->function = function;
  call->matrices = matrices_of(call->view);
  const Matrices& matrices = call->matrices;
  const auto a_rows = matrices.a.leading(true), a_columns = matrices.a.leading(false);
  const auto b = matrices.b.leading(true), out = matrices.out.leading(true);
  if ((!a_rows && !a_columns) || !b || !out)
    return fail(ErrorCode::internal, "strides that supports() refuses");
  call->m = static_cast<abi::Int>(matrices.out.columns);
  call->n = static_cast<abi::Int>(matrices.out.rows);
  call->k = static_cast<abi::Int>(matrices.a.columns);
  call->transpose = a_rows ? 'N' : 'T';
  call->lda = static_cast<abi::Int>(*b);
  call->ldb = static_cast<abi::Int>(a_rows ? *a_rows : *a_columns);
  call->ldout = static_cast<abi::Int>(*out);
  // What the call will look up: without it, the library would call the BLAS that it has not.
  const T* const type = nullptr;
  if (api->dispatch(type, call->m, call->n, call->k, call->lda, call->ldb, call->ldout, true,
                    !a_rows) == nullptr)
    return fail(ErrorCode::failed, "libxsmm {} makes no code for this here", api->version());
  const gemm::Places places = gemm::places_of(binding.problem);
  call->a_place = matrices.swapped ? places.b : places.a;
  call->b_place = matrices.swapped ? places.a : places.b;
  call->out_place = places.out;
  return HostStep{&Bound<T>::launch, std::move(call)};
}

template <class T>
Routine routine_of(const std::shared_ptr<const Api>& api, const char* name, DType dtype,
                   abi::gemm<T>* function) {
  Routine routine{.name = name, .is_default = true, .rules = {rule_of(dtype, dtype, false)}};
  routine.check = check;
  routine.bind = [api, function](const KernelMetadata&, const Binding& binding) {
    return bind<T>(api, function, binding);
  };
  return routine;
}

}  // namespace

std::shared_ptr<const Family> make_gemm_family(std::shared_ptr<const Api> api) {
  return make_library_family("gemm", api->facts(),
                             {routine_of(api, "sgemm", DType::f32, api->sgemm),
                              routine_of(api, "dgemm", DType::f64, api->dgemm)});
}

}  // namespace assay::libxsmm
