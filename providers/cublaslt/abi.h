#pragma once

// The part of cuBLASLt's C interface that is called here, for versions 12 and 13: declared so that
// no toolkit is needed to build. Source: cuBLAS documentation, section "Using the cuBLASLt API".

#include <cstddef>
#include <cstdint>

namespace assay::cublaslt::abi {

using Status = int;  // 0 is success.
inline constexpr Status kSuccess = 0;
inline constexpr Status kNotSupported = 15;

using Handle = struct HandleTag*;
using MatmulDesc = struct MatmulDescTag*;
using Layout = struct LayoutTag*;
using Preference = struct PreferenceTag*;

// cudaDataType_t.
inline constexpr int kF32 = 0, kF64 = 1, kF16 = 2, kS8 = 3, kS32 = 10, kBf16 = 14;
// cublasComputeType_t.
inline constexpr int kCompute32F = 68, kCompute64F = 70, kCompute32I = 72;

// cublasLtMatmulDescAttributes_t, cublasLtEpilogue_t: flags of the second.
inline constexpr int kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBiasPointer = 8;
inline constexpr uint32_t kEpilogueNone = 1, kEpilogueRelu = 2, kEpilogueBias = 4,
                          kEpilogueGelu = 32;            // By tanh.
inline constexpr int kBatchCount = 5, kBatchOffset = 6;  // cublasLtMatrixLayoutAttribute_t
inline constexpr int kMostWorkspace = 1;                 // cublasLtMatmulPreferenceAttributes_t
inline constexpr int kAlignmentA = 5;                    // ... B, C, D follow.
inline constexpr int kOperationN = 0, kOperationT = 1;

// cublasLtMatmulAlgoConfigAttributes_t.
inline constexpr int kAlgorithmId = 0, kTile = 1, kSplitK = 2, kReduction = 3, kSwizzle = 4;
inline constexpr int kCustom = 5, kStages = 6, kInnerShape = 7, kClusterShape = 8;

// cublasLtMatmulAlgoCapAttributes_t: of 4 bytes, or lists of such.
inline constexpr int kCanSplitK = 0, kReductions = 1, kCanSwizzle = 2, kTiles = 6, kMostCustom = 7;
inline constexpr int kStagesIds = 13, kLeastAlignmentA = 16;  // ... B, C, D follow.
// cublasLtReductionScheme_t: in place, in the compute type, in the output's.
inline constexpr uint32_t kReductionSchemes[] = {1, 2, 4};
// cublasLtMatmulInnerShape_t and cublasLtClusterShape_t of version 13.1: 0 is "not said" and "the
// library chooses".
inline constexpr int kLastInnerShape = 4;  // From 1.
inline constexpr int kFirstCluster = 2, kLastCluster = 51;
inline constexpr int kNoShape = 0xFFFF;  // Of either.

struct Algorithm {
  uint64_t data[8];
};

struct HeuristicResult {
  Algorithm algorithm;
  size_t workspace_bytes;
  Status state;
  float waves;
  int reserved[4];
};

// clang-format off
#define ASSAY_CUBLASLT_ENTRY_POINTS(X)                                                            \
  X(create, "cublasLtCreate", Status, (Handle* handle))                                           \
  X(destroy, "cublasLtDestroy", Status, (Handle handle))                                          \
  X(version, "cublasLtGetVersion", size_t, ())                                                    \
  X(status_text, "cublasLtGetStatusString", const char*, (Status status))                         \
  X(desc_create, "cublasLtMatmulDescCreate", Status, (MatmulDesc* desc, int compute, int scale))  \
  X(desc_destroy, "cublasLtMatmulDescDestroy", Status, (MatmulDesc desc))                         \
  X(desc_set, "cublasLtMatmulDescSetAttribute", Status,                                           \
    (MatmulDesc desc, int attribute, const void* value, size_t bytes))                            \
  X(layout_create, "cublasLtMatrixLayoutCreate", Status,                                          \
    (Layout* layout, int type, uint64_t rows, uint64_t columns, int64_t leading))                 \
  X(layout_destroy, "cublasLtMatrixLayoutDestroy", Status, (Layout layout))                       \
  X(layout_set, "cublasLtMatrixLayoutSetAttribute", Status,                                       \
    (Layout layout, int attribute, const void* value, size_t bytes))                              \
  X(preference_create, "cublasLtMatmulPreferenceCreate", Status, (Preference* preference))        \
  X(preference_destroy, "cublasLtMatmulPreferenceDestroy", Status, (Preference preference))       \
  X(preference_set, "cublasLtMatmulPreferenceSetAttribute", Status,                               \
    (Preference preference, int attribute, const void* value, size_t bytes))                      \
  X(heuristic, "cublasLtMatmulAlgoGetHeuristic", Status,                                          \
    (Handle handle, MatmulDesc desc, Layout a, Layout b, Layout c, Layout d,                      \
     Preference preference, int wanted, HeuristicResult* results, int* found))                    \
  X(algorithm_ids, "cublasLtMatmulAlgoGetIds", Status,                                            \
    (Handle handle, int compute, int scale, int a, int b, int c, int d, int wanted, int* ids,     \
     int* found))                                                                                 \
  X(algorithm_can, "cublasLtMatmulAlgoCapGetAttribute", Status,                                   \
    (const Algorithm* algorithm, int attribute, void* value, size_t bytes, size_t* written))      \
  X(algorithm_init, "cublasLtMatmulAlgoInit", Status,                                             \
    (Handle handle, int compute, int scale, int a, int b, int c, int d, int id,                   \
     Algorithm* algorithm))                                                                       \
  X(algorithm_get, "cublasLtMatmulAlgoConfigGetAttribute", Status,                                \
    (const Algorithm* algorithm, int attribute, void* value, size_t bytes, size_t* written))      \
  X(algorithm_set, "cublasLtMatmulAlgoConfigSetAttribute", Status,                                \
    (Algorithm* algorithm, int attribute, const void* value, size_t bytes))                       \
  X(algorithm_check, "cublasLtMatmulAlgoCheck", Status,                                           \
    (Handle handle, MatmulDesc desc, Layout a, Layout b, Layout c, Layout d,                      \
     const Algorithm* algorithm, HeuristicResult* result))                                        \
  X(matmul, "cublasLtMatmul", Status,                                                             \
    (Handle handle, MatmulDesc desc, const void* alpha, const void* a, Layout a_layout,           \
     const void* b, Layout b_layout, const void* beta, const void* c, Layout c_layout, void* d,   \
     Layout d_layout, const Algorithm* algorithm, void* workspace, size_t workspace_bytes,        \
     void* stream))
// clang-format on

struct EntryPoints {
#define ASSAY_CUBLASLT_MEMBER(member, symbol, result, parameters) \
  result(*member) parameters = nullptr;
  ASSAY_CUBLASLT_ENTRY_POINTS(ASSAY_CUBLASLT_MEMBER)
#undef ASSAY_CUBLASLT_MEMBER
};

}  // namespace assay::cublaslt::abi
