#include "assay/worker/gpu/watch.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/file.h"

namespace assay::sweep {
namespace {

constexpr auto kPeriod = std::chrono::milliseconds(50);
constexpr size_t kMostStates = 200'000;  // Hours.

// Of the states that tell it.
template <class Read>
std::optional<Spread> spread(const std::vector<cuda::GpuState>& states, const Read& read) {
  std::vector<double> values;
  for (const cuda::GpuState& state : states)
    if (const auto value = read(state)) values.push_back(static_cast<double>(*value));
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  return Spread{values.front(), values[values.size() / 2], values.back()};
}

pid_t parent_of(pid_t process) {
  // "PID (NAME) STATE PARENT ...", and a name may hold anything.
  const auto text = read_file(fmt::format("/proc/{}/stat", process), 4096);
  if (!text) return -1;
  const size_t name_end = text->rfind(')');
  int parent = -1;
  if (name_end == std::string::npos ||
      std::sscanf(text->c_str() + name_end + 1, " %*c %d", &parent) != 1)
    return -1;
  return parent;
}

}  // namespace

bool descends_from(pid_t process, pid_t ancestor) {
  for (int depth = 0; depth < 64 && process > 0; ++depth) {
    if (process == ancestor) return true;
    process = parent_of(process);
  }
  return false;
}

GpuWatch::GpuWatch(std::shared_ptr<const cuda::Nvml> nvml, std::string uuid, pid_t family)
    : nvml_(std::move(nvml)), uuid_(std::move(uuid)), family_(family) {
  from_ = utc_now_iso8601();
  look();
  thread_ = std::thread([this] { watch(); });
}

GpuWatch::~GpuWatch() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void GpuWatch::watch() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kPeriod, [this] { return ends_; })) {
    lock.unlock();
    look();
    lock.lock();
  }
}

void GpuWatch::look() {
  const auto state = nvml_->state(uuid_);
  const auto others = nvml_->others(uuid_, ::getpid());
  const std::lock_guard lock(mutex_);
  if (state && states_.size() < kMostStates) states_.push_back(*state);
  if (!others) return;
  for (const cuda::GpuProcess& other : *others) {
    const bool known = std::ranges::any_of(
        strangers_, [&](const cuda::GpuProcess& one) { return one.pid == other.pid; });
    // Where this system does not show a process, it cannot be told from one of ours.
    if (!known && parent_of(other.pid) >= 0 && !descends_from(other.pid, family_))
      strangers_.push_back(other);
  }
}

GpuWindow GpuWatch::take() {
  look();
  const std::lock_guard lock(mutex_);
  GpuWindow seen;
  seen.from = std::exchange(from_, utc_now_iso8601());
  seen.until = from_;
  seen.samples = static_cast<int>(states_.size());
  if (states_.empty()) seen.unwatched = "the driver told nothing of it";
  seen.sm_mhz = spread(states_, [](const auto& state) { return state.sm_mhz; });
  seen.memory_mhz = spread(states_, [](const auto& state) { return state.memory_mhz; });
  seen.watts = spread(states_, [](const auto& state) { return state.watts; });
  seen.celsius = spread(states_, [](const auto& state) { return state.celsius; });
  std::map<std::string, int> throttled;
  int told = 0;
  for (const cuda::GpuState& state : states_) {
    if (!state.throttle_bits) continue;
    ++told;
    for (const std::string& reason : cuda::throttle_reasons(*state.throttle_bits))
      ++throttled[reason];
  }
  for (const auto& [reason, count] : throttled)
    seen.throttled[reason] = static_cast<double>(count) / told;
  if (!states_.empty()) {
    const cuda::GpuState& first = states_.front();
    const cuda::GpuState& last = states_.back();
    seen.limit_watts = last.limit_watts.value_or(0);
    seen.most_sm_mhz = last.most_sm_mhz.value_or(0);
    if (first.joules && last.joules) seen.joules = std::max(0.0, *last.joules - *first.joules);
    // Where the next window begins.
    states_.erase(states_.begin(), states_.end() - 1);
  }
  for (const cuda::GpuProcess& stranger : strangers_)
    seen.strangers.push_back({stranger.pid, stranger.memory_bytes});
  strangers_.clear();
  return seen;
}

}  // namespace assay::sweep
