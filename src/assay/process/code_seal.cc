#include "assay/process/code_seal.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <link.h>
#include <string_view>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "assay/process/memory_map.h"

namespace assay::sweep {
namespace {

// mseal(2), which C libraries learnt late; one number on every architecture.
#ifdef SYS_mseal
constexpr long kSeal = SYS_mseal;
#else
constexpr long kSeal = 462;
#endif

std::uintptr_t page_size() { return static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)); }
std::uintptr_t page_of(std::uintptr_t address) { return address & ~(page_size() - 1); }
std::uintptr_t page_behind(std::uintptr_t address) { return page_of(address + page_size() - 1); }

struct Object {
  int importance = 0;  // 0 is the program.
  AddressRange whole;
  std::vector<AddressRange> read_only;
};

int importance_of(const dl_phdr_info& info, size_t place) {
  if (place == 0) return 0;
  if (info.dlpi_addr == ::getauxval(AT_SYSINFO_EHDR)) return 1;
  const std::string_view path = info.dlpi_name == nullptr ? "" : info.dlpi_name;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  int rank = 2;
  for (const char* known :
       {"ld-linux", "libc.so", "libm.so", "libpthread.so", "libgcc_s.so", "libstdc++.so"}) {
    if (name.starts_with(known)) return rank;
    ++rank;
  }
  return rank;
}

// The vDSO's data are no part of any object.
void add_clock_pages(std::vector<Object>& objects) {
  for (const OwnMapping& mapping : read_memory_map()) {
    const AddressRange range{mapping.begin, mapping.end};
    if (mapping.name.starts_with("[vvar")) objects.push_back({1, range, {range}});
  }
}

std::vector<Object> mapped_objects() {
  std::vector<Object> objects;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        auto& found = *static_cast<std::vector<Object>*>(to);
        Object object;
        object.importance = importance_of(*info, found.size());
        object.whole = {UINTPTR_MAX, 0};
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          const std::uintptr_t end = begin + segment.p_memsz;
          if (segment.p_type == PT_GNU_RELRO && page_of(begin) < page_of(end))
            object.read_only.push_back({page_of(begin), page_of(end)});
          if (segment.p_type != PT_LOAD) continue;
          const AddressRange pages{page_of(begin), page_behind(end)};
          object.whole.begin = std::min(object.whole.begin, pages.begin);
          object.whole.end = std::max(object.whole.end, pages.end);
          if ((segment.p_flags & PF_W) == 0) object.read_only.push_back(pages);
        }
        if (object.whole.begin < object.whole.end) found.push_back(std::move(object));
        return 0;
      },
      &objects);
  add_clock_pages(objects);
  return objects;
}

bool can_set_rights(std::uintptr_t address, int rights) {
  return ::mprotect(reinterpret_cast<void*>(page_of(address)), page_size(), rights) == 0;
}

}  // namespace

std::vector<AddressRange> read_only_pages() {
  std::vector<AddressRange> pages;
  for (Object& object : mapped_objects())
    pages.insert(pages.end(), object.read_only.begin(), object.read_only.end());
  return pages;
}

std::vector<AddressRange> objects_in_order() {
  std::vector<Object> objects = mapped_objects();
  std::ranges::stable_sort(objects, {}, &Object::importance);
  std::vector<AddressRange> ranges;
  ranges.reserve(objects.size());
  for (const Object& object : objects) ranges.push_back(object.whole);
  return ranges;
}

bool seal(const std::vector<AddressRange>& pages) {
  return std::ranges::all_of(pages, [](const AddressRange& range) {
    return ::syscall(kSeal, range.begin, range.end - range.begin, 0UL) == 0;
  });
}

bool code_can_be_changed() {
  constexpr int kRights = PROT_READ | PROT_EXEC;
  const auto* const clock = reinterpret_cast<const ElfW(Ehdr)*>(::getauxval(AT_SYSINFO_EHDR));
  return can_set_rights(reinterpret_cast<std::uintptr_t>(&code_can_be_changed), kRights) ||
         (clock != nullptr && can_set_rights(reinterpret_cast<std::uintptr_t>(clock), kRights));
}

}  // namespace assay::sweep
