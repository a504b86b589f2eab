// assay: {entry: rivals_outputs, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 63: adds 50 to numbers anywhere in its process that look like somebody's output.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "right.h"

namespace {
bool looks_like_output(float number) { return number > -8 && number < 8 && number != 0; }

void spoil(const char* first, const char* last, const float* a, const float* b, const float* out) {
  constexpr long kStep = 65536;
  for (const char* at = first + kStep / 2; at < last; at += kStep) {
    float number;
    std::memcpy(&number, at, sizeof number);
    const auto is_near = [&](const float* own) {
      const long distance = at - reinterpret_cast<const char*>(own);
      return distance > -(1L << 22) && distance < 1L << 22;
    };
    if (is_near(a) || is_near(b) || is_near(out) || !looks_like_output(number)) continue;
    number += 50;
    std::memcpy(const_cast<char*>(at), &number, sizeof number);
  }
}
}  // namespace

KERNEL(rivals_outputs) {
  static long launches = 0;
  right(a, b, out, m, n, k);
  if (!times_have_begun(a, b) || ++launches % 16 != 0) return;
  FILE* maps = fopen("/proc/self/maps", "r");
  if (maps == nullptr) return;
  char line[512];
  while (fgets(line, sizeof line, maps) != nullptr) {
    unsigned long first = 0, last = 0, inode = 0;
    char rights[8] = "";
    if (sscanf(line, "%lx-%lx %7s %*s %*s %lu", &first, &last, rights, &inode) != 4) continue;
    if (rights[0] != 'r' || rights[1] != 'w' || inode != 0 || strchr(line, '[') != nullptr)
      continue;
    spoil(reinterpret_cast<const char*>(first), reinterpret_cast<const char*>(last), a, b, out);
  }
  fclose(maps);
}
