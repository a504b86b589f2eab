#include "testing/fake_cublas/state.h"

#include <cstdlib>
#include <sstream>

#include "testing/fake_cublas/fake_cublas.h"

namespace fake_cublas {

State& State::get() {
  static State state;
  return state;
}

State::State() : version(FAKE_CUBLAS_VERSION) {
  for (const std::string& word : fake::orders("ASSAY_FAKE_CUBLAS", "fake_cublas.txt")) tell(word);
}

void State::tell(const std::string& word) {
  const std::string value = fake::value_of(word);
  if (word.starts_with("fail=")) calls.fail(value);
  if (word.starts_with("version=")) version = std::atoi(value.c_str());
  if (word.starts_with("attributes=")) attributes = std::atoi(value.c_str());
  if (word.starts_with("ids=")) {
    ids.clear();
    std::istringstream numbers(value);
    for (std::string id; std::getline(numbers, id, ',');) ids.push_back(std::atoi(id.c_str()));
  }
  if (word.starts_with("algorithms=")) {
    algorithms.clear();
    std::istringstream names(value);
    for (std::string name; std::getline(names, name, ',');) algorithms.push_back(name);
  }
}

}  // namespace fake_cublas

using fake_cublas::State;

void fake_cublas_fail(const char* entry_point, int code, int nth) {
  const std::lock_guard lock(State::get().mutex);
  State::get().calls.fail(entry_point, code, static_cast<uint64_t>(nth));
}

uint64_t fake_cublas_calls(const char* entry_point) {
  return State::get().calls.count(entry_point);
}

void fake_cublas_tell(const char* word) {
  const std::lock_guard lock(State::get().mutex);
  State::get().tell(word);
}

uint64_t fake_cublas_objects() { return State::get().objects(); }
