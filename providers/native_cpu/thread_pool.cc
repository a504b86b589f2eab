#include "thread_pool.h"

#include <chrono>
#include <immintrin.h>
#include <system_error>

namespace assay::native_cpu {
namespace {

// A wake-up through the kernel costs some tens of microseconds; longer spinning would disturb
// whatever runs between two calls.
constexpr auto kSpin = std::chrono::microseconds(20);

template <class T>
T wait_for_change(const std::atomic<T>& value, T old) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  for (;;) {
    for (int i = 0; i < 64; ++i) {
      const T now = value.load(std::memory_order_acquire);
      if (now != old) return now;
      _mm_pause();
    }
    if (std::chrono::steady_clock::now() >= end) break;
  }
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

}  // namespace

ThreadPool::~ThreadPool() {
  stopping_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

ThreadPool& ThreadPool::shared() {
  static ThreadPool pool;
  return pool;
}

bool ThreadPool::grow(int threads) {
  try {
    while (static_cast<int>(threads_.size()) < threads) {
      const int index = static_cast<int>(threads_.size()) + 1;
      const uint32_t seen = generation_.load(std::memory_order_relaxed);
      threads_.emplace_back([this, index, seen] { work(index, seen); });
    }
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

bool ThreadPool::run(int parts, void (*function)(void*, int), void* state) {
  if (parts <= 1) {
    function(state, 0);
    return true;
  }
  const std::lock_guard lock(turn_);
  if (!grow(parts - 1)) return false;
  function_ = function;
  state_ = state;
  parts_ = parts;
  // Every thread of the pool answers, also those without a part, so that none can still be
  // reading these members when the next call writes them.
  pending_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  function(state, 0);
  for (int left = pending_.load(std::memory_order_acquire); left != 0;)
    left = wait_for_change(pending_, left);
  return true;
}

void ThreadPool::work(int index, uint32_t seen) {
  for (;;) {
    seen = wait_for_change(generation_, seen);
    if (stopping_.load(std::memory_order_relaxed)) return;
    if (index < parts_) function_(state_, index);
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
  }
}

}  // namespace assay::native_cpu
