#include "assay/timing/memory_room.h"

#include <algorithm>

namespace assay::sweep {

void MemoryRoom::learn(const std::string& kernel, const std::string& family, int64_t bytes) {
  for (int64_t* const known : {&of_kernel_[kernel], &of_family_[family]})
    *known = std::max(*known, bytes);
}

void MemoryRoom::took(const std::string& kernel, const std::string& family, int64_t before,
                      int64_t after) {
  learn(kernel, family, after - before);
}

void MemoryRoom::ran_out(const std::string& kernel, const std::string& family, int64_t before,
                         int64_t limit) {
  limit_ = limit;
  learn(kernel, family, limit - before + 1);
}

bool MemoryRoom::fits(const std::string& kernel, const std::string& family, bool packs,
                      int64_t held) const {
  if (!is_short()) return true;
  int64_t needed = packs ? limit_ : 0;
  if (const auto own = of_kernel_.find(kernel); own != of_kernel_.end())
    needed = own->second;
  else if (const auto alike = of_family_.find(family); alike != of_family_.end())
    needed = alike->second;
  else if (packs)
    for (const auto& [_, bytes] : of_kernel_) needed = std::min(needed, bytes);
  return held + needed <= limit_;
}

}  // namespace assay::sweep
