#pragma once

// Threads that run one function over a few parts and sleep between calls.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace assay::native_cpu {

class ThreadPool {
 public:
  ThreadPool() = default;
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Runs function(state, part) for every part in [0, parts), part 0 on the caller's thread, and
  // returns when all are done. Calls from several threads take turns. False where the threads
  // could not be had: then nothing ran.
  bool run(int parts, void (*function)(void* state, int part), void* state);

  // The pool that this provider's kernels share.
  static ThreadPool& shared();

 private:
  bool grow(int threads);
  void work(int index, uint32_t seen);

  std::mutex turn_;
  std::vector<std::thread> threads_;
  void (*function_)(void*, int) = nullptr;
  void* state_ = nullptr;
  int parts_ = 0;
  alignas(64) std::atomic<uint32_t> generation_{0};
  alignas(64) std::atomic<int> pending_{0};
  std::atomic<bool> stopping_{false};
};

}  // namespace assay::native_cpu
