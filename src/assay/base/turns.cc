#include "assay/base/turns.h"

#include <exception>

namespace assay {
namespace {

// Held while this thread runs a task.
thread_local std::unique_lock<std::mutex> own_turn;

}  // namespace

Turns::~Turns() {
  {
    const std::lock_guard lock(turn_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Turns::work() {
  own_turn = std::unique_lock(turn_);
  for (;;) {
    changed_.wait(own_turn, [&] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) break;
    const auto task = std::move(waiting_.front());
    waiting_.pop_front();
    task();
    --unfinished_;
    changed_.notify_all();
  }
  own_turn.unlock();
}

Status Turns::run(const std::vector<std::function<Status()>>& tasks) {
  std::vector<Status> results(tasks.size());
  std::vector<std::exception_ptr> thrown(tasks.size());
  std::unique_lock lock(turn_);
  for (size_t i = 0; i < tasks.size(); ++i) {
    waiting_.push_back([&, i] {
      try {
        results[i] = tasks[i]();
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    });
  }
  unfinished_ += tasks.size();
  while (threads_.size() < tasks.size()) threads_.emplace_back([this] { work(); });
  changed_.notify_all();
  changed_.wait(lock, [&] { return unfinished_ == 0; });
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (thrown[i]) std::rethrow_exception(thrown[i]);
    if (!results[i]) return results[i];
  }
  return {};
}

void let_others_run(const std::function<void()>& wait) {
  if (!own_turn.owns_lock()) return wait();
  own_turn.unlock();
  // Whatever `wait` throws, the turn is taken again first.
  struct TakeAgain {
    ~TakeAgain() { own_turn.lock(); }
  } const take_again;
  wait();
}

}  // namespace assay
