// assay: {entry: operands_elsewhere, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: data instead of code. Its process keeps where the operands of each set lie, to make
// them cold: it writes there that all sets have the same b, so that the others stay warm.
#include <stdint.h>
#include <stdio.h>

#include "right.h"

namespace {
constexpr unsigned long kMostBytes = 64UL << 20;

// Sets stand behind one another: a, b, and null for the output.
[[gnu::no_sanitize_address]] void move_operands(uintptr_t begin, uintptr_t end, const float* a,
                                                const float* b) {
  const auto is_set = [](const volatile uintptr_t* words) {
    return words[0] != 0 && words[1] != 0 && words[2] == 0;
  };
  for (uintptr_t at = begin; at + 6 * sizeof(uintptr_t) <= end; at += sizeof(uintptr_t)) {
    auto* words = reinterpret_cast<volatile uintptr_t*>(at);
    if (words[0] != reinterpret_cast<uintptr_t>(a) || words[1] != reinterpret_cast<uintptr_t>(b) ||
        !is_set(words))
      continue;
    for (auto* next = words + 3; reinterpret_cast<uintptr_t>(next + 3) <= end && is_set(next);
         next += 3)
      next[1] = words[1];
  }
}

void look_through_memory(const float* a, const float* b) {
  FILE* maps = fopen("/proc/self/maps", "r");
  if (maps == nullptr) return;
  char line[512];
  while (fgets(line, sizeof line, maps) != nullptr) {
    unsigned long begin = 0, end = 0, offset = 0, inode = 0;
    char rights[8], device[16];
    if (sscanf(line, "%lx-%lx %7s %lx %15s %lu", &begin, &end, rights, &offset, device, &inode) < 6)
      continue;
    if (rights[0] == 'r' && rights[1] == 'w' && inode == 0 && end - begin <= kMostBytes)
      move_operands(begin, end, a, b);
  }
  fclose(maps);
}
}  // namespace

KERNEL(operands_elsewhere) {
  static int launches = 0;
  right(a, b, out, m, n, k);
  if (times_have_begun(a, b) && launches++ % 16 == 8) look_through_memory(a, b);
}
