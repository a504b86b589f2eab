#pragma once

// oneDNN's C interface as far as it is called here, and as far as versions 2 and 3 agree on it:
// facts of the ABI, stated because the library's headers are not needed to build or run. Handles
// are pointers that mean nothing to us. abi_test.cc checks all of it against installed headers.

#include <cstddef>
#include <cstdint>

namespace assay::onednn::abi {

using Handle = void*;             // Engine, stream, primitive, memory, attributes.
using ConstHandle = const void*;  // Also memory descriptors: a struct in 2.x, a handle in 3.x.
using Dim = int64_t;
inline constexpr int kMostDims = 12;

inline constexpr int kSuccess = 0, kOutOfMemory = 1, kInvalidArguments = 2, kUnimplemented = 3;

inline constexpr int kF16 = 1, kBf16 = 2, kF32 = 3, kS32 = 4, kS8 = 5;  // Data types.
inline constexpr int kTagAny = 1;        // The layout is the library's choice.
inline constexpr int kCpu = 1;           // Engine kind.
inline constexpr unsigned kInOrder = 1;  // Stream flag.
inline constexpr int kScratchpadOfUser = 1;
inline constexpr int kQueryImplementation = 8;
inline constexpr int kQuerySource = 129, kQueryWeights = 131, kQueryScratchpad = 136;
// Arguments of a primitive; a reorder's are source and destination.
inline constexpr int kArgSource = 1, kArgDestination = 17, kArgWeights = 33, kArgScratchpad = 80;
// The operand of the post-op `index`, whose number is a multiple of `base`.
constexpr int argument_of_post_op(int base, int index) { return base * (index + 1) | 2; }
inline constexpr int kBinaryAdd = 0x1fff0, kBinaryMultiply = 0x1fff1;

inline constexpr int kIsaAvx512Vnni = 0x40;  // A bit of what dnnl_get_effective_cpu_isa says.
inline constexpr unsigned kRuntimeNone = 0, kRuntimeSequential = 1, kRuntimeOpenMp = 2;

struct Version {
  int major, minor, patch;
  const char* hash;
  unsigned cpu_runtime, gpu_runtime;
};

struct Argument {
  int argument;
  Handle memory;
};

// Named as the library names them, less "dnnl_".
using version = const Version*();
using get_effective_cpu_isa = int();
using engine_create = int(Handle* engine, int kind, size_t index);
using engine_destroy = int(Handle engine);
using stream_create = int(Handle* stream, Handle engine, unsigned flags);
using stream_destroy = int(Handle stream);
using primitive_attr_create = int(Handle* attributes);
using primitive_attr_destroy = int(Handle attributes);
using primitive_attr_set_scratchpad_mode = int(Handle attributes, int mode);
using primitive_attr_set_post_ops = int(Handle attributes, ConstHandle post_ops);
using post_ops_create = int(Handle* post_ops);
using post_ops_destroy = int(Handle post_ops);
using post_ops_append_binary = int(Handle post_ops, int algorithm, ConstHandle operand);
using primitive_desc_destroy = int(Handle descriptor);
using primitive_desc_query = int(ConstHandle descriptor, int what, int index, void* result);
using primitive_desc_query_md = ConstHandle(ConstHandle descriptor, int what, int index);
using reorder_primitive_desc_create = int(Handle* descriptor, ConstHandle from, Handle from_engine,
                                          ConstHandle to, Handle to_engine, ConstHandle attributes);
using primitive_create = int(Handle* primitive, ConstHandle descriptor);
using primitive_destroy = int(Handle primitive);
using primitive_execute = int(ConstHandle primitive, Handle stream, int count,
                              const Argument* arguments);
using memory_desc_get_size = size_t(ConstHandle descriptor);
using memory_create = int(Handle* memory, ConstHandle descriptor, Handle engine, void* data);
using memory_destroy = int(Handle memory);
using memory_set_data_handle = int(Handle memory, void* data);
// Row-major: out (m x n) = alpha * op(a) x op(b) + beta * out; 'T' transposes.
using sgemm = int(char transpose_a, char transpose_b, Dim m, Dim n, Dim k, float alpha,
                  const float* a, Dim lda, const float* b, Dim ldb, float beta, float* out,
                  Dim ldout);
// The same with sums in s32; offset_c 'F' adds *c_offset to every element.
using gemm_s8s8s32 = int(char transpose_a, char transpose_b, char offset_c, Dim m, Dim n, Dim k,
                         float alpha, const int8_t* a, Dim lda, int8_t a_offset, const int8_t* b,
                         Dim ldb, int8_t b_offset, float beta, int32_t* out, Dim ldout,
                         const int32_t* c_offset);

}  // namespace assay::onednn::abi
