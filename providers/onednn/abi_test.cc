// Checks abi.h and api_v2.h against the library's own headers where some are installed: sizes,
// numbers and signatures of one major version at a time.
#if __has_include(<oneapi/dnnl/dnnl.h>)
#include <oneapi/dnnl/dnnl.h>
#define HAS_HEADERS 1
#endif

#include <type_traits>

#include <gtest/gtest.h>

#include "abi.h"
#include "api_v2.h"
#include "api_v3.h"

namespace assay::onednn {
namespace {

#ifndef HAS_HEADERS
TEST(OneDnnAbi, IsAsTheHeadersSay) { GTEST_SKIP() << "libdnnl-dev is not installed"; }
#else

static_assert(sizeof(abi::Version) == sizeof(dnnl_version_t));
static_assert(offsetof(abi::Version, hash) == offsetof(dnnl_version_t, hash));
static_assert(offsetof(abi::Version, cpu_runtime) == offsetof(dnnl_version_t, cpu_runtime));
static_assert(sizeof(abi::Argument) == sizeof(dnnl_exec_arg_t));
static_assert(offsetof(abi::Argument, memory) == offsetof(dnnl_exec_arg_t, memory));
static_assert(sizeof(abi::Dim) == sizeof(dnnl_dim_t));
static_assert(abi::kMostDims == DNNL_MAX_NDIMS);
static_assert(abi::kSuccess == dnnl_success && abi::kOutOfMemory == dnnl_out_of_memory &&
              abi::kInvalidArguments == dnnl_invalid_arguments &&
              abi::kUnimplemented == dnnl_unimplemented);
static_assert(abi::kF16 == dnnl_f16 && abi::kBf16 == dnnl_bf16 && abi::kF32 == dnnl_f32 &&
              abi::kS32 == dnnl_s32 && abi::kS8 == dnnl_s8);
static_assert(abi::kTagAny == dnnl_format_tag_any && abi::kCpu == dnnl_cpu);
static_assert(abi::kInOrder == dnnl_stream_in_order);
static_assert(abi::kScratchpadOfUser == dnnl_scratchpad_mode_user);
static_assert(abi::kQueryImplementation == dnnl_query_impl_info_str &&
              abi::kQuerySource == dnnl_query_src_md &&
              abi::kQueryWeights == dnnl_query_weights_md &&
              abi::kQueryScratchpad == dnnl_query_scratchpad_md);
static_assert(abi::kArgSource == DNNL_ARG_SRC && abi::kArgSource == DNNL_ARG_FROM &&
              abi::kArgDestination == DNNL_ARG_DST && abi::kArgDestination == DNNL_ARG_TO &&
              abi::kArgWeights == DNNL_ARG_WEIGHTS && abi::kArgScratchpad == DNNL_ARG_SCRATCHPAD);
static_assert(abi::kRuntimeSequential == DNNL_RUNTIME_SEQ &&
              abi::kRuntimeOpenMp == DNNL_RUNTIME_OMP && abi::kRuntimeNone == DNNL_RUNTIME_NONE);

static_assert(abi::kBinaryAdd == dnnl_binary_add && abi::kBinaryMultiply == dnnl_binary_mul);

// How a parameter is passed: by its register class and width.
template <class T>
constexpr int passing = std::is_pointer_v<T>          ? -1
                        : std::is_floating_point_v<T> ? 100 + static_cast<int>(sizeof(T))
                                                      : static_cast<int>(sizeof(T));

template <class Ours, class Theirs>
constexpr bool alike = false;
template <class R, class... P, class S, class... Q>
constexpr bool alike<R(P...), S(Q...)> = [] {
  if constexpr (sizeof...(P) != sizeof...(Q))
    return false;
  else
    return passing<R> == passing<S> && ((passing<P> == passing<Q>)&&...);
}();

#define ALIKE(ours, theirs) static_assert(alike<ours, decltype(theirs)>)
ALIKE(abi::version, dnnl_version);
ALIKE(abi::engine_create, dnnl_engine_create);
ALIKE(abi::engine_destroy, dnnl_engine_destroy);
ALIKE(abi::stream_create, dnnl_stream_create);
ALIKE(abi::stream_destroy, dnnl_stream_destroy);
ALIKE(abi::primitive_attr_create, dnnl_primitive_attr_create);
ALIKE(abi::primitive_attr_destroy, dnnl_primitive_attr_destroy);
ALIKE(abi::primitive_attr_set_scratchpad_mode, dnnl_primitive_attr_set_scratchpad_mode);
ALIKE(abi::primitive_attr_set_post_ops, dnnl_primitive_attr_set_post_ops);
ALIKE(abi::post_ops_create, dnnl_post_ops_create);
ALIKE(abi::post_ops_destroy, dnnl_post_ops_destroy);
ALIKE(abi::post_ops_append_binary, dnnl_post_ops_append_binary);
ALIKE(abi::primitive_desc_destroy, dnnl_primitive_desc_destroy);
ALIKE(abi::primitive_desc_query, dnnl_primitive_desc_query);
ALIKE(abi::primitive_desc_query_md, dnnl_primitive_desc_query_md);
ALIKE(abi::reorder_primitive_desc_create, dnnl_reorder_primitive_desc_create);
ALIKE(abi::primitive_create, dnnl_primitive_create);
ALIKE(abi::primitive_destroy, dnnl_primitive_destroy);
ALIKE(abi::primitive_execute, dnnl_primitive_execute);
ALIKE(abi::memory_desc_get_size, dnnl_memory_desc_get_size);
ALIKE(abi::memory_create, dnnl_memory_create);
ALIKE(abi::memory_destroy, dnnl_memory_destroy);
ALIKE(abi::memory_set_data_handle, dnnl_memory_set_data_handle);
ALIKE(abi::sgemm, dnnl_sgemm);
ALIKE(abi::gemm_s8s8s32, dnnl_gemm_s8s8s32);
ALIKE(abi::get_effective_cpu_isa, dnnl_get_effective_cpu_isa);

static_assert((dnnl_cpu_isa_avx512_core_vnni & ~dnnl_cpu_isa_avx512_core) == abi::kIsaAvx512Vnni);

#if DNNL_VERSION_MAJOR == 2
static_assert(sizeof(v2::MemoryDescriptor) >= sizeof(dnnl_memory_desc_t));
static_assert(alignof(v2::MemoryDescriptor) >= alignof(dnnl_memory_desc_t));
static_assert(sizeof(v2::MatmulDescriptor) >= sizeof(dnnl_matmul_desc_t));
static_assert(alignof(v2::MatmulDescriptor) >= alignof(dnnl_matmul_desc_t));
static_assert(abi::argument_of_post_op(v2::kPostOpBase, 3) ==
              (DNNL_ARG_ATTR_MULTIPLE_POST_OP(3) | DNNL_ARG_SRC_1));
static_assert(v2::kRelu == dnnl_eltwise_relu && v2::kGeluTanh == dnnl_eltwise_gelu_tanh &&
              v2::kSwish == dnnl_eltwise_swish && v2::kClip == dnnl_eltwise_clip &&
              v2::kGeluErf == dnnl_eltwise_gelu_erf);
ALIKE(v2::post_ops_append_eltwise, dnnl_post_ops_append_eltwise);
ALIKE(v2::memory_desc_init_by_strides, dnnl_memory_desc_init_by_strides);
ALIKE(v2::memory_desc_init_by_tag, dnnl_memory_desc_init_by_tag);
ALIKE(v2::matmul_desc_init, dnnl_matmul_desc_init);
ALIKE(v2::primitive_desc_create, dnnl_primitive_desc_create);
#elif DNNL_VERSION_MAJOR == 3
static_assert((dnnl_cpu_isa_avx2_vnni & ~dnnl_cpu_isa_avx2) == v3::kIsaAvx2Vnni);
static_assert(abi::argument_of_post_op(v3::kPostOpBase, 3) ==
              (DNNL_ARG_ATTR_MULTIPLE_POST_OP(3) | DNNL_ARG_SRC_1));
static_assert(v3::kRelu == dnnl_eltwise_relu && v3::kGeluTanh == dnnl_eltwise_gelu_tanh &&
              v3::kSwish == dnnl_eltwise_swish && v3::kClip == dnnl_eltwise_clip &&
              v3::kGeluErf == dnnl_eltwise_gelu_erf);
ALIKE(v3::post_ops_append_eltwise, dnnl_post_ops_append_eltwise);
ALIKE(v3::memory_desc_create_with_strides, dnnl_memory_desc_create_with_strides);
ALIKE(v3::memory_desc_create_with_tag, dnnl_memory_desc_create_with_tag);
ALIKE(v3::memory_desc_destroy, dnnl_memory_desc_destroy);
ALIKE(v3::matmul_primitive_desc_create, dnnl_matmul_primitive_desc_create);
#endif

TEST(OneDnnAbi, IsAsTheHeadersSay) { SUCCEED() << "checked while compiling"; }

#endif

}  // namespace
}  // namespace assay::onednn
