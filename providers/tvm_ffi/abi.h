#pragma once

// What crosses TVM-FFI's C functions, declared from its public header under names of our own.
// Source: Apache TVM-FFI 0.1.15, include/tvm/ffi/c_api.h and extra/c_env_api.h.

#include <cstddef>
#include <cstdint>

namespace assay::tvm_ffi::abi {

// A new minor version may change what lies behind these.
inline constexpr uint32_t kMajor = 0, kMinor = 1;

struct Version {
  uint32_t major, minor, patch;
};

enum TypeIndex : int32_t {
  kNone = 0,
  kInt = 1,
  kFloat = 3,
  kTensor = 7,        // DLTensor*, the caller's.
  kFirstObject = 64,  // From here on: counted, and the holder's to give back.
  kError = 67,
};

struct Any {
  int32_t type_index = kNone;
  uint32_t padding = 0;
  union {
    int64_t integer = 0;
    double real;
    void* pointer;
  };
};
static_assert(sizeof(Any) == 16 && offsetof(Any, integer) == 8);

struct Bytes {
  const char* data;
  size_t size;
};

struct Object {
  uint64_t counts;
  int32_t type_index;
  uint32_t padding;
  void (*deleter)(void* self, int flags);
};
static_assert(sizeof(Object) == 24);

struct ErrorObject {
  Object header;
  Bytes kind, message, backtrace;  // And more, which we do not read.
};
static_assert(offsetof(ErrorObject, message) == 40);

inline constexpr int32_t kCpu = 1, kCuda = 2;  // DLPack's devices.

// An entry point: `handle` is null for functions of a shared object. 0, or -1 with an error raised.
using Function = int(void* handle, const Any* arguments, int32_t count, Any* result);

// X(member, symbol, result, parameters)
#define ASSAY_TVM_FFI_ENTRY_POINTS(X)                         \
  X(version, "TVMFFIGetVersion", void, (Version*))            \
  X(move_raised, "TVMFFIErrorMoveFromRaised", void, (void**)) \
  X(release, "TVMFFIObjectDecRef", int, (void*))              \
  X(set_stream, "TVMFFIEnvSetStream", int, (int32_t device, int32_t id, void* stream, void**))

struct EntryPoints {
#define ASSAY_TVM_FFI_MEMBER(member, symbol, result, parameters) \
  result(*member) parameters = nullptr;
  ASSAY_TVM_FFI_ENTRY_POINTS(ASSAY_TVM_FFI_MEMBER)
#undef ASSAY_TVM_FFI_MEMBER
};

}  // namespace assay::tvm_ffi::abi
