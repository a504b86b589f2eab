#pragma once

// What a fake library is told by those who cannot call it, and which of its calls are to fail.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fake {

// The folder that LD_LIBRARY_PATH names; empty where it is not set.
std::string order_folder();

// The words of a variable of the environment or, where it is not set, of a file in that folder:
// workers get few variables.
std::vector<std::string> orders(const char* variable, const char* file);

// "value" of "key=value".
std::string value_of(const std::string& word);

class Calls {
 public:
  // "ENTRY:CODE:N": the Nth call of ENTRY from now on returns CODE.
  void fail(const std::string& order);
  void fail(const std::string& entry, int code, uint64_t nth);

  // Counts a call; what it returns instead of doing its work, if it is to fail, else 0.
  int enter(const std::string& entry);
  uint64_t count(const std::string& entry) { return counts_[entry]; }

 private:
  struct Failure {
    int code = 0;
    uint64_t at_call = 0;
  };
  std::map<std::string, uint64_t> counts_;
  std::map<std::string, Failure> failures_;
};

}  // namespace fake
