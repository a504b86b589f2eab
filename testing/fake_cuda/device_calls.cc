// Entry points of the fake driver: GPUs, contexts, the names of errors.
#include <cstring>
#include <map>
#include <string>

#include "testing/fake_cuda/machine.h"
#include "testing/fake_cuda/visible_gpus.h"

using namespace fake_cuda;  // NOLINT: the driver's own names are in no namespace.

extern "C" {

Result cuInit(unsigned) {
  FAKE_ENTER("cuInit");
  return machine.gpus.empty() ? abi::kNoDevice : abi::kSuccess;
}
Result cuDriverGetVersion(int* version) {
  FAKE_ENTER("cuDriverGetVersion");
  *version = 13000;
  return abi::kSuccess;
}
Result cuDeviceGetCount(int* count) {
  FAKE_ENTER("cuDeviceGetCount");
  *count = static_cast<int>(machine.gpus.size());
  return abi::kSuccess;
}
Result cuDeviceGet(abi::Device* device, int ordinal) {
  FAKE_ENTER("cuDeviceGet");
  if (ordinal < 0 || static_cast<size_t>(ordinal) >= machine.gpus.size()) return abi::kNoDevice + 1;
  *device = machine.gpus[static_cast<size_t>(ordinal)];
  return abi::kSuccess;
}
Result cuDeviceGetName(char* name, int length, abi::Device) {
  FAKE_ENTER("cuDeviceGetName");
  std::strncpy(name, "Fake H200", static_cast<size_t>(length));
  return abi::kSuccess;
}
Result cuDeviceGetUuid_v2(abi::Uuid* uuid, abi::Device device) {
  FAKE_ENTER("cuDeviceGetUuid_v2");
  *uuid = fake_cuda::uuid_of(device);
  return abi::kSuccess;
}
Result cuDeviceGetAttribute(int* value, int attribute, abi::Device) {
  FAKE_ENTER("cuDeviceGetAttribute");
  static const std::map<int, int> values = {{abi::kClockRateKhz, 1'980'000},
                                            {abi::kMultiprocessors, 132},
                                            {abi::kMemoryClockRateKhz, 3'201'000},
                                            {abi::kMemoryBusBits, 6144},
                                            {abi::kL2CacheBytes, 1 << 20},
                                            {abi::kCapabilityMajor, 9},
                                            {abi::kCapabilityMinor, 0},
                                            {abi::kMostSharedBytesPerBlock, 232'448}};
  const auto found = values.find(attribute);
  if (found == values.end()) return abi::kInvalidValue;
  *value = found->second;
  return abi::kSuccess;
}
Result cuDeviceTotalMem_v2(size_t* bytes, abi::Device) {
  FAKE_ENTER("cuDeviceTotalMem_v2");
  *bytes = fake_cuda::Memory::kBytes;
  return abi::kSuccess;
}
Result cuDeviceGetPCIBusId(char* id, int length, abi::Device device) {
  FAKE_ENTER("cuDeviceGetPCIBusId");
  const std::string text = "0000:0" + std::to_string(device) + ":00.0";
  std::strncpy(id, text.c_str(), static_cast<size_t>(length));
  return abi::kSuccess;
}
Result cuDevicePrimaryCtxRetain(abi::Context* context, abi::Device) {
  FAKE_ENTER("cuDevicePrimaryCtxRetain");
  *context = reinterpret_cast<abi::Context>(&machine);
  return abi::kSuccess;
}
Result cuDevicePrimaryCtxRelease_v2(abi::Device) {
  FAKE_ENTER("cuDevicePrimaryCtxRelease_v2");
  return abi::kSuccess;
}
Result cuCtxSetCurrent(abi::Context) {
  FAKE_ENTER("cuCtxSetCurrent");
  return abi::kSuccess;
}
Result cuCtxSynchronize() {
  FAKE_ENTER("cuCtxSynchronize");
  machine.land();
  return abi::kSuccess;
}
Result cuCtxResetPersistingL2Cache() {
  FAKE_ENTER("cuCtxResetPersistingL2Cache");
  return abi::kSuccess;
}
Result cuGetErrorName(Result code, const char** name) {
  *name = code == abi::kOutOfMemory      ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == abi::kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : code == abi::kNoDevice       ? "CUDA_ERROR_NO_DEVICE"
                                         : nullptr;
  return *name == nullptr ? abi::kInvalidValue : abi::kSuccess;
}
Result cuGetErrorString(Result code, const char** text) {
  *text = code == abi::kOutOfMemory ? "out of memory" : nullptr;
  return *text == nullptr ? abi::kInvalidValue : abi::kSuccess;
}
}
