#include "assay/worker/cpu/kept_copies.h"

#include <algorithm>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "assay/base/hash.h"
#include "assay/measure/flush.h"
#include "assay/process/memory_map.h"
#include "assay/worker/own_memory.h"
#include "assay/worker/own_pages.h"

namespace assay::sweep {
namespace {

constexpr size_t kPage = kPageBytes, kCopyLine = 64;
constexpr size_t kMostFile = size_t{1} << 32;

std::span<const std::byte> bytes_at(uintptr_t address, size_t bytes) {
  return {reinterpret_cast<const std::byte*>(address), bytes};
}

// Whether a kernel can have put anything there: also where it may no longer write, or not read
// until it allows that again.
bool may_hold_copies(const OwnMapping& mapping) { return !mapping.name.starts_with("[v"); }

int rights_of(const OwnMapping& mapping) {
  return (mapping.read ? PROT_READ : 0) | (mapping.write ? PROT_WRITE : 0) |
         (mapping.run ? PROT_EXEC : 0);
}

// What the loader has mapped, of the program and of libraries.
std::vector<std::pair<uintptr_t, uintptr_t>> loaded_segments() {
  std::vector<std::pair<uintptr_t, uintptr_t>> segments;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* into) {
        for (size_t i = 0; i < object->dlpi_phnum; ++i) {
          const auto& part = object->dlpi_phdr[i];
          if (part.p_type != PT_LOAD) continue;
          const uintptr_t begin = object->dlpi_addr + part.p_vaddr;
          static_cast<decltype(segments)*>(into)->push_back({begin, begin + part.p_memsz});
        }
        return 0;
      },
      &segments);
  return segments;
}

bool is_loaded(const OwnMapping& mapping) {
  return std::ranges::any_of(loaded_segments(), [&](const auto& segment) {
    return segment.first < mapping.end && mapping.begin < segment.second;
  });
}

// Of a file of memory that has no name, and maybe no descriptor any more: its pages are copies like
// any others.
bool is_view(const OwnMapping& mapping) {
  return mapping.inode != 0 && !mapping.shared && mapping.name.ends_with(" (deleted)") &&
         !is_loaded(mapping);
}

// Which pages of a file that is mapped are the file's, and no private copies. Where the system does
// not say, those of code are.
std::vector<bool> pages_of_file(const OwnMapping& mapping, uintptr_t begin, size_t pages) {
  std::vector<bool> of_file(pages, false);
  if (mapping.inode == 0 || mapping.shared || is_view(mapping)) return of_file;
  const auto owners = owners_of_pages(begin, pages);
  for (size_t page = 0; page < pages; ++page)
    of_file[page] = owners.empty() ? mapping.run : owners[page] != PageOf::process;
  return of_file;
}

size_t flush_file(int file) {
  struct stat facts {};
  if (::fstat(file, &facts) != 0 || facts.st_size <= 0) return 0;
  const size_t bytes = std::min(static_cast<size_t>(facts.st_size), kMostFile);
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) return 0;
  // What has no memory is no copy, and would get some by being looked at.
  std::vector<unsigned char> resident((bytes + kPage - 1) / kPage);
  size_t flushed = 0;
  if (::mincore(mapped, bytes, resident.data()) == 0)
    for (size_t page = 0; page < resident.size(); ++page) {
      if ((resident[page] & 1) == 0) continue;
      measure::flush_from_caches(
          bytes_at(reinterpret_cast<uintptr_t>(mapped) + page * kPage, kPage));
      flushed += kPage;
    }
  ::munmap(mapped, bytes);
  return flushed;
}

}  // namespace

KeptCopies::KeptCopies(CodeCopies& code)
    : code_(code),
      random_(KeyedRandom::from_system()),
      held_before_(held_memory()),
      resident_before_(resident_memory()) {
  for (const OwnMapping& mapping : read_memory_map())
    if (may_hold_copies(mapping)) before_.push_back({mapping.begin, mapping.end});
  next_lines_ = draw();
}

KeptCopies::Lines KeptCopies::draw() {
  return {random_() % (kPage / kCopyLine), random_() % (kPage / kCopyLine)};
}

