// Events, gates and graphs: what a harness puts between launches.
#include <atomic>
#include <utility>

#include "assay/device/cuda/cuda_device.h"

namespace assay::cuda {

Result<Event> Event::create(std::shared_ptr<const Driver> driver, bool timing) {
  Event event(std::move(driver));
  const unsigned flags = timing ? abi::kEventDefault : abi::kEventDisableTiming;
  ASSAY_TRY(event.driver_->check(event.driver_->call().event_create(&event.event_, flags),
                                 "making an event"));
  return event;
}

Event::Event(Event&& other) noexcept
    : driver_(other.driver_), event_(std::exchange(other.event_, nullptr)) {}

Event::~Event() {
  if (event_ != nullptr) (void)driver_->call().event_destroy(event_);
}

Status Event::record(abi::Stream stream) {
  return driver_->check(driver_->call().event_record(event_, stream), "recording an event");
}

Status Event::synchronize() const {
  return driver_->check(driver_->call().event_synchronize(event_), "waiting for an event");
}

Result<bool> Event::passed() const {
  const abi::Result code = driver_->call().event_query(event_);
  if (code == abi::kNotReady) return false;
  ASSAY_TRY(driver_->check(code, "looking at an event"));
  return true;
}

Result<double> Event::ns_since(const Event& start) const {
  float milliseconds = 0;
  ASSAY_TRY(driver_->check(driver_->call().event_elapsed(&milliseconds, start.event_, event_),
                           "reading the time between two events"));
  return static_cast<double>(milliseconds) * 1e6;
}

Result<Gate> Gate::create(std::shared_ptr<const Driver> driver) {
  Gate gate(std::move(driver));
  void* memory = nullptr;
  const abi::EntryPoints& call = gate.driver_->call();
  ASSAY_TRY(gate.driver_->check(
      call.allocate_host(&memory, sizeof(uint32_t), abi::kHostAllocMapped), "making a gate"));
  gate.word_ = static_cast<uint32_t*>(memory);
  *gate.word_ = 0;
  ASSAY_TRY(gate.driver_->check(call.host_address(&gate.address_, memory, 0), "making a gate"));
  return gate;
}

Gate::Gate(Gate&& other) noexcept
    : driver_(other.driver_),
      word_(std::exchange(other.word_, nullptr)),
      address_(other.address_),
      turn_(other.turn_) {}

Gate::~Gate() {
  if (word_ != nullptr) (void)driver_->call().release_host(word_);
}

Status Gate::close(abi::Stream stream) {
  ++turn_;
  return driver_->check(
      driver_->call().stream_wait_value(stream, address_, turn_, abi::kWaitValueAtLeast),
      "closing a gate");
}

void Gate::open() { std::atomic_ref(*word_).store(turn_, std::memory_order_release); }

Result<Graph> Graph::capture(std::shared_ptr<const Driver> driver, Stream& stream,
                             const std::function<Status()>& enqueue) {
  Graph graph(std::move(driver));
  const Driver& known = *graph.driver_;
  const abi::EntryPoints& call = known.call();
  const auto native = static_cast<abi::Stream>(stream.native());
  ASSAY_TRY(known.check(call.capture_begin(native, abi::kCaptureThreadLocal),
                        "beginning to record launches"));
  const Status enqueued = enqueue();
  // A stream that still records takes nothing else, so this comes first.
  const Status ended =
      known.check(call.capture_end(native, &graph.graph_), "recording launches as a graph");
  if (!enqueued) return fail(enqueued.error());
  ASSAY_TRY(ended);
  ASSAY_TRY(
      known.check(call.graph_instantiate(&graph.exec_, graph.graph_, 0), "preparing a graph"));
  ASSAY_TRY(known.check(call.graph_upload(graph.exec_, native), "loading a graph"));
  ASSAY_TRY(stream.synchronize());
  return graph;
}

Graph::Graph(Graph&& other) noexcept
    : driver_(other.driver_),
      graph_(std::exchange(other.graph_, nullptr)),
      exec_(std::exchange(other.exec_, nullptr)) {}

Graph::~Graph() {
  if (exec_ != nullptr) (void)driver_->call().graph_exec_destroy(exec_);
  if (graph_ != nullptr) (void)driver_->call().graph_destroy(graph_);
}

Status Graph::launch(Stream& stream) const {
  return driver_->check(
      driver_->call().graph_launch(exec_, static_cast<abi::Stream>(stream.native())),
      "launching a graph");
}

}  // namespace assay::cuda
