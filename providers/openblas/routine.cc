#include "routine.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "matrix.h"

namespace assay::openblas {
namespace {

// Where operands stand in a step's data.
struct Places {
  size_t a = 0, b = 0, out = 0, c = 0;
};

Places places_of(const Problem& problem) {
  Places places;
  const auto operands = problem.operands();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].role == "a") places.a = i;
    if (operands[i].role == "b") places.b = i;
    if (operands[i].role == "out") places.out = i;
    if (operands[i].role == "c") places.c = i;
  }
  return places;
}

// out = c before a call with beta: BLAS adds to what is there.
struct Copy {
  int64_t lines = 0, length = 0;  // Elements of a line lie together in out, lines anywhere.
  int64_t from_line = 0, from_element = 0, to_line = 0, to_element = 0;

  static Copy of(const gemm::View& view) {
    if (view.out_n <= view.out_m)
      return {view.m, view.n, view.c_m, view.c_n, view.out_m, view.out_n};
    return {view.n, view.m, view.c_n, view.c_m, view.out_n, view.out_m};
  }

  template <class T>
  void run(const T* from, T* to) const {
    for (int64_t line = 0; line < lines; ++line, from += from_line, to += to_line) {
      if (from_element == 1 && to_element == 1) {
        std::memcpy(to, from, static_cast<size_t>(length) * sizeof(T));
        continue;
      }
      for (int64_t i = 0; i < length; ++i) to[i * to_element] = from[i * from_element];
    }
  }
};

Matrix matrix_a(const gemm::View& view) { return {view.m, view.k, view.a_m, view.a_k}; }
Matrix matrix_b(const gemm::View& view) { return {view.k, view.n, view.b_k, view.b_n}; }
Matrix matrix_out(const gemm::View& view) { return {view.m, view.n, view.out_m, view.out_n}; }

void check_matrix(const Matrix& matrix, const char* role, Refusals& refusals) {
  if (matrix.stored_somehow()) return;
  refusals.add(Reason::stride,
               fmt::format("operand {} has strides {} and {}: OpenBLAS wants one of them to be 1 "
                           "and the other to be a leading dimension of at most 2^31-1",
                           role, matrix.row_stride, matrix.column_stride));
}

void check_gemm(const gemm::View& view, Refusals& refusals) {
  check_matrix(matrix_a(view), "a", refusals);
  check_matrix(matrix_b(view), "b", refusals);
  check_matrix(matrix_out(view), "out", refusals);
}

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
  check_matrix(matrix_is_b(view) ? matrix_b(view) : matrix_a(view), matrix_is_b(view) ? "b" : "a",
               refusals);
  const Vectors vectors = increments(view);
  if (std::max(vectors.x, vectors.y) > std::numeric_limits<int>::max())
    refusals.add(Reason::stride, "elements of a vector lie more than 2^31-1 apart");
}

template <class In, class T>
struct Gemm {
  std::shared_ptr<const Api> api;
  GemmFunction<In, T>* function;
  int threads;
  Order order;
  Transpose transpose_a, transpose_b;
  int m, n, k, lda, ldb, ldout;
  T alpha, beta;
  int64_t batch, a_batch, b_batch, c_batch, out_batch;
  Places places;
  Copy copy;

  static int launch(const void* state, void* const* data) {
    const auto& call = *static_cast<const Gemm*>(state);
    call.api->use_threads(call.threads);
    const auto* a = static_cast<const In*>(data[call.places.a]);
    const auto* b = static_cast<const In*>(data[call.places.b]);
    auto* out = static_cast<T*>(data[call.places.out]);
    for (int64_t l = 0; l < call.batch; ++l) {
      if (call.beta != 0)
        call.copy.run(static_cast<const T*>(data[call.places.c]) + l * call.c_batch,
                      out + l * call.out_batch);
      call.function(call.order, call.transpose_a, call.transpose_b, call.m, call.n, call.k,
                    call.alpha, a + l * call.a_batch, call.lda, b + l * call.b_batch, call.ldb,
                    call.beta, out + l * call.out_batch, call.ldout);
    }
    return 0;
  }
};

