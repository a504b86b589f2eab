// Entry points of the fake driver: streams, what is captured from them, events.
#include <utility>
#include <vector>

#include "testing/fake_cuda/machine.h"

using namespace fake_cuda;  // NOLINT: the driver's own names are in no namespace.

namespace {

struct FakeEvent {
  bool recorded = false, passed = false;
  uint64_t at_ns = 0;
};

struct FakeGraph {
  std::vector<Queued> launches;
};

}  // namespace

extern "C" {

Result cuStreamCreate(abi::Stream* stream, unsigned) {
  FAKE_ENTER("cuStreamCreate");
  *stream = reinterpret_cast<abi::Stream>(new FakeStream);
  return abi::kSuccess;
}
Result cuStreamDestroy_v2(abi::Stream stream) {
  FAKE_ENTER("cuStreamDestroy_v2");
  delete reinterpret_cast<FakeStream*>(stream);
  return abi::kSuccess;
}
Result cuStreamSynchronize(abi::Stream stream) {
  {
    FAKE_ENTER("cuStreamSynchronize");
    if (stream == nullptr) machine.land();
  }
  return wait_for(stream);
}
Result cuStreamQuery(abi::Stream stream) {
  FAKE_ENTER("cuStreamQuery");
  machine.pump(stream_of(stream));
  return stream_of(stream).queue.empty() ? abi::kSuccess : abi::kNotReady;
}
Result cuStreamWaitValue32_v2(abi::Stream stream, Address address, unsigned value, unsigned) {
  FAKE_ENTER("cuStreamWaitValue32_v2");
  return enqueue(stream, [=] {
    const auto* word = reinterpret_cast<const volatile uint32_t*>(address);
    return static_cast<int32_t>(*word - value) >= 0;
  });
}
Result cuStreamBeginCapture_v2(abi::Stream stream, int) {
  FAKE_ENTER("cuStreamBeginCapture_v2");
  if (stream_of(stream).captures) return abi::kInvalidValue;
  stream_of(stream).captures = true;
  return abi::kSuccess;
}
Result cuStreamEndCapture(abi::Stream stream, abi::Graph* graph) {
  FAKE_ENTER("cuStreamEndCapture");
  FakeStream& recorded = stream_of(stream);
  if (!recorded.captures) return abi::kInvalidValue;
  recorded.captures = false;
  *graph = reinterpret_cast<abi::Graph>(new FakeGraph{std::move(recorded.captured)});
  recorded.captured.clear();
  return abi::kSuccess;
}
Result cuGraphInstantiateWithFlags(abi::GraphExec* exec, abi::Graph graph, unsigned long long) {
  FAKE_ENTER("cuGraphInstantiateWithFlags");
  *exec = reinterpret_cast<abi::GraphExec>(new FakeGraph(*reinterpret_cast<FakeGraph*>(graph)));
  return abi::kSuccess;
}
Result cuGraphUpload(abi::GraphExec, abi::Stream) {
  FAKE_ENTER("cuGraphUpload");
  return abi::kSuccess;
}
Result cuGraphLaunch(abi::GraphExec exec, abi::Stream stream) {
  FAKE_ENTER("cuGraphLaunch");
  for (const Queued& launch : reinterpret_cast<FakeGraph*>(exec)->launches)
    if (const Result code = enqueue(stream, launch); code != abi::kSuccess) return code;
  return abi::kSuccess;
}
Result cuGraphExecDestroy(abi::GraphExec exec) {
  FAKE_ENTER("cuGraphExecDestroy");
  delete reinterpret_cast<FakeGraph*>(exec);
  return abi::kSuccess;
}
Result cuGraphDestroy(abi::Graph graph) {
  FAKE_ENTER("cuGraphDestroy");
  delete reinterpret_cast<FakeGraph*>(graph);
  return abi::kSuccess;
}
Result cuEventCreate(abi::Event* event, unsigned) {
  FAKE_ENTER("cuEventCreate");
  *event = reinterpret_cast<abi::Event>(new FakeEvent);
  return abi::kSuccess;
}
Result cuEventDestroy_v2(abi::Event event) {
  FAKE_ENTER("cuEventDestroy_v2");
  delete reinterpret_cast<FakeEvent*>(event);
  return abi::kSuccess;
}
Result cuEventRecord(abi::Event event, abi::Stream stream) {
  FAKE_ENTER("cuEventRecord");
  auto* recorded = reinterpret_cast<FakeEvent*>(event);
  recorded->recorded = true;
  recorded->passed = false;
  return enqueue(stream, [recorded, &machine] {
    recorded->passed = true;
    recorded->at_ns = machine.now_ns;
    return true;
  });
}
Result cuEventSynchronize(abi::Event event) {
  FAKE_ENTER("cuEventSynchronize");
  return reinterpret_cast<FakeEvent*>(event)->passed ? abi::kSuccess : abi::kNotReady;
}
Result cuEventQuery(abi::Event event) {
  FAKE_ENTER("cuEventQuery");
  const auto* asked = reinterpret_cast<FakeEvent*>(event);
  return !asked->recorded || asked->passed ? abi::kSuccess : abi::kNotReady;
}
Result cuProfilerStart() {
  FAKE_ENTER("cuProfilerStart");
  machine.profiles = true;
  return abi::kSuccess;
}
Result cuProfilerStop() {
  FAKE_ENTER("cuProfilerStop");
  machine.profiles = false;
  return abi::kSuccess;
}
Result cuEventElapsedTime(float* milliseconds, abi::Event start, abi::Event end) {
  FAKE_ENTER("cuEventElapsedTime");
  const auto* from = reinterpret_cast<FakeEvent*>(start);
  const auto* to = reinterpret_cast<FakeEvent*>(end);
  if (!from->recorded || !to->recorded) return 400;  // CUDA_ERROR_INVALID_HANDLE.
  if (!from->passed || !to->passed) return abi::kNotReady;
  *milliseconds = static_cast<float>(static_cast<double>(to->at_ns - from->at_ns) * 1e-6);
  return abi::kSuccess;
}
}
