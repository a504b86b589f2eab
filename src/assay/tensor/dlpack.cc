#include "assay/tensor/dlpack.h"

#include <array>
#include <optional>

namespace assay {
namespace {

enum TypeCode : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kBool = 6 };

struct Row {
  DType dtype;
  uint8_t code, bits;
};
constexpr std::array kRows = {
    Row{DType::f64, kFloat, 64},   Row{DType::f32, kFloat, 32}, Row{DType::f16, kFloat, 16},
    Row{DType::bf16, kBfloat, 16}, Row{DType::s8, kInt, 8},     Row{DType::s32, kInt, 32},
    Row{DType::s64, kInt, 64},     Row{DType::s16, kInt, 16},   Row{DType::u8, kUInt, 8},
    Row{DType::boolean, kBool, 8},
};

std::optional<DType> find_row(const DlpackType& type) {
  for (const Row& row : kRows)
    if (row.code == type.code && row.bits == type.bits) return row.dtype;
  return std::nullopt;
}

}  // namespace

Result<TensorView> from_dlpack(const DlpackTensor& tensor) {
  if (tensor.device.device_type != 1) {
    return fail(ErrorCode::unsupported,
                "DLPack device type {}: only tensors of the CPU (1) are read",
                tensor.device.device_type);
  }
  if (tensor.dtype.lanes != 1) {
    return fail(ErrorCode::unsupported, "DLPack type with {} lanes: elements must be scalars",
                tensor.dtype.lanes);
  }
  const auto dtype = find_row(tensor.dtype);
  if (!dtype) {
    return fail(ErrorCode::unsupported, "DLPack type code {} with {} bits has no counterpart here",
                tensor.dtype.code, tensor.dtype.bits);
  }
  if (tensor.ndim < 0 || tensor.ndim > TensorView::kMaxRank) {
    return fail(ErrorCode::invalid_input, "DLPack rank {}: 0 .. {} are read", tensor.ndim,
                TensorView::kMaxRank);
  }
  if (tensor.ndim > 0 && tensor.shape == nullptr)
    return fail(ErrorCode::invalid_input, "DLPack tensor without a shape");
  const std::span<const int64_t> sizes(tensor.shape, static_cast<size_t>(tensor.ndim));
  for (int64_t size : sizes) {
    if (size < 0) return fail(ErrorCode::invalid_input, "DLPack size {} is negative", size);
  }
  ASSAY_TRY(TensorView view, dense_view(tensor.data, *dtype, sizes));
  if (tensor.strides != nullptr) {
    for (int i = 0; i < view.rank; ++i) view.stride[i] = tensor.strides[i];
    ASSAY_TRY(spanned_bytes(view.dtype, view.sizes(), view.strides()));
  }
  if (view.data == nullptr && view.elements() > 0)
    return fail(ErrorCode::invalid_input, "DLPack tensor without data");
  if (view.data != nullptr) view.data = static_cast<std::byte*>(view.data) + tensor.byte_offset;
  return view;
}

Status to_dlpack(const TensorView& view, DlpackTensor& tensor) {
  for (const Row& row : kRows) {
    if (row.dtype != view.dtype) continue;
    tensor.data = view.data;
    tensor.device = {1, 0};
    tensor.ndim = view.rank;
    tensor.dtype = {row.code, row.bits, 1};
    // The C struct has no const; nobody who takes a tensor writes its shape.
    tensor.shape = const_cast<int64_t*>(view.size.data());
    tensor.strides = const_cast<int64_t*>(view.stride.data());
    tensor.byte_offset = 0;
    return {};
  }
  return fail(ErrorCode::unsupported, "DLPack has no plain type for {}", to_string(view.dtype));
}

}  // namespace assay
