#include "assay/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace assay {

void for_each_parallel(size_t count, const std::function<void(size_t i)>& use) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < count;) use(i);
  };
  const size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> others;
  for (size_t i = 1; i < std::min(cores, count); ++i) others.emplace_back(work);
  work();
}

}  // namespace assay
