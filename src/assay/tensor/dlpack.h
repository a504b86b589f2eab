#pragma once

// DLPack, the C struct by which array libraries hand each other tensors, declared from its public
// specification (dmlc/dlpack; DLTensor is the same in 0.6 to 1.x) under names of our own: the
// official header defines its types at global scope, and both may meet in one program.

#include <cstddef>
#include <cstdint>

#include "assay/base/result.h"
#include "assay/tensor/view.h"

namespace assay {

struct DlpackDevice {
  int32_t device_type = 1;  // An enum in C; 1 is kDLCPU.
  int32_t device_id = 0;
};

struct DlpackType {
  uint8_t code = 0;  // 0 signed, 1 unsigned, 2 IEEE float, 4 bfloat, 6 bool.
  uint8_t bits = 0;
  uint16_t lanes = 1;
};

struct DlpackTensor {
  void* data = nullptr;
  DlpackDevice device;
  int32_t ndim = 0;
  DlpackType dtype;
  int64_t* shape = nullptr;
  int64_t* strides = nullptr;  // In elements; null means dense, last dimension contiguous.
  uint64_t byte_offset = 0;
};
static_assert(sizeof(DlpackTensor) == 48 && offsetof(DlpackTensor, shape) == 24,
              "DlpackTensor is not the C ABI's DLTensor");

// The official DLTensor, or any struct with its fields; the other way round for to_dlpack.
template <class Tensor>
requires requires(const Tensor& t) { t.device.device_type, t.dtype.lanes, t.byte_offset; }
Result<TensorView> from_dlpack(const Tensor& tensor) {
  DlpackTensor same;
  same.data = tensor.data;
  same.device = {static_cast<int32_t>(tensor.device.device_type),
                 static_cast<int32_t>(tensor.device.device_id)};
  same.ndim = tensor.ndim;
  same.dtype = {tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes};
  same.shape = tensor.shape;
  same.strides = tensor.strides;
  same.byte_offset = tensor.byte_offset;
  return from_dlpack(static_cast<const DlpackTensor&>(same));
}

template <class Tensor>
requires requires(const Tensor& t) { t.device.device_type, t.dtype.lanes, t.byte_offset; }
Status to_dlpack(const TensorView& view, Tensor& tensor) {
  DlpackTensor same;
  ASSAY_TRY(to_dlpack(view, same));
  tensor.data = same.data;
  tensor.device.device_type =
      static_cast<decltype(tensor.device.device_type)>(same.device.device_type);
  tensor.device.device_id = same.device.device_id;
  tensor.ndim = same.ndim;
  tensor.dtype.code = same.dtype.code;
  tensor.dtype.bits = same.dtype.bits;
  tensor.dtype.lanes = same.dtype.lanes;
  tensor.shape = same.shape;
  tensor.strides = same.strides;
  tensor.byte_offset = 0;
  return {};
}

}  // namespace assay
