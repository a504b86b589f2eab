#pragma once

// What oneDNN 2.x alone has: descriptors are structs that the caller owns.

#include "abi.h"

namespace assay::onednn::v2 {

// Only the library looks inside, and none of 2.x fills more than a part: 696 and 2800 bytes in 2.6.
struct alignas(16) MemoryDescriptor {
  std::byte bytes[1536];
};
struct alignas(16) MatmulDescriptor {
  std::byte bytes[6144];
};

using memory_desc_init_by_strides = int(MemoryDescriptor* descriptor, int count,
                                        const abi::Dim* sizes, int data_type,
                                        const abi::Dim* strides);
using memory_desc_init_by_tag = int(MemoryDescriptor* descriptor, int count, const abi::Dim* sizes,
                                    int data_type, int tag);
using matmul_desc_init = int(MatmulDescriptor* matmul, abi::ConstHandle source,
                             abi::ConstHandle weights, abi::ConstHandle bias,
                             abi::ConstHandle destination);
using primitive_desc_create = int(abi::Handle* descriptor, const void* operation,
                                  abi::ConstHandle attributes, abi::Handle engine,
                                  abi::ConstHandle hint);

using post_ops_append_eltwise = int(abi::Handle post_ops, float scale, int algorithm, float alpha,
                                    float beta);
inline constexpr int kPostOpBase = 16384;
inline constexpr int kRelu = 0x1f, kGeluTanh = 0xcf, kSwish = 0xdf, kClip = 0xff, kGeluErf = 0x30;

struct Functions {
  memory_desc_init_by_strides* strided = nullptr;
  memory_desc_init_by_tag* tagged = nullptr;
  matmul_desc_init* matmul = nullptr;
  primitive_desc_create* create = nullptr;
  post_ops_append_eltwise* append = nullptr;
};

}  // namespace assay::onednn::v2