std::vector<KeptCopies::Range> KeptCopies::without(const Range& range,
                                                   std::span<const Range> others) {
  std::vector<Range> left;
  uintptr_t from = range.begin;
  for (const Range& other : others) {
    if (other.end <= from || other.begin >= range.end) continue;
    if (other.begin > from) left.push_back({from, other.begin});
    from = other.end;
  }
  if (from < range.end) left.push_back({from, range.end});
  return left;
}

size_t KeptCopies::cool_pages(const OwnMapping& mapping, const Range& range) {
  const size_t pages = (range.end - range.begin) / kPage;
  std::vector<unsigned char> resident(pages);
  if (::mincore(reinterpret_cast<void*>(range.begin), pages * kPage, resident.data()) != 0)
    return 0;
  const std::vector<bool> of_file = pages_of_file(mapping, range.begin, pages);
  for (size_t page = 0; page < pages; ++page)
    if (of_file[page] || code_.is_code(range.begin + page * kPage)) resident[page] = 0;
  if (std::ranges::none_of(resident, [](unsigned char page) { return (page & 1) != 0; })) return 0;
  // On x86-64 whoever may write may read.
  const bool opens = !mapping.read && !mapping.write;
  const auto allow = [&](int rights) {
    return ::mprotect(reinterpret_cast<void*>(range.begin), pages * kPage, rights) == 0;
  };
  if (opens && !allow(PROT_READ)) return 0;
  size_t flushed = 0;
  for (size_t page = 0; page < pages; ++page) {
    if ((resident[page] & 1) == 0) continue;
    const uintptr_t at = range.begin + page * kPage;
    const auto hash_of = [&](size_t line) {
      return fast_hash(bytes_at(at + line * kCopyLine, kCopyLine), line);
    };
    const bool changed =
        std::ranges::none_of(lines_, [&](size_t line) { return known_.contains(hash_of(line)); });
    for (const size_t line : next_lines_) next_known_.insert(hash_of(line));
    if (changed) continue;
    measure::flush_from_caches(bytes_at(at, kPage));
    flushed += kPage;
  }
  if (opens) allow(rights_of(mapping));
  return flushed;
}

// Resident pages are counted at each call; what is no page of this process's takes long to count.
bool KeptCopies::holds(std::span<const Bytes> others, size_t least) {
  constexpr uint64_t kCallsForAll = 8;
  size_t known = least + code_.kept().size();  // In its place; what it is compared with is ours.
  for (const Bytes& bytes : others) known += bytes.size();
  holds_ = holds_ || resident_memory() - resident_before_ >= static_cast<int64_t>(known) ||
           (random_() % kCallsForAll == 0 &&
            held_memory() - held_before_ + in_views() >= static_cast<int64_t>(known));
  return holds_;
}

int64_t KeptCopies::in_views() const {
  int64_t bytes = 0;
  for (const OwnMapping& mapping : read_memory_map()) {
    if (!is_view(mapping)) continue;
    for (const Range& range : without({mapping.begin, mapping.end}, before_)) {
      std::vector<unsigned char> resident((range.end - range.begin) / kPage);
      if (::mincore(reinterpret_cast<void*>(range.begin), range.end - range.begin,
                    resident.data()) == 0)
        bytes += static_cast<int64_t>(kPage) *
                 std::ranges::count_if(resident, [](unsigned char page) { return page & 1; });
    }
  }
  return bytes;
}

size_t KeptCopies::cool(std::span<const Bytes> others, size_t least) {
  std::vector<Bytes> ours(others.begin(), others.end());
  ours.push_back(code_.kept());
  if (!holds(ours, least)) return 0;
  code_.draw();
  std::vector<Range> skipped = before_;
  for (const Bytes& bytes : ours) {  // Whole pages of them.
    const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
    const Range pages{(begin + kPage - 1) / kPage * kPage, (begin + bytes.size()) / kPage * kPage};
    if (pages.begin < pages.end) skipped.push_back(pages);
  }
  std::ranges::sort(skipped, {}, &Range::begin);
  known_ = std::move(next_known_);
  next_known_.clear();
  lines_ = std::exchange(next_lines_, draw());
  size_t flushed = 0;
  for (const OwnMapping& mapping : read_memory_map()) {
    if (!may_hold_copies(mapping)) continue;
    for (const Range& range : without({mapping.begin, mapping.end}, skipped))
      flushed += cool_pages(mapping, range);
  }
  for (const UniqueFd& file : open_memory_files()) flushed += flush_file(file.get());
  return flushed;
}

}  // namespace assay::sweep
