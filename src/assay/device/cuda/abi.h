#pragma once

// The part of the CUDA driver's binary interface that we call, declared here so that any build can
// use any driver: no toolkit is needed to build assay, nor to run it. abi_test.cc holds it against
// <cuda.h> where that is installed. Names are the driver's, without its prefix.
// Source: CUDA Driver API reference, https://docs.nvidia.com/cuda/cuda-driver-api/

#include <cstddef>
#include <cstdint>

namespace assay::cuda::abi {

using Result = int;
using Device = int;
using Context = struct ContextTag*;
using Stream = struct StreamTag*;
using Event = struct EventTag*;
using Module = struct ModuleTag*;
using Function = struct FunctionTag*;
using Graph = struct GraphTag*;
using GraphExec = struct GraphExecTag*;
using Address = unsigned long long;  // CUdeviceptr.

inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidValue = 1;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kDeviceUnavailable = 46;
inline constexpr Result kNoDevice = 100;
inline constexpr Result kNoBinaryForGpu = 209;
inline constexpr Result kEccUncorrectable = 214;
inline constexpr Result kInvalidPtx = 218;
inline constexpr Result kUnsupportedPtxVersion = 222;
inline constexpr Result kNotFound = 500;
inline constexpr Result kNotReady = 600;
inline constexpr Result kIllegalAddress = 700;
inline constexpr Result kLaunchOutOfResources = 701;
inline constexpr Result kLaunchTimeout = 702;
inline constexpr Result kAssert = 710;
inline constexpr Result kHardwareStackError = 714;
inline constexpr Result kIllegalInstruction = 715;
inline constexpr Result kMisalignedAddress = 716;
inline constexpr Result kInvalidAddressSpace = 717;
inline constexpr Result kInvalidPc = 718;
inline constexpr Result kLaunchFailed = 719;
inline constexpr Result kSystemDriverMismatch = 803;
inline constexpr Result kUnknown = 999;

// Device attributes.
inline constexpr int kClockRateKhz = 13;
inline constexpr int kMultiprocessors = 16;
inline constexpr int kMemoryClockRateKhz = 36;
inline constexpr int kMemoryBusBits = 37;
inline constexpr int kL2CacheBytes = 38;
inline constexpr int kMostThreadsPerMultiprocessor = 39;
inline constexpr int kCapabilityMajor = 75;
inline constexpr int kCapabilityMinor = 76;
inline constexpr int kMostSharedBytesPerBlock = 97;

// Function attributes.
inline constexpr int kMostThreadsPerBlock = 0;
inline constexpr int kStaticSharedBytes = 1;
inline constexpr int kLocalBytes = 3;
inline constexpr int kRegisters = 4;
inline constexpr int kMostDynamicSharedBytes = 8;
inline constexpr int kNonPortableClusters = 14;

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDefault = 0;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kWaitValueAtLeast = 0;
inline constexpr unsigned kIpcLazyPeerAccess = 1;
inline constexpr unsigned kHostAllocMapped = 2;
inline constexpr int kCaptureThreadLocal = 1;

// Options of module loading.
inline constexpr int kJitErrorLogBuffer = 5;
inline constexpr int kJitErrorLogBytes = 6;

inline constexpr int kAttributeClusterDimension = 4;
inline constexpr int kAttributeProgrammaticSerialization = 6;

struct Uuid {
  unsigned char bytes[16];
};

struct LaunchAttribute {
  int id;
  char pad[4];
  union alignas(8) {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
    int programmatic_serialization_allowed;
  } value;
};

struct LaunchConfig {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

struct alignas(128) TensorMap {
  uint64_t opaque[16];
};

struct IpcMemory {
  char reserved[64];
};

// One row per entry point: member, symbol, parameters. cu*_v2 are what today's headers call cu*.
// clang-format off
#define ASSAY_CUDA_ENTRY_POINTS(X)                                                                \
  X(init, "cuInit", (unsigned flags))                                                             \
  X(driver_version, "cuDriverGetVersion", (int* version))                                         \
  X(device_count, "cuDeviceGetCount", (int* count))                                               \
  X(device_get, "cuDeviceGet", (Device* device, int ordinal))                                     \
  X(device_name, "cuDeviceGetName", (char* name, int length, Device device))                      \
  X(device_uuid, "cuDeviceGetUuid_v2", (Uuid* uuid, Device device))                               \
  X(device_attribute, "cuDeviceGetAttribute", (int* value, int attribute, Device device))         \
  X(device_memory, "cuDeviceTotalMem_v2", (size_t* bytes, Device device))                         \
  X(device_pci_bus_id, "cuDeviceGetPCIBusId", (char* id, int length, Device device))              \
  X(context_retain, "cuDevicePrimaryCtxRetain", (Context* context, Device device))                \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (Device device))                             \
  X(context_set, "cuCtxSetCurrent", (Context context))                                            \
  X(context_synchronize, "cuCtxSynchronize", ())                                                  \
  X(reset_persisting_l2, "cuCtxResetPersistingL2Cache", ())                                       \
  X(memory_info, "cuMemGetInfo_v2", (size_t* free, size_t* total))                                \
  X(allocate, "cuMemAlloc_v2", (Address* address, size_t bytes))                                  \
  X(release, "cuMemFree_v2", (Address address))                                                   \
  X(allocate_host, "cuMemHostAlloc", (void** memory, size_t bytes, unsigned flags))               \
  X(release_host, "cuMemFreeHost", (void* memory))                                                \
  X(host_address, "cuMemHostGetDevicePointer_v2", (Address* address, void* memory, unsigned flags)) \
  X(copy_in, "cuMemcpyHtoD_v2", (Address to, const void* from, size_t bytes))                     \
  X(copy_out, "cuMemcpyDtoH_v2", (void* to, Address from, size_t bytes))                          \
  X(copy_async, "cuMemcpyDtoDAsync_v2", (Address to, Address from, size_t bytes, Stream stream))  \
  X(fill_words, "cuMemsetD32Async", (Address to, unsigned value, size_t words, Stream stream))    \
  X(fill_bytes, "cuMemsetD8Async", (Address to, unsigned char value, size_t bytes, Stream stream)) \
  X(address_range, "cuMemGetAddressRange_v2", (Address* start, size_t* bytes, Address address))   \
  X(ipc_handle, "cuIpcGetMemHandle", (IpcMemory* handle, Address address))                        \
  X(ipc_open, "cuIpcOpenMemHandle_v2", (Address* address, IpcMemory handle, unsigned flags))      \
  X(ipc_close, "cuIpcCloseMemHandle", (Address address))                                          \
  X(stream_create, "cuStreamCreate", (Stream* stream, unsigned flags))                            \
  X(stream_destroy, "cuStreamDestroy_v2", (Stream stream))                                        \
  X(stream_synchronize, "cuStreamSynchronize", (Stream stream))                                   \
  X(stream_query, "cuStreamQuery", (Stream stream))                                               \
  X(stream_wait_value, "cuStreamWaitValue32_v2",                                                  \
    (Stream stream, Address address, unsigned value, unsigned flags))                             \
  X(capture_begin, "cuStreamBeginCapture_v2", (Stream stream, int mode))                          \
  X(capture_end, "cuStreamEndCapture", (Stream stream, Graph* graph))                             \
  X(graph_instantiate, "cuGraphInstantiateWithFlags",                                             \
    (GraphExec* exec, Graph graph, unsigned long long flags))                                     \
  X(graph_upload, "cuGraphUpload", (GraphExec exec, Stream stream))                               \
  X(graph_launch, "cuGraphLaunch", (GraphExec exec, Stream stream))                               \
  X(graph_exec_destroy, "cuGraphExecDestroy", (GraphExec exec))                                   \
  X(graph_destroy, "cuGraphDestroy", (Graph graph))                                               \
  X(event_create, "cuEventCreate", (Event* event, unsigned flags))                                \
  X(event_destroy, "cuEventDestroy_v2", (Event event))                                            \
  X(event_record, "cuEventRecord", (Event event, Stream stream))                                  \
  X(event_synchronize, "cuEventSynchronize", (Event event))                                       \
  X(event_query, "cuEventQuery", (Event event))                                                   \
  X(event_elapsed, "cuEventElapsedTime", (float* milliseconds, Event start, Event end))           \
  X(module_load, "cuModuleLoadDataEx",                                                            \
    (Module* module, const void* image, unsigned options, int* names, void** values))             \
  X(module_unload, "cuModuleUnload", (Module module))                                             \
  X(module_function, "cuModuleGetFunction", (Function* function, Module module, const char* name)) \
  X(function_attribute, "cuFuncGetAttribute", (int* value, int attribute, Function function))     \
  X(function_parameter, "cuFuncGetParamInfo",                                                     \
    (Function function, size_t index, size_t* offset, size_t* bytes))                             \
  X(set_function_attribute, "cuFuncSetAttribute", (Function function, int attribute, int value))  \
  X(active_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                 \
    (int* blocks, Function function, int threads, size_t shared_bytes))                           \
  X(launch, "cuLaunchKernelEx",                                                                   \
    (const LaunchConfig* config, Function function, void** parameters, void** extra))             \
  X(encode_tiled, "cuTensorMapEncodeTiled",                                                       \
    (TensorMap* map, int type, uint32_t rank, void* address, const uint64_t* sizes,               \
     const uint64_t* strides, const uint32_t* box, const uint32_t* element_strides,               \
     int interleave, int swizzle, int promotion, int out_of_bounds))                              \
  X(error_name, "cuGetErrorName", (Result code, const char** name))                               \
  X(error_text, "cuGetErrorString", (Result code, const char** text))
// clang-format on

// Every entry point, filled in by Driver::open.
struct EntryPoints {
#define ASSAY_CUDA_MEMBER(member, symbol, parameters) Result(*member) parameters = nullptr;
  ASSAY_CUDA_ENTRY_POINTS(ASSAY_CUDA_MEMBER)
#undef ASSAY_CUDA_MEMBER
};

}  // namespace assay::cuda::abi
