#include "testing/fake_cuda/fake_cuda.h"

#include "testing/fake_cuda/machine.h"

using namespace fake_cuda;  // NOLINT: as the entry points'.

void fake_cuda_fail(const char* entry_point, int code, int nth) {
  Machine& machine = Machine::get();
  const std::lock_guard lock(machine.mutex);
  machine.calls.fail(entry_point, code, static_cast<uint64_t>(nth));
}

void fake_cuda_set_launch_ns(const char* function, uint64_t ns) {
  Machine::get().launch_ns[function] = ns;
}

uint64_t fake_cuda_calls(const char* entry_point) {
  return Machine::get().calls.count(entry_point);
}

uint64_t fake_cuda_allocated() { return Machine::get().memory.allocated(); }

int fake_cuda_launch(void* stream, const char* function, const std::function<void()>& run) {
  FAKE_ENTER("fake_cuda_launch");
  return launch(
      machine, static_cast<abi::Stream>(stream), function, [run]() -> uint64_t { return run(), 0; },
      false);
}
