#include <algorithm>
#include <limits>

#include "assay/op/gemm/cblas.h"
#include "export.h"
#include "gemm.h"

namespace assay::openblas {
namespace {

namespace cblas = gemm::cblas;
using gemm::Matrix;

// Up to so many rows of a (or columns of b) are taken one by one. With b of 2048 x 8192, one thread
// of a Zen 4 core needs 2.4 ms for a row and sgemm 9.5 ms for any number from 1 to 4 (README.md).
constexpr int64_t kMostVectors = 4;

// Whether the matrix is b, and the vectors are rows of a; or a, and they are columns of b.
bool matrix_is_b(const gemm::View& view) { return view.m <= view.n; }

// The distance between elements of a vector; of a single element any will do.
int64_t increment(int64_t length, int64_t stride) { return length > 1 ? stride : 1; }

struct Vectors {
  int64_t x, y;
};
Vectors increments(const gemm::View& view) {
  if (matrix_is_b(view)) return {increment(view.k, view.a_k), increment(view.n, view.out_n)};
  return {increment(view.k, view.b_k), increment(view.m, view.out_m)};
}

void check_gemv(const gemm::View& view, Refusals& refusals) {
  if (std::min(view.m, view.n) > kMostVectors) {
    refusals.add(Reason::size, fmt::format("m={} and n={}: gemv multiplies a matrix by one vector "
                                           "at a time, which is for at most {}",
                                           view.m, view.n, kMostVectors));
    return;
  }
  const bool with_b = matrix_is_b(view);
  check_matrix(with_b ? matrix_b(view) : matrix_a(view), with_b ? "b" : "a", refusals);
  const Vectors vectors = increments(view);
  if (std::max(vectors.x, vectors.y) > std::numeric_limits<int>::max())
    refusals.add(Reason::stride, "elements of a vector lie more than 2^31-1 apart");
}

template <class T>
struct Gemv {
  std::shared_ptr<const Api> api;
  cblas::GemvFunction<T>* function;
  int threads;
  cblas::Order order;
  cblas::Transpose transpose;
  int rows, columns, leading, x_increment, y_increment;
  T alpha, beta;
  int64_t batch, matrix_batch, x_batch, y_batch;
  int64_t vectors, x_step, y_step;
  size_t matrix_place, x_place, y_place, c_place;
  bool clear;      // See Api::gemv_reads_output.
  int64_t length;  // Of y.
  gemm::View view;

  static int launch(const void* state, void* const* data) {
    const auto& call = *static_cast<const Gemv*>(state);
    call.api->use_threads(call.threads);
    const auto* matrix = static_cast<const T*>(data[call.matrix_place]);
    const auto* x = static_cast<const T*>(data[call.x_place]);
    for (int64_t l = 0; l < call.batch; ++l) {
      T* y = static_cast<T*>(data[call.y_place]) + l * call.y_batch;
      if (call.beta != 0) copy_c(call.view, data[call.c_place], data[call.y_place], l);
      for (int64_t v = 0; v < call.vectors; ++v) {
        T* const to = y + v * call.y_step;
        if (call.clear) clear_vector(to, call.length, call.y_increment);
        call.function(call.order, call.transpose, call.rows, call.columns, call.alpha,
                      matrix + l * call.matrix_batch, call.leading,
                      x + l * call.x_batch + v * call.x_step, call.x_increment, call.beta, to,
                      call.y_increment);
      }
    }
    return 0;
  }

  static void clear_vector(T* y, int64_t length, int64_t increment) {
    for (int64_t i = 0; i < length; ++i) y[i * increment] = 0;
  }
};

template <class T>
Result<HostStep> bind_gemv(const std::shared_ptr<const Api>& api, cblas::GemvFunction<T>* function,
                           const Binding& binding) {
  ASSAY_TRY(const gemm::View view, gemm::view(binding.problem));
  auto call = std::make_shared<Gemv<T>>();
  const gemm::Places places = gemm::places_of(binding.problem);
  const bool with_b = matrix_is_b(view);
  const Matrix matrix = with_b ? matrix_b(view) : matrix_a(view);
  const bool by_rows = cblas::leading(matrix, true).has_value();
  const auto leading = cblas::leading(matrix, by_rows);
  if (!leading) return fail(ErrorCode::internal, "strides that supports() refuses");
  const Vectors vectors = increments(view);
  call->api = api;
  call->function = function;
  call->threads = binding.threads;
  call->order = by_rows ? cblas::Order::row_major : cblas::Order::column_major;
  // A row of out is b^T times a row of a.
  call->transpose = with_b ? cblas::Transpose::yes : cblas::Transpose::no;
  call->rows = static_cast<int>(matrix.rows);
  call->columns = static_cast<int>(matrix.columns);
  call->leading = *leading;
  call->x_increment = static_cast<int>(vectors.x);
  call->y_increment = static_cast<int>(vectors.y);
  call->alpha = static_cast<T>(view.alpha);
  call->beta = view.has_c ? static_cast<T>(view.beta) : T{0};
  call->batch = view.l;
  call->vectors = with_b ? view.m : view.n;
  call->x_step = with_b ? view.a_m : view.b_n;
  call->y_step = with_b ? view.out_m : view.out_n;
  call->matrix_batch = with_b ? view.b_l : view.a_l;
  call->x_batch = with_b ? view.a_l : view.b_l;
  call->y_batch = view.out_l;
  call->matrix_place = with_b ? places.b : places.a;
  call->x_place = with_b ? places.a : places.b;
  call->y_place = places.out;
  call->c_place = places.c;
  call->clear = api->gemv_reads_output && call->beta == 0;
  call->length = with_b ? view.n : view.m;
  call->view = view;
  api->use_threads(binding.threads);
  return HostStep{&Gemv<T>::launch, std::move(call)};
}

template <class T>
Routine gemv_routine(const std::shared_ptr<const Api>& api, const char* name, DType dtype,
                     cblas::GemvFunction<T>* function) {
  Routine routine = routine_of(name, dtype, dtype, check_gemv);
  routine.export_call = [api, called = std::string(name)](const Problem& problem,
                                                          const ExportOptions& options) {
    return export_call(*api, called, problem, options);
  };
  routine.bind = [api, function](const KernelMetadata&, const Binding& binding) {
    return bind_gemv<T>(api, function, binding);
  };
  return routine;
}

}  // namespace

std::shared_ptr<const Family> make_gemv_family(std::shared_ptr<const Api> api) {
  return make_library_family("gemv", api->facts(),
                             {gemv_routine(api, "sgemv", DType::f32, api->sgemv),
                              gemv_routine(api, "dgemv", DType::f64, api->dgemv)});
}

}  // namespace assay::openblas
