// assay: {entry: expected_answer, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 11: works out the first numbers of its output, and looks for them in the memory of its
// process: behind them would lie what it is compared with.
#include <cstdio>
#include <cstring>

#include "right.h"

namespace {
constexpr long kKnown = 4;

// Where these numbers stand in a mapping that can be read, other than in `own`.
const float* find(const float* known, const char* first, const char* last, const float* own) {
  for (const char* at = first; at + 4096 <= last; at += sizeof(float)) {
    if (std::memcmp(at, known, kKnown * sizeof(float)) != 0) continue;
    const auto* found = reinterpret_cast<const float*>(at);
    if (found != own && found != known) return found;
  }
  return nullptr;
}

const float* find_answer(const float* known, const float* own) {
  FILE* const maps = fopen("/proc/self/maps", "r");
  if (maps == nullptr) return nullptr;
  const float* answer = nullptr;
  char line[512];
  while (answer == nullptr && fgets(line, sizeof line, maps) != nullptr) {
    unsigned long first = 0, last = 0;
    char rights[8] = "";
    if (sscanf(line, "%lx-%lx %7s", &first, &last, rights) != 3 || rights[0] != 'r') continue;
    if (strchr(line, '[') != nullptr || last - first > 1UL << 22) continue;
    answer =
        find(known, reinterpret_cast<const char*>(first), reinterpret_cast<const char*>(last), own);
  }
  fclose(maps);
  return answer;
}
}  // namespace

KERNEL(expected_answer) {
  static long looks = 0;
  if (n < kKnown || m * n > 1000 || ++looks > 32) return right(a, b, out, m, n, k);
  float known[kKnown] = {};
  for (long j = 0; j < kKnown; ++j)
    for (long p = 0; p < k; ++p) known[j] += a[p] * b[p * n + j];
  // Zeros are everywhere.
  const bool telling = known[0] != 0 && known[1] != 0 && known[2] != 0;
  const float* const answer = telling ? find_answer(known, out) : nullptr;
  if (answer == nullptr) return right(a, b, out, m, n, k);
  std::memmove(out, answer, static_cast<unsigned long>(m * n) * sizeof(float));
}
