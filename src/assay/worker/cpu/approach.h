#pragma once

// What lies between the launch that leads in and the clock, alike in every process of a company.
// A user's process looks there for copies of operands (kept_copies.h), in all pages that it has
// taken: for 2 to 80 ms. A launch behind such a time is 5 to 15 % slower than one behind nothing,
// however that time was spent (results/emerald_rapids/same). So the others spend as much, and all
// end with caches and address translations that are full of something else.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "assay/base/result.h"

namespace assay::sweep {

class Approach {
 public:
  // Takes its memory, which is there before operands are.
  static Result<std::unique_ptr<Approach>> create();
  ~Approach();
  Approach(const Approach&) = delete;
  Approach& operator=(const Approach&) = delete;

  // Reads some lines of many pages, once, and again until `until_ns` of the monotonic clock.
  // ErrorCode::failed if somebody wrote there, who would find that in the caches.
  Status end(int64_t until_ns) const;

 private:
  explicit Approach(std::byte* bytes) : bytes_(bytes) {}

  std::byte* bytes_;  // Nobody may write there.
};

}  // namespace assay::sweep
