#pragma once

// GEMM as the C interface of a BLAS takes it, with 32-bit integers: several libraries have it, and
// each provider that loads one makes its calls here.

#include <optional>

#include "assay/op/gemm/matrix.h"

namespace assay::gemm::cblas {

enum class Order : int { row_major = 101, column_major = 102 };
enum class Transpose : int { no = 111, yes = 112 };

// cblas_sgemm, cblas_dgemm, and cblas_sbgemm where In is bf16's bits.
template <class In, class T>
using GemmFunction = void(Order order, Transpose transpose_a, Transpose transpose_b, int m, int n,
                          int k, T alpha, const In* a, int lda, const In* b, int ldb, T beta,
                          T* out, int ldout);
template <class T>
using GemvFunction = void(Order order, Transpose transpose, int rows, int columns, T alpha,
                          const T* matrix, int leading, const T* x, int x_increment, T beta, T* y,
                          int y_increment);

// Matrix::leading where it fits the interface's integers.
std::optional<int> leading(const Matrix& matrix, bool by_rows);
inline bool is_expressible(const Matrix& matrix) {
  return leading(matrix, true) || leading(matrix, false);
}

// What the arguments besides scalars and pointers are. The order is that of out; an operand stored
// the other way is a transposed one. Nothing where an operand is not expressible.
struct Layout {
  Order order = Order::row_major;
  Transpose transpose_a = Transpose::no, transpose_b = Transpose::no;
  int lda = 0, ldb = 0, ldout = 0;
};
std::optional<Layout> layout_of(const View& view);

// A problem's calls: one for each batch, after c is copied to out, because BLAS adds to what is
// there.
template <class In, class T>
class Gemm {
 public:
  Gemm(GemmFunction<In, T>* function, const Problem& problem, const View& view,
       const Layout& layout)
      : function_(function),
        view_(view),
        layout_(layout),
        places_(places_of(problem)),
        beta_(view.has_c ? static_cast<T>(view.beta) : T{0}) {}

  void run(void* const* data) const {
    const auto* a = static_cast<const In*>(data[places_.a]);
    const auto* b = static_cast<const In*>(data[places_.b]);
    auto* out = static_cast<T*>(data[places_.out]);
    for (int64_t l = 0; l < view_.l; ++l) {
      if (beta_ != 0) copy_c(view_, data[places_.c], out, l);
      function_(layout_.order, layout_.transpose_a, layout_.transpose_b, static_cast<int>(view_.m),
                static_cast<int>(view_.n), static_cast<int>(view_.k), static_cast<T>(view_.alpha),
                a + l * view_.a_l, layout_.lda, b + l * view_.b_l, layout_.ldb, beta_,
                out + l * view_.out_l, layout_.ldout);
    }
  }

 private:
  GemmFunction<In, T>* function_;
  View view_;
  Layout layout_;
  Places places_;
  T beta_;
};

}  // namespace assay::gemm::cblas
