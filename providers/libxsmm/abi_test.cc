// Checks abi.h against the library's own headers where they are installed.
#if __has_include(<libxsmm.h>)
#include <libxsmm.h>
#define HAS_HEADERS 1
#endif

#include <type_traits>

#include <gtest/gtest.h>

#include "abi.h"

namespace assay::libxsmm {
namespace {

#ifndef HAS_HEADERS
TEST(LibxsmmAbi, IsAsTheHeadersSay) { GTEST_SKIP() << "libxsmm-dev is not installed"; }
#else

// The headers' code for single shapes is variadic, and its element types have other names.
template <class Ours, class Theirs>
constexpr bool same_but_result = false;
template <class R, class... P, class S, class... Q>
constexpr bool same_but_result<R(P...), S(Q...)> =
    std::is_pointer_v<R>&& std::is_pointer_v<S>&& std::is_same_v<void(P...), void(Q...)>;

static_assert(std::is_same_v<abi::Int, libxsmm_blasint>);
static_assert(abi::kTransposeB == LIBXSMM_GEMM_FLAG_TRANS_B &&
              abi::kPairsInA == LIBXSMM_GEMM_FLAG_VNNI_A);
static_assert(static_cast<int>(LIBXSMM_GEMM_PREFETCH_NONE) == abi::kNoPrefetch);
static_assert(abi::kMostProducts == LIBXSMM_MAX_MNK);
static_assert(std::is_same_v<libxsmm_bfloat16, uint16_t>);
static_assert(same_but_result<abi::dispatch<float, float, float>, decltype(libxsmm_smmdispatch)>);
static_assert(
    same_but_result<abi::dispatch<double, double, double>, decltype(libxsmm_dmmdispatch)>);
static_assert(
    same_but_result<abi::dispatch<uint16_t, float, float>, decltype(libxsmm_bsmmdispatch)>);
static_assert(std::is_same_v<abi::gemm<float>, decltype(libxsmm_sgemm)>);
static_assert(std::is_same_v<abi::gemm<double>, decltype(libxsmm_dgemm)>);
static_assert(std::is_same_v<abi::otrans, decltype(libxsmm_otrans)>);
static_assert(std::is_same_v<abi::init, decltype(libxsmm_init)>);
static_assert(std::is_same_v<abi::get_target_arch, decltype(libxsmm_get_target_arch)>);

TEST(LibxsmmAbi, IsAsTheHeadersSay) { SUCCEED() << "checked while compiling"; }

#endif

}  // namespace
}  // namespace assay::libxsmm
