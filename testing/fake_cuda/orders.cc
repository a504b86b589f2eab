#include "testing/fake_cuda/orders.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

namespace fake {

std::string order_folder() {
  const char* folder = std::getenv("LD_LIBRARY_PATH");
  return folder == nullptr ? std::string() : folder;
}

std::vector<std::string> orders(const char* variable, const char* file) {
  std::string text;
  if (const char* given = std::getenv(variable)) {
    text = given;
  } else {
    std::ifstream stream(order_folder() + "/" + file);
    text.assign(std::istreambuf_iterator<char>(stream), {});
  }
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

std::string value_of(const std::string& word) {
  return word.substr(std::min(word.size(), word.find('=') + 1));
}

void Calls::fail(const std::string& order) {
  const size_t first = order.find(':'), second = order.find(':', first + 1);
  if (second == std::string::npos) return;
  fail(order.substr(0, first), std::atoi(order.substr(first + 1, second - first - 1).c_str()),
       static_cast<uint64_t>(std::atoll(order.substr(second + 1).c_str())));
}

void Calls::fail(const std::string& entry, int code, uint64_t nth) {
  failures_[entry] = {code, counts_[entry] + nth};
}

int Calls::enter(const std::string& entry) {
  const uint64_t call = ++counts_[entry];
  const auto failure = failures_.find(entry);
  if (failure == failures_.end() || failure->second.at_call != call) return 0;
  const int code = failure->second.code;
  failures_.erase(failure);
  return code;
}

}  // namespace fake
