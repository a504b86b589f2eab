// libcublasLt: handles and descriptions.
#include "testing/fake_cublas/descriptors.h"

#include <cstring>

#include "testing/fake_cublas/state.h"

namespace {

using namespace fake_cublas;  // NOLINT: all of it is one library.

// cublasLtMatmulDescAttributes_t, cublasLtMatrixLayoutAttribute_t,
// cublasLtMatmulPreferenceAttributes_t.
constexpr int kTransA = 3, kTransB = 4, kEpilogue = 7, kBiasPointer = 8;
constexpr int kBatchCount = 5, kBatchOffset = 6;
constexpr int kMaxWorkspace = 1, kMinAlignmentA = 5, kMinAlignmentD = 8;

template <class T>
int take(T& out, const void* value, size_t bytes) {
  if (value == nullptr || bytes != sizeof out) return kInvalidValue;
  std::memcpy(&out, value, bytes);
  return kSuccess;
}

}  // namespace

extern "C" {

int cublasLtCreate(LtHandle** handle) {
  FAKE_CUBLAS_ENTER("cublasLtCreate");
  return state.make(handle);
}
int cublasLtDestroy(LtHandle* handle) {
  FAKE_CUBLAS_ENTER("cublasLtDestroy");
  return state.destroy(handle);
}
size_t cublasLtGetVersion() { return static_cast<size_t>(State::get().version); }

int cublasLtMatmulDescCreate(Description** description, int compute, int scale) {
  FAKE_CUBLAS_ENTER("cublasLtMatmulDescCreate");
  if (const int made = state.make(description); made != kSuccess) return made;
  **description = {.compute = compute, .scale = scale};
  return kSuccess;
}
int cublasLtMatmulDescDestroy(Description* description) {
  FAKE_CUBLAS_ENTER("cublasLtMatmulDescDestroy");
  return state.destroy(description);
}
int cublasLtMatmulDescSetAttribute(Description* description, int attribute, const void* value,
                                   size_t bytes) {
  FAKE_CUBLAS_ENTER("cublasLtMatmulDescSetAttribute");
  if (!state.has(description)) return kInvalidValue;
  if (attribute == kTransA) return take(description->transpose_a, value, bytes);
  if (attribute == kTransB) return take(description->transpose_b, value, bytes);
  if (attribute == kEpilogue) return take(description->epilogue, value, bytes);
  if (attribute == kBiasPointer) return take(description->bias, value, bytes);
  return kInvalidValue;
}

int cublasLtMatrixLayoutCreate(Layout** layout, int type, uint64_t rows, uint64_t columns,
                               int64_t leading) {
  FAKE_CUBLAS_ENTER("cublasLtMatrixLayoutCreate");
  if (const int made = state.make(layout); made != kSuccess) return made;
  **layout = {.type = type, .rows = rows, .columns = columns, .leading = leading};
  return kSuccess;
}
int cublasLtMatrixLayoutDestroy(Layout* layout) {
  FAKE_CUBLAS_ENTER("cublasLtMatrixLayoutDestroy");
  return state.destroy(layout);
}
int cublasLtMatrixLayoutSetAttribute(Layout* layout, int attribute, const void* value,
                                     size_t bytes) {
  FAKE_CUBLAS_ENTER("cublasLtMatrixLayoutSetAttribute");
  if (!state.has(layout)) return kInvalidValue;
  if (attribute == kBatchCount) return take(layout->batches, value, bytes);
  if (attribute == kBatchOffset) return take(layout->stride, value, bytes);
  return kInvalidValue;
}

int cublasLtMatmulPreferenceCreate(Preference** preference) {
  FAKE_CUBLAS_ENTER("cublasLtMatmulPreferenceCreate");
  return state.make(preference);
}
int cublasLtMatmulPreferenceDestroy(Preference* preference) {
  FAKE_CUBLAS_ENTER("cublasLtMatmulPreferenceDestroy");
  return state.destroy(preference);
}
int cublasLtMatmulPreferenceSetAttribute(Preference* preference, int attribute, const void* value,
                                         size_t bytes) {
  FAKE_CUBLAS_ENTER("cublasLtMatmulPreferenceSetAttribute");
  if (!state.has(preference)) return kInvalidValue;
  if (attribute == kMaxWorkspace) return take(preference->most_workspace, value, bytes);
  if (attribute >= kMinAlignmentA && attribute <= kMinAlignmentD)
    return take(preference->alignment[attribute - kMinAlignmentA], value, bytes);
  return kInvalidValue;
}
}
