#pragma once

// What both fake libraries know, each for itself.

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "testing/fake_cuda/orders.h"

namespace fake_cublas {

// cublasStatus_t.
inline constexpr int kSuccess = 0, kNotInitialized = 1, kInvalidValue = 7, kExecutionFailed = 13,
                     kNotSupported = 15;

class State {
 public:
  static State& get();

  // Made and destroyed by the caller. Null, or one that is not there: kNotInitialized.
  template <class Object>
  int make(Object** object) {
    if (object == nullptr) return kInvalidValue;
    *object = new Object;
    objects_.insert(*object);
    return kSuccess;
  }
  template <class Object>
  int destroy(Object* object) {
    if (objects_.erase(object) == 0) return kNotInitialized;
    delete object;
    return kSuccess;
  }
  bool has(const void* object) const { return objects_.contains(object); }
  size_t objects() const { return objects_.size(); }

  void tell(const std::string& word);

  std::recursive_mutex mutex;
  fake::Calls calls;
  std::vector<std::string> algorithms = {"plain", "split", "slow", "refused", "twin", "vector"};
  std::vector<int> ids = {71, 66, 72, 6, 75};
  int version = 0;
  int attributes = 9;

 private:
  State();
  std::set<const void*> objects_;
};

}  // namespace fake_cublas

#define FAKE_CUBLAS_ENTER(entry)                         \
  fake_cublas::State& state = fake_cublas::State::get(); \
  const std::lock_guard lock(state.mutex);               \
  if (const int failed = state.calls.enter(entry); failed != 0) return failed
