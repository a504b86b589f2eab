#include <algorithm>

#include "gemm.h"

namespace assay::blis {
namespace {

using gemm::Matrix;

// Up to so many rows of a (or columns of b) are taken one by one.
constexpr int64_t kMostVectors = 4;

// Whether the matrix is b, and the vectors are rows of a; or a, and they are columns of b.
bool matrix_is_b(const gemm::View& view) { return view.m <= view.n; }

void check_gemv(const gemm::View& view, Refusals& refusals) {
  if (std::min(view.m, view.n) > kMostVectors) {
    refusals.add(Reason::size, fmt::format("m={} and n={}: gemv multiplies a matrix by one vector "
                                           "at a time, which is for at most {}",
                                           view.m, view.n, kMostVectors));
    return;
  }
  const bool with_b = matrix_is_b(view);
  check_matrix(with_b ? matrix_b(view) : matrix_a(view), with_b ? "b" : "a", refusals);
}

// out = out + alpha a b, a vector at a time, as y = y + alpha M x. Where b is the matrix, M is its
// transpose and a row of out is a y.
template <class T>
struct Gemv {
  std::shared_ptr<const Api> api;
  GemvFunction<T>* function;
  int threads;
  gemm::View view;
  Matrix matrix;  // M.
  T alpha, beta;
  int64_t vectors, x_step, y_step, x_increment, y_increment, matrix_batch, x_batch;
  size_t matrix_place, x_place, out_place, c_place;

  static int launch(const void* state, void* const* data) {
    const auto& call = *static_cast<const Gemv*>(state);
    call.api->use_threads(call.threads);
    for (int64_t l = 0; l < call.view.l; ++l) {
      const T* x = static_cast<const T*>(data[call.x_place]) + l * call.x_batch;
      T* y = static_cast<T*>(data[call.out_place]) + l * call.view.out_l;
      if (call.beta != 0) copy_c(call.view, data[call.c_place], data[call.out_place], l);
      for (int64_t v = 0; v < call.vectors; ++v, x += call.x_step, y += call.y_step)
        call.function(kAsItIs, kAsItIs, call.matrix.rows, call.matrix.columns, &call.alpha,
                      static_cast<const T*>(data[call.matrix_place]) + l * call.matrix_batch,
                      call.matrix.row_stride, call.matrix.column_stride, x, call.x_increment,
                      &call.beta, y, call.y_increment);
    }
    return 0;
  }
};

// The distance between elements of a vector; of a single element any will do.
int64_t increment(int64_t length, int64_t stride) { return length > 1 ? stride : 1; }

template <class T>
Result<HostStep> bind_gemv(const std::shared_ptr<const Api>& api, GemvFunction<T>* function,
                           const Binding& binding) {
  auto call = std::make_shared<Gemv<T>>();
  ASSAY_TRY(call->view, gemm::view(binding.problem));
  const gemm::View& view = call->view;
  const gemm::Places places = gemm::places_of(binding.problem);
  const bool with_b = matrix_is_b(view);
  call->api = api;
  call->function = function;
  call->threads = binding.threads;
  call->matrix = (with_b ? matrix_b(view).transposed() : matrix_a(view)).plain();
  call->alpha = static_cast<T>(view.alpha);
  call->beta = view.has_c ? static_cast<T>(view.beta) : T{0};
  call->vectors = with_b ? view.m : view.n;
  call->x_step = with_b ? view.a_m : view.b_n;
  call->y_step = with_b ? view.out_m : view.out_n;
  call->x_increment = increment(view.k, with_b ? view.a_k : view.b_k);
  call->y_increment = increment(call->matrix.rows, with_b ? view.out_n : view.out_m);
  call->matrix_batch = with_b ? view.b_l : view.a_l;
  call->x_batch = with_b ? view.a_l : view.b_l;
  call->matrix_place = with_b ? places.b : places.a;
  call->x_place = with_b ? places.a : places.b;
  call->out_place = places.out;
  call->c_place = places.c;
  return HostStep{&Gemv<T>::launch, std::move(call)};
}

template <class T>
Routine gemv_routine(const std::shared_ptr<const Api>& api, const char* name, DType dtype,
                     GemvFunction<T>* function) {
  Routine routine = routine_of(name, dtype, check_gemv);
  routine.bind = [api, function](const KernelMetadata&, const Binding& binding) {
    return bind_gemv<T>(api, function, binding);
  };
  return routine;
}

}  // namespace

std::shared_ptr<const Family> make_gemv_family(std::shared_ptr<const Api> api) {
  return make_library_family("gemv", api->facts(),
                             {gemv_routine(api, "sgemv", DType::f32, api->f32.gemv),
                              gemv_routine(api, "dgemv", DType::f64, api->f64.gemv)});
}

}  // namespace assay::blis
