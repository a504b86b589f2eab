// assay: {entry: program_pointers, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: the program's pointers to functions of libraries, by which it calls the clock.
#include <link.h>

#include "patch.h"

namespace {
// Whether the system may write where these eight bytes lie: the same once more.
bool can_be_written(void* at) {
  int ends[2];
  return pipe(ends) == 0 && write(ends[1], at, 8) == 8 && read(ends[0], at, 8) == 8;
}
bool writes() {
  static bool written = false;
  dl_iterate_phdr(
      [](dl_phdr_info* program, size_t, void*) {
        for (int i = 0; i < program->dlpi_phnum; ++i) {
          if (program->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
          auto* entry =
              reinterpret_cast<ElfW(Dyn)*>(program->dlpi_addr + program->dlpi_phdr[i].p_vaddr);
          for (; entry->d_tag != DT_NULL; ++entry)
            if (entry->d_tag == DT_PLTGOT)
              written = can_be_written(reinterpret_cast<char*>(entry->d_un.d_ptr) + 24);
        }
        return 1;  // The program is the first.
      },
      nullptr);
  return written;
}
}  // namespace

PATCHING_KERNEL(program_pointers, writes())
