// Holds our declarations against the toolkit's own, where it is installed.
#include "assay/device/cuda/abi.h"

#include <gtest/gtest.h>

#if __has_include(<cuda.h>)
#include <cuda.h>
#endif

namespace assay::cuda::abi {
namespace {

#if defined(CUDA_VERSION)

static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(LaunchConfig, attribute_count) == offsetof(CUlaunchConfig, numAttrs));
static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(LaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(TensorMap) == sizeof(CUtensorMap) &&
              alignof(TensorMap) >= alignof(CUtensorMap));
static_assert(sizeof(IpcMemory) == sizeof(CUipcMemHandle) && sizeof(Uuid) == sizeof(CUuuid));
static_assert(sizeof(Address) == sizeof(CUdeviceptr));

struct Pair {
  const char* name;
  long long ours, theirs;
};

TEST(CudaAbiTest, ConstantsAreTheToolkits) {
  const Pair pairs[] = {
      {"out of memory", kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY},
      {"no device", kNoDevice, CUDA_ERROR_NO_DEVICE},
      {"no binary", kNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU},
      {"ecc", kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE},
      {"ptx", kInvalidPtx, CUDA_ERROR_INVALID_PTX},
      {"ptx version", kUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION},
      {"not ready", kNotReady, CUDA_ERROR_NOT_READY},
      {"illegal address", kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS},
      {"resources", kLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES},
      {"launch timeout", kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT},
      {"assert", kAssert, CUDA_ERROR_ASSERT},
      {"stack", kHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR},
      {"instruction", kIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION},
      {"misaligned", kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS},
      {"address space", kInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE},
      {"pc", kInvalidPc, CUDA_ERROR_INVALID_PC},
      {"launch failed", kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED},
      {"mismatch", kSystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH},
      {"unavailable", kDeviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE},
      {"multiprocessors", kMultiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
      {"most threads of a multiprocessor", kMostThreadsPerMultiprocessor,
       CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
      {"clock", kClockRateKhz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
      {"memory clock", kMemoryClockRateKhz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
      {"bus", kMemoryBusBits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
      {"l2", kL2CacheBytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
      {"major", kCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
      {"minor", kCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
      {"shared", kMostSharedBytesPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
      {"threads", kMostThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
      {"static shared", kStaticSharedBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES},
      {"local", kLocalBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES},
      {"registers", kRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS},
      {"dynamic shared", kMostDynamicSharedBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES},
      {"clusters", kNonPortableClusters, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED},
      {"non-blocking", kStreamNonBlocking, CU_STREAM_NON_BLOCKING},
      {"no timing", kEventDisableTiming, CU_EVENT_DISABLE_TIMING},
      {"wait", kWaitValueAtLeast, CU_STREAM_WAIT_VALUE_GEQ},
      {"peer access", kIpcLazyPeerAccess, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS},
      {"mapped", kHostAllocMapped, CU_MEMHOSTALLOC_DEVICEMAP},
      {"capture", kCaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL},
      {"error log", kJitErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER},
      {"error log bytes", kJitErrorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES},
      {"cluster", kAttributeClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION},
      {"programmatic", kAttributeProgrammaticSerialization,
       CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION},
  };
  for (const Pair& pair : pairs) EXPECT_EQ(pair.ours, pair.theirs) << pair.name;
}

#else

TEST(CudaAbiTest, ConstantsAreTheToolkits) { GTEST_SKIP() << "no <cuda.h> on this machine"; }

#endif

}  // namespace
}  // namespace assay::cuda::abi
