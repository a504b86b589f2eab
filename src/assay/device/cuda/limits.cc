#include "assay/device/cuda/limits.h"

#include <cmath>
#include <utility>

namespace assay::cuda {

int64_t most_shared_bytes(double capability) {
  constexpr std::pair<int, int64_t> kKiB[] = {{70, 96}, {75, 64},  {80, 163},  {86, 99}, {87, 163},
                                              {89, 99}, {90, 227}, {100, 227}, {120, 99}};
  int64_t kib = 48;  // Of all before.
  for (const auto& [from, room] : kKiB)
    if (std::lround(capability * 10) >= from) kib = room;
  return kib * 1024;
}

}  // namespace assay::cuda
