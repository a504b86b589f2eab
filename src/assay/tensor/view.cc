#include "assay/tensor/view.h"

#include <algorithm>

#include "assay/base/checked.h"

namespace assay {

int64_t TensorView::elements() const { return checked_product(sizes()).value_or(0); }

int64_t TensorView::span_bytes() const {
  auto bytes = spanned_bytes(dtype, sizes(), strides());
  return bytes ? *bytes : 0;
}

Result<int64_t> spanned_bytes(DType dtype, std::span<const int64_t> sizes,
                              std::span<const int64_t> strides) {
  if (sizes.size() != strides.size()) {
    return fail(ErrorCode::invalid_input, "{} sizes but {} strides: one stride per size",
                sizes.size(), strides.size());
  }
  bool empty = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0)
      return fail(ErrorCode::invalid_input, "size {} of dimension {} is negative", sizes[i], i);
    empty = empty || sizes[i] == 0;
  }
  if (empty) return 0;
  int64_t last = 0;  // Offset of the last element; strides may be negative or zero.
  int64_t first = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto reach = checked_mul(sizes[i] - 1, strides[i]);
    const auto sum = reach ? checked_add(*reach < 0 ? first : last, *reach) : reach;
    if (!sum) {
      return fail(ErrorCode::invalid_input, "size {} with stride {} reaches beyond 2^63 elements",
                  sizes[i], strides[i]);
    }
    (*reach < 0 ? first : last) = *sum;
  }
  const auto range = checked_sub(last, first);
  const auto count = range ? checked_add(*range, 1) : range;
  const auto bits = count ? checked_mul(*count, info(dtype).bits) : count;
  const auto rounded = bits ? checked_add(*bits, 7) : bits;
  if (!rounded) return fail(ErrorCode::invalid_input, "the tensor spans more than 2^60 bytes");
  return *rounded / 8;
}

Result<TensorView> dense_view(void* data, DType dtype, std::span<const int64_t> sizes) {
  if (sizes.size() > TensorView::kMaxRank) {
    return fail(ErrorCode::invalid_input, "rank {} is above {}", sizes.size(),
                TensorView::kMaxRank);
  }
  TensorView view;
  view.data = data;
  view.dtype = dtype;
  view.rank = static_cast<int>(sizes.size());
  int64_t stride = 1;
  for (int i = view.rank - 1; i >= 0; --i) {
    view.size[i] = sizes[i];
    view.stride[i] = stride;
    const auto next = checked_mul(stride, std::max<int64_t>(sizes[i], 1));
    if (!next) return fail(ErrorCode::invalid_input, "the sizes multiply to more than 2^63");
    stride = *next;
  }
  ASSAY_TRY(spanned_bytes(dtype, view.sizes(), view.strides()));
  return view;
}

}  // namespace assay
