#include "call.h"

#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

namespace assay::cublas {
namespace {

std::optional<int> data_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return kF64;
    case DType::f32:
      return kF32;
    case DType::f16:
      return kF16;
    case DType::bf16:
      return kBf16;
    case DType::s8:
      return kS8;
    case DType::s32:
      return kS32;
    default:
      return std::nullopt;
  }
}

// How the library is to compute; nothing where it does not multiply these types into that one.
std::optional<int> compute_type(const gemm::View& view) {
  if (view.a != view.b) return std::nullopt;
  const bool small = view.a == DType::f16 || view.a == DType::bf16;
  if ((small || view.a == DType::f32) && view.accumulate == DType::f32 &&
      (view.out == view.a || view.out == DType::f32))
    return kCompute32F;
  if (view.a == DType::f64 && view.out == DType::f64 && view.accumulate == DType::f64)
    return kCompute64F;
  if (view.a == DType::s8 && view.out == DType::s32 && view.accumulate == DType::s32)
    return kCompute32I;
  return std::nullopt;
}

// A matrix of `lines` lines, each of `length` elements side by side, `apart` elements from one to
// the next. Nothing where the elements do not lie so.
std::optional<int64_t> leading(int64_t lines, int64_t length, int64_t apart, int64_t inside) {
  if (length > 1 && inside != 1) return std::nullopt;
  const int64_t dimension = lines > 1 ? apart : std::max<int64_t>(length, 1);
  if (dimension < length || dimension > std::numeric_limits<int>::max()) return std::nullopt;
  return dimension;
}

struct Lines {
  bool columns_lie = false;  // Its columns are the lines, not its rows.
  int64_t leading = 0;
};

std::optional<Lines> lines_of(int64_t rows, int64_t columns, int64_t row_stride,
                              int64_t column_stride) {
  if (const auto found = leading(rows, columns, row_stride, column_stride))
    return Lines{false, *found};
  if (const auto found = leading(columns, rows, column_stride, row_stride))
    return Lines{true, *found};
  return std::nullopt;
}

}  // namespace

Refusals objections(const gemm::View& view) {
  Refusals refusals;
  const auto compute = compute_type(view);
  if (!compute) refusals.add(Reason::dtype, "cuBLAS does not multiply these types into that one");
  if (view.has_c) refusals.add(Reason::other, "the call adds to what out holds, not to c");
  if (compute == kCompute32I && view.alpha != std::floor(view.alpha))
    refusals.add(Reason::dtype, "integer products take a whole alpha");
  const auto a = lines_of(view.m, view.k, view.a_m, view.a_k);
  const auto b = lines_of(view.k, view.n, view.b_k, view.b_n);
  for (const auto& [role, lines] : {std::pair("a", &a), std::pair("b", &b)}) {
    if (!*lines)
      refusals.add(Reason::stride,
                   fmt::format("neither rows nor columns of {} lie side by side", role));
    else if (compute == kCompute32I && (*lines)->leading % 4 != 0)
      refusals.add(Reason::stride, fmt::format("lines of {} are not multiples of 4 bytes", role));
  }
  if (!leading(view.m, view.n, view.out_m, view.out_n))
    refusals.add(Reason::layout, "out is row-major in every call that is made here");
  for (const int64_t size : {view.l, view.m, view.n, view.k})
    if (size > std::numeric_limits<int>::max())
      refusals.add(Reason::other, "a size is above 2^31-1");
  return refusals;
}

const void* Call::Factor::in(int compute) const {
  if (compute == kCompute64F) return &f64;
  if (compute == kCompute32I) return &s32;
  return &f32;
}

// Rows side by side read as columns, so out is n x m and out^T = b^T a^T: b comes first, and what
// lies in rows is its own transpose already.
Call::Call(std::shared_ptr<const Api> api, Handle handle, const gemm::View& view)
    : api_(std::move(api)),
      handle_(handle),
      rows_(static_cast<int>(view.n)),
      columns_(static_cast<int>(view.m)),
      depth_(static_cast<int>(view.k)),
      count_(static_cast<int>(view.l)),
      compute_(compute_type(view).value_or(kCompute32F)),
      alpha_(view.alpha),
      beta_(0) {
  const auto matrix = [](const std::optional<Lines>& lines, DType dtype, int64_t stride) {
    return Matrix{lines->columns_lie ? kTransposed : kAsIs, *data_type(dtype),
                  static_cast<int>(lines->leading), stride};
  };
  first_ = matrix(lines_of(view.k, view.n, view.b_k, view.b_n), view.b, view.b_l);
  second_ = matrix(lines_of(view.m, view.k, view.a_m, view.a_k), view.a, view.a_l);
  out_ = matrix(lines_of(view.m, view.n, view.out_m, view.out_n), view.out, view.out_l);
}

Code Call::enqueue(const void* a, const void* b, void* out, void* workspace, size_t bytes,
                   void* stream) const {
  const EntryPoints& call = api_->call();
  // Setting the stream takes the workspace away.
  if (const Code set = call.set_stream(handle_, stream); set != 0) return set;
  if (const Code set = call.set_workspace(handle_, workspace, bytes); set != 0) return set;
  const void *alpha = alpha_.in(compute_), *beta = beta_.in(compute_);
  if (count_ == 1)
    return call.gemm(handle_, first_.transpose, second_.transpose, rows_, columns_, depth_, alpha,
                     b, first_.type, first_.leading, a, second_.type, second_.leading, beta, out,
                     out_.type, out_.leading, compute_, kDefaultAlgorithm);
  return call.batched(handle_, first_.transpose, second_.transpose, rows_, columns_, depth_, alpha,
                      b, first_.type, first_.leading, first_.stride, a, second_.type,
                      second_.leading, second_.stride, beta, out, out_.type, out_.leading,
                      out_.stride, count_, compute_, kDefaultAlgorithm);
}

}  // namespace assay::cublas