template <class In, class T, GemmFunction<In, T>* Api::*kFunction>
Result<HostStep> bind_gemm(const std::shared_ptr<const Api>& api, const gemm::View& view,
                           const Binding& binding) {
  auto call = std::make_shared<Gemm<In, T>>();
  call->api = api;
  call->function = (*api).*kFunction;
  call->threads = binding.threads;
  // The order is that of out; an operand stored the other way is a transposed one.
  const bool by_rows = matrix_out(view).leading(true).has_value();
  call->order = by_rows ? Order::row_major : Order::column_major;
  const auto place = [&](const Matrix& matrix, int& leading) {
    const auto plain = matrix.leading(by_rows);
    leading = plain ? *plain : matrix.leading(!by_rows).value_or(0);
    return plain ? Transpose::no : Transpose::yes;
  };
  call->transpose_a = place(matrix_a(view), call->lda);
  call->transpose_b = place(matrix_b(view), call->ldb);
  if (place(matrix_out(view), call->ldout) != Transpose::no || call->lda == 0 || call->ldb == 0)
    return fail(ErrorCode::internal, "strides that supports() refuses");
  call->m = static_cast<int>(view.m);
  call->n = static_cast<int>(view.n);
  call->k = static_cast<int>(view.k);
  call->alpha = static_cast<T>(view.alpha);
  call->beta = view.has_c ? static_cast<T>(view.beta) : T{0};
  call->batch = view.l;
  call->a_batch = view.a_l;
  call->b_batch = view.b_l;
  call->c_batch = view.c_l;
  call->out_batch = view.out_l;
  call->places = places_of(binding.problem);
  call->copy = Copy::of(view);
  return HostStep{&Gemm<In, T>::launch, std::move(call)};
}

template <class T>
struct Gemv {
  std::shared_ptr<const Api> api;
  GemvFunction<T>* function;
  int threads;
  Order order;
  Transpose transpose;
  int rows, columns, leading, x_increment, y_increment;
  T alpha, beta;
  int64_t batch, matrix_batch, x_batch, y_batch, c_batch;
  int64_t vectors, x_step, y_step;
  size_t matrix_place, x_place, y_place, c_place;
  bool clear;      // See Api::gemv_reads_output.
  int64_t length;  // Of y.
  Copy copy;

  static int launch(const void* state, void* const* data) {
    const auto& call = *static_cast<const Gemv*>(state);
    call.api->use_threads(call.threads);
    const auto* matrix = static_cast<const T*>(data[call.matrix_place]);
    const auto* x = static_cast<const T*>(data[call.x_place]);
    for (int64_t l = 0; l < call.batch; ++l) {
      T* y = static_cast<T*>(data[call.y_place]) + l * call.y_batch;
      if (call.beta != 0)
        call.copy.run(static_cast<const T*>(data[call.c_place]) + l * call.c_batch, y);
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

template <class T, GemvFunction<T>* Api::*kFunction>
Result<HostStep> bind_gemv(const std::shared_ptr<const Api>& api, const gemm::View& view,
                           const Binding& binding) {
  auto call = std::make_shared<Gemv<T>>();
  const Places places = places_of(binding.problem);
  const bool with_b = matrix_is_b(view);
  const Matrix matrix = with_b ? matrix_b(view) : matrix_a(view);
  const bool by_rows = matrix.leading(true).has_value();
  const auto leading = matrix.leading(by_rows);
  if (!leading) return fail(ErrorCode::internal, "strides that supports() refuses");
  const Vectors vectors = increments(view);
  call->api = api;
  call->function = (*api).*kFunction;
  call->threads = binding.threads;
  call->order = by_rows ? Order::row_major : Order::column_major;
  // A row of out is b^T times a row of a.
  call->transpose = with_b ? Transpose::yes : Transpose::no;
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
  call->c_batch = view.c_l;
  call->matrix_place = with_b ? places.b : places.a;
  call->x_place = with_b ? places.a : places.b;
  call->y_place = places.out;
  call->c_place = places.c;
  call->clear = api->gemv_reads_output && call->beta == 0;
  call->length = with_b ? view.n : view.m;
  call->copy = Copy::of(view);
  return HostStep{&Gemv<T>::launch, std::move(call)};
}

}  // namespace

std::vector<RoutineInfo> gemm_routines(const Api& api) {
  std::vector<RoutineInfo> routines = {
      {"sgemm", DType::f32, DType::f32, check_gemm, bind_gemm<float, float, &Api::sgemm>},
      {"dgemm", DType::f64, DType::f64, check_gemm, bind_gemm<double, double, &Api::dgemm>}};
  if (api.sbgemm != nullptr)
    routines.push_back(
        {"sbgemm", DType::bf16, DType::f32, check_gemm, bind_gemm<uint16_t, float, &Api::sbgemm>});
  return routines;
}

std::vector<RoutineInfo> gemv_routines(const Api&) {
  return {{"sgemv", DType::f32, DType::f32, check_gemv, bind_gemv<float, &Api::sgemv>},
          {"dgemv", DType::f64, DType::f64, check_gemv, bind_gemv<double, &Api::dgemv>}};
}

}  // namespace assay::openblas
