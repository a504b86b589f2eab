#pragma once

// A borrowed, strided tensor: no ownership, no allocation. Sizes and strides count elements.

#include <array>
#include <cstdint>
#include <span>

#include "assay/base/result.h"
#include "assay/tensor/dtype.h"

namespace assay {

struct DlpackTensor;  // The C ABI's DLTensor; tensor/dlpack.h is needed only by whoever fills one.

struct TensorView {
  static constexpr int kMaxRank = 8;

  void* data = nullptr;
  DType dtype = DType::f32;
  int rank = 0;
  std::array<int64_t, kMaxRank> size{};
  std::array<int64_t, kMaxRank> stride{};

  std::span<const int64_t> sizes() const { return {size.data(), static_cast<size_t>(rank)}; }
  std::span<const int64_t> strides() const { return {stride.data(), static_cast<size_t>(rank)}; }
  int64_t elements() const;

  // Bytes from the first to one past the last element that the view can touch; 0 if empty.
  int64_t span_bytes() const;
};

// A dense view, last dimension contiguous.
Result<TensorView> dense_view(void* data, DType dtype, std::span<const int64_t> sizes);

// Bytes spanned by sizes and strides (in elements of dtype); an error on overflow or a negative
// size.
Result<int64_t> spanned_bytes(DType dtype, std::span<const int64_t> sizes,
                              std::span<const int64_t> strides);

// DLPack in: CPU tensors only (kDLCPU); a null strides array means dense; byte_offset is honoured.
// Refused: other devices, vector lanes, types without a DType, rank above kMaxRank.
Result<TensorView> from_dlpack(const DlpackTensor& tensor);

// DLPack out: the arrays stay inside `view`, which must outlive the result.
Status to_dlpack(const TensorView& view, DlpackTensor& tensor);

}  // namespace assay
