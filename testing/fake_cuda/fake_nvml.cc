// An NVML that runs on the host: one GPU, the first of fake_cuda's, in a state that tests set, or
// that orders (orders.h) say: "throttle=BITS".
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "testing/fake_cuda/orders.h"

namespace {

constexpr const char* kUuid = "GPU-fafbfcfd-feff-0001-0203-040506070809";
constexpr int kInvalid = 2, kUnsupported = 3, kNotFound = 6, kInsufficientSize = 7;

struct ProcessInfo {
  unsigned pid;
  unsigned long long memory_bytes;
  unsigned gpu_instance, compute_instance;
};

struct State {
  std::mutex mutex;
  unsigned sm_mhz = 1980, milliwatts = 300'000;
  unsigned long long throttle = 0, millijoules = 0;
  std::vector<unsigned> pids;

  State() {
    for (const std::string& word : fake::orders("ASSAY_FAKE_NVML", "fake_nvml.txt"))
      if (word.starts_with("throttle="))
        throttle = std::strtoull(fake::value_of(word).c_str(), nullptr, 0);
  }
};

State& state() {
  static State the;
  return the;
}

}  // namespace

extern "C" {

void fake_nvml_set(unsigned sm_mhz, unsigned milliwatts, unsigned long long throttle) {
  const std::lock_guard lock(state().mutex);
  state().sm_mhz = sm_mhz;
  state().milliwatts = milliwatts;
  state().throttle = throttle;
}
void fake_nvml_add_process(unsigned pid) {
  const std::lock_guard lock(state().mutex);
  state().pids.push_back(pid);
}

int nvmlInit_v2() { return 0; }
const char* nvmlErrorString(int) { return "an error of the fake"; }
int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
  *handle = &state();
  return std::strcmp(uuid, kUuid) == 0 ? 0 : kNotFound;
}
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::strncpy(text, "999.1.2", length);
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int which, unsigned* mhz) {
  const std::lock_guard lock(state().mutex);
  *mhz = which == 1 ? state().sm_mhz : 3201;
  return 0;
}
int nvmlDeviceGetMaxClockInfo(void*, int, unsigned* mhz) {
  *mhz = 1980;
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  const std::lock_guard lock(state().mutex);
  *milliwatts = state().milliwatts;
  state().millijoules += 1500;
  return 0;
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
  *milliwatts = 700'000;
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  const std::lock_guard lock(state().mutex);
  *millijoules = state().millijoules;
  return 0;
}
// Virtual machines hide much.
int nvmlDeviceGetTemperature(void*, int, unsigned*) { return kUnsupported; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  const std::lock_guard lock(state().mutex);
  *reasons = state().throttle;
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, ProcessInfo* list) {
  const std::lock_guard lock(state().mutex);
  const auto room = *count;
  *count = static_cast<unsigned>(state().pids.size());
  if (room < *count) return kInsufficientSize;
  for (unsigned i = 0; i < *count; ++i) list[i] = {state().pids[i], 1 << 20, 0, 0};
  return 0;
}
}
