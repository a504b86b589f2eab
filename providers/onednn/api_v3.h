#pragma once

// What oneDNN 3.x alone has: descriptors are the library's objects, and a matmul needs one call.

#include "abi.h"

namespace assay::onednn::v3 {

inline constexpr int kIsaAvx2Vnni = 0x8;  // 2.x means Xeon Phi by it.

using memory_desc_create_with_strides = int(abi::Handle* descriptor, int count,
                                            const abi::Dim* sizes, int data_type,
                                            const abi::Dim* strides);
using memory_desc_create_with_tag = int(abi::Handle* descriptor, int count, const abi::Dim* sizes,
                                        int data_type, int tag);
using memory_desc_destroy = int(abi::Handle descriptor);
using matmul_primitive_desc_create = int(abi::Handle* descriptor, abi::Handle engine,
                                         abi::ConstHandle source, abi::ConstHandle weights,
                                         abi::ConstHandle bias, abi::ConstHandle destination,
                                         abi::ConstHandle attributes);

using post_ops_append_eltwise = int(abi::Handle post_ops, int algorithm, float alpha, float beta);
inline constexpr int kPostOpBase = 32768;
inline constexpr int kRelu = 0x20, kGeluTanh = 0x2b, kSwish = 0x2c, kClip = 0x2e, kGeluErf = 0x31;

struct Functions {
  memory_desc_create_with_strides* strided = nullptr;
  memory_desc_create_with_tag* tagged = nullptr;
  memory_desc_destroy* destroy = nullptr;
  matmul_primitive_desc_create* matmul = nullptr;
  post_ops_append_eltwise* append = nullptr;
};

}  // namespace assay::onednn::v3
