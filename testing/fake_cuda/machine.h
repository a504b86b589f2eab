#pragma once

// What is behind the fake driver's entry points: its GPUs, its clock, what it was ordered to do,
// and the queues that its streams are. Entry points begin with FAKE_ENTER(their name).

#include <cstdint>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "assay/device/cuda/abi.h"
#include "testing/fake_cuda/memory.h"
#include "testing/fake_cuda/orders.h"

namespace fake_cuda {

namespace abi = assay::cuda::abi;
using abi::Address;
using abi::Result;

// What waits in a stream.
struct Queued {
  std::function<bool()> run;  // Whether it could be done: a closed gate cannot.
  bool is_launch = false;
  bool overtakes = false;  // A launch that does not wait for the launch ahead of it.
};

struct FakeStream {
  std::deque<Queued> queue;
  bool captures = false;
  std::vector<Queued> captured;
};

class Machine {
 public:
  static Machine& get();

  std::recursive_mutex mutex;
  std::vector<abi::Device> gpus = {0};  // Those that are visible, by their ordinals.
  uint64_t now_ns = 0;
  fake::Calls calls;
  std::map<std::string, uint64_t> launch_ns;
  std::string hang, losing;
  std::ofstream loss;  // Opened before a worker gives up its rights; not empty: the GPU is lost.
  Result dead = abi::kSuccess;  // A sticky error: every later call returns it.
  Memory memory;
  // A copy from the host that a driver has staged: it may reach the GPU after it has returned, and
  // is sure to be there once the default stream or the context was waited for.
  std::function<void()> staged;
  void land();
  // Between cuProfilerStart and cuProfilerStop: names of launches go to FAKE_CUDA_PROFILE.
  bool profiles = false;
  std::ofstream profile;

  // Before every entry point: what it returns instead, if it is to fail.
  Result enter(const char* entry);
  void pump(FakeStream& stream);  // Does what can be done of what waits there.

 private:
  Machine();
};

FakeStream& stream_of(abi::Stream stream);

Result enqueue(abi::Stream stream, Queued what);
Result enqueue(abi::Stream stream, std::function<bool()> run);

// `run` returns what it takes besides the time that is set for the function, or kFault.
Result launch(Machine& machine, abi::Stream stream, const std::string& function,
              std::function<uint64_t()> run, bool overtakes);

// A launch that never ends holds its stream as a closed gate does.
Result wait_for(abi::Stream stream);

}  // namespace fake_cuda

#define FAKE_ENTER(entry)                    \
  auto& machine = fake_cuda::Machine::get(); \
  const std::lock_guard lock(machine.mutex); \
  if (const auto failed = machine.enter(entry); failed != assay::cuda::abi::kSuccess) return failed
