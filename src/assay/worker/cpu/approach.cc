#include "assay/worker/cpu/approach.h"

#include <algorithm>
#include <sys/mman.h>

#include "assay/base/clock.h"
#include "assay/measure/output_digest.h"
#include "assay/worker/own_pages.h"

namespace assay::sweep {
namespace {

// More pages than processors keep translations of (1,024 to 3,072), more lines of them than a
// second-level cache holds (0.5 to 3 MiB).
constexpr size_t kPages = 4096, kLinesOfPage = 16;
constexpr uint64_t kWord = 0x9E3779B97F4A7C15u;

}  // namespace

Result<std::unique_ptr<Approach>> Approach::create() {
  constexpr size_t kBytes = kPages * kPageBytes;
  void* const mapped =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return fail(ErrorCode::machine, "no memory for {} bytes that are read ahead of bursts", kBytes);
  auto made = std::unique_ptr<Approach>(new Approach(static_cast<std::byte*>(mapped)));
  (void)::madvise(mapped, kBytes, MADV_NOHUGEPAGE);
  std::ranges::fill_n(static_cast<uint64_t*>(mapped), kBytes / sizeof kWord, kWord);
  (void)::mprotect(mapped, kBytes, PROT_READ);
  return made;
}

Approach::~Approach() { ::munmap(bytes_, kPages * kPageBytes); }

Status Approach::end(int64_t until_ns) const {
  constexpr size_t kStep = kPageBytes / kLinesOfPage;
  uint64_t others = 0;
  do {
    // Which word of which lines, nobody knows: in some pass each of them is looked at.
    const size_t first = measure::draw_unknown() % (kStep / sizeof kWord);
    for (size_t page = 0; page < kPages; ++page) {
      const auto* const words =
          reinterpret_cast<const uint64_t*>(bytes_ + page * kPageBytes) + first;
      for (size_t line = 0; line < kLinesOfPage; ++line)
        others |= words[line * (kStep / sizeof kWord)] ^ kWord;
    }
  } while (others == 0 && monotonic_ns() < until_ns);
  if (others == 0) return {};
  return fail(ErrorCode::failed, "it wrote to memory that is read ahead of every burst");
}

}  // namespace assay::sweep
