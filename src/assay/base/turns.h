#pragma once

// Tasks that mostly wait for other processes, side by side, on state that needs no locks.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "assay/base/result.h"

namespace assay {

// Threads that take turns: one runs at a time, until its task is over or it lets others run. They
// live as long as this does, since a process may be bound to the life of the thread that started it
// (PR_SET_PDEATHSIG).
class Turns {
 public:
  Turns() = default;
  ~Turns();
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // Returns when all are done: the error of the first, in their order, that failed. What a task
  // throws is thrown here. A task must not call this.
  Status run(const std::vector<std::function<Status()>>& tasks);

 private:
  void work();

  std::mutex turn_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  size_t unfinished_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

// Calls `wait`, and lets others run meanwhile: it must touch nothing that tasks share. Outside a
// task it is called, and that is all.
void let_others_run(const std::function<void()>& wait);

}  // namespace assay
