#include "bound_plan.h"

#include <pthread.h>
#include <span>
#include <string>

#include "assay/device/cpu/cpu_device.h"
#include "failure.h"
#include "session.h"

namespace assay::python {
namespace {

// A child made by fork() has none of its parent's threads, but libraries that remember having
// started them wait for them for ever.
std::atomic<bool> threads_were_started{false};
std::atomic<bool> threads_were_lost{false};

void note_forks() {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, [] {
    threads_were_lost.store(threads_were_started.load(), std::memory_order_relaxed);
  });
}

void check_threads(int threads) {
  if (threads <= 1) return;
  if (threads_were_lost.load(std::memory_order_relaxed))
    raise(ErrorCode::unsupported,
          "this process was forked from one whose kernels had started threads, and they are not "
          "here; start processes by 'spawn', or give threads=1");
  threads_were_started.store(true, std::memory_order_relaxed);
}

std::vector<void*> addresses(const std::vector<Array>& arrays) {
  std::vector<void*> pointers;
  for (const Array& array : arrays) pointers.push_back(array.view.data);
  return pointers;
}

std::string sentences(const Refusals& refusals) {
  std::string text;
  for (const Refusal& refusal : refusals) text += (text.empty() ? "" : "; ") + refusal.sentence;
  return text;
}

// A plan is one thread's at a time.
class Turn {
 public:
  explicit Turn(std::atomic<bool>& busy) : busy_(busy) {
    if (busy_.exchange(true, std::memory_order_acquire))
      raise(ErrorCode::busy, "another thread is using this plan; make a plan for each thread");
  }
  ~Turn() { busy_.store(false, std::memory_order_release); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& busy_;
};

}  // namespace

Refusals refusals_of(const Kernel& kernel, const Problem& problem) {
  return kernel.supports(problem, cpu::host_target());
}

std::shared_ptr<BoundPlan> BoundPlan::make(const Kernel& kernel, const Problem& problem,
                                           std::vector<Array> arrays, int threads) {
  if (const Refusals refusals = refusals_of(kernel, problem); !refusals.empty())
    raise(ErrorCode::unsupported, "{} does not take {}: {}", kernel.metadata().name(),
          problem.name(), sentences(refusals));
  note_forks();
  std::shared_ptr<BoundPlan> bound(
      new BoundPlan(kernel.metadata(), problem, std::move(arrays), Session::get().device(threads)));
  Device& device = *bound->device_;
  check_threads(device.threads());
  const Artifact artifact = take(kernel.compile(problem, device.target(), {}));
  std::span<std::byte> workspace;
  if (const size_t bytes = kernel.workspace_bytes(problem, device.threads()); bytes > 0) {
    bound->workspace_ = take(device.allocate(bytes, {}));
    workspace = {static_cast<std::byte*>(bound->workspace_->data()), bound->workspace_->bytes()};
  }
  const Arguments arguments{problem, addresses(bound->arrays_)};
  bound->plan_ = take(kernel.plan({.arguments = arguments,
                                   .artifact = artifact,
                                   .device = device,
                                   .workspace = workspace,
                                   .threads = device.threads()}));
  bound->stream_ = take(device.make_stream());
  return bound;
}

std::shared_ptr<BoundPlan> BoundPlan::choose(const TunedTable& table, const Problem& problem,
                                             std::vector<Array> arrays,
                                             std::shared_ptr<Device> device) {
  note_forks();
  check_threads(device->threads());
  TunedPlan tuned = take(table.plan(Arguments{problem, addresses(arrays)}, *device));
  std::shared_ptr<BoundPlan> bound(
      new BoundPlan(tuned.kernel().metadata(), problem, std::move(arrays), std::move(device)));
  bound->tuned_ = std::move(tuned);
  bound->stream_ = take(bound->device_->make_stream());
  return bound;
}

void BoundPlan::launch() {
  const Turn turn(busy_);
  check_threads(device_->threads());
  check(plan().launch(*stream_));
  check(stream_->synchronize());
}

void BoundPlan::rebind(const Problem& problem, std::vector<Array> arrays) {
  const Turn turn(busy_);
  const auto now = problem_.operands(), then = problem.operands();
  if (now.size() != then.size())
    raise(ErrorCode::invalid_input, "{} arrays for a plan of {}", then.size(), now.size());
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i].dtype != then[i].dtype || now[i].sizes != then[i].sizes ||
        now[i].strides != then[i].strides)
      raise(ErrorCode::invalid_input,
            "{}: sizes, strides or type differ from those that the plan was made for", now[i].role);
  }
  check(plan().rebind(addresses(arrays)));
  arrays_.swap(arrays);
}

}  // namespace assay::python
