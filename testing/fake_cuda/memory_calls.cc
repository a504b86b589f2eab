// Entry points of the fake driver: memory, copies, memory of other processes.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "testing/fake_cuda/machine.h"

using namespace fake_cuda;  // NOLINT: the driver's own names are in no namespace.

namespace {

constexpr Result kNotSupported = 801;  // CUDA_ERROR_NOT_SUPPORTED.

}  // namespace

extern "C" {

Result cuMemGetInfo_v2(size_t* free, size_t* total) {
  FAKE_ENTER("cuMemGetInfo_v2");
  *total = fake_cuda::Memory::kBytes;
  *free = fake_cuda::Memory::kBytes - machine.memory.allocated();
  return abi::kSuccess;
}
Result cuMemAlloc_v2(Address* address, size_t bytes) {
  FAKE_ENTER("cuMemAlloc_v2");
  if (bytes == 0) return abi::kInvalidValue;
  *address = machine.memory.allocate(bytes);
  return *address == 0 ? abi::kOutOfMemory : abi::kSuccess;
}
Result cuMemFree_v2(Address address) {
  FAKE_ENTER("cuMemFree_v2");
  machine.land();
  return machine.memory.release(address) ? abi::kSuccess : abi::kInvalidValue;
}
Result cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  FAKE_ENTER("cuMemHostAlloc");
  *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  return *memory == nullptr ? abi::kOutOfMemory : abi::kSuccess;
}
Result cuMemFreeHost(void* memory) {
  FAKE_ENTER("cuMemFreeHost");
  std::free(memory);
  return abi::kSuccess;
}
Result cuMemHostGetDevicePointer_v2(Address* address, void* memory, unsigned) {
  FAKE_ENTER("cuMemHostGetDevicePointer_v2");
  *address = reinterpret_cast<Address>(memory);
  return abi::kSuccess;
}
Result cuMemcpyHtoD_v2(Address to, const void* from, size_t bytes) {
  FAKE_ENTER("cuMemcpyHtoD_v2");
  if (!machine.memory.holds(to, bytes)) return abi::kInvalidValue;
  machine.land();
  const auto* start = static_cast<const std::byte*>(from);
  machine.staged = [to, copy = std::vector<std::byte>(start, start + bytes)] {
    std::memcpy(reinterpret_cast<void*>(to), copy.data(), copy.size());
  };
  return abi::kSuccess;
}
Result cuMemcpyDtoH_v2(void* to, Address from, size_t bytes) {
  FAKE_ENTER("cuMemcpyDtoH_v2");
  if (!machine.memory.holds(from, bytes)) return abi::kInvalidValue;
  machine.land();
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return abi::kSuccess;
}
Result cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, abi::Stream stream) {
  FAKE_ENTER("cuMemcpyDtoDAsync_v2");
  return enqueue(stream, [=] {
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    return true;
  });
}
Result cuMemsetD32Async(Address to, unsigned value, size_t words, abi::Stream stream) {
  FAKE_ENTER("cuMemsetD32Async");
  return enqueue(stream, [=] {
    std::fill_n(reinterpret_cast<unsigned*>(to), words, value);
    return true;
  });
}
Result cuMemsetD8Async(Address to, unsigned char value, size_t bytes, abi::Stream stream) {
  FAKE_ENTER("cuMemsetD8Async");
  return enqueue(stream, [=] {
    std::memset(reinterpret_cast<void*>(to), value, bytes);
    return true;
  });
}
Result cuMemGetAddressRange_v2(Address* start, size_t* bytes, Address address) {
  FAKE_ENTER("cuMemGetAddressRange_v2");
  return machine.memory.range(address, *start, *bytes) ? abi::kSuccess : abi::kInvalidValue;
}
Result cuIpcGetMemHandle(abi::IpcMemory* handle, Address address) {
  FAKE_ENTER("cuIpcGetMemHandle");
  return machine.memory.share(address, *handle) ? abi::kSuccess : kNotSupported;
}
Result cuIpcOpenMemHandle_v2(Address* address, abi::IpcMemory handle, unsigned) {
  FAKE_ENTER("cuIpcOpenMemHandle_v2");
  *address = machine.memory.open(handle);
  return *address == 0 ? kNotSupported : abi::kSuccess;
}
Result cuIpcCloseMemHandle(Address address) {
  FAKE_ENTER("cuIpcCloseMemHandle");
  return machine.memory.close(address) ? abi::kSuccess : abi::kInvalidValue;
}
}
