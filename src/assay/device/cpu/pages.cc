#include "assay/device/cpu/pages.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <sys/mman.h>

#include "assay/base/fd.h"
#include "assay/base/text.h"

namespace assay::cpu {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;
// Ranges are neither cut into smaller ones than this, nor put together from such: a process has
// 65,530 mappings at most.
constexpr size_t kLeastPiece = kHugePage;

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

class Pages final : public Buffer {
 public:
  Pages(std::shared_ptr<KeptPages> kept, const KeptPages::Range& range, void* data, size_t bytes)
      : kept_(std::move(kept)), range_(range), data_(data), bytes_(bytes) {}
  ~Pages() override { kept_->give(range_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  void* data() const override { return data_; }
  size_t bytes() const override { return bytes_; }

 private:
  std::shared_ptr<KeptPages> kept_;
  KeptPages::Range range_;
  void* data_;
  size_t bytes_;
};

// New pages, which have no memory yet.
Result<KeptPages::Range> map_pages(size_t bytes, bool huge) {
  const size_t slack = huge ? kHugePage - kPage : 0;
  void* const mapped = ::mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return fail(ErrorCode::machine, "{}", errno_text(errno));
  auto* const first = static_cast<std::byte*>(mapped);
  const auto address = reinterpret_cast<uintptr_t>(mapped);
  const size_t before = huge ? round_up(address, kHugePage) - address : 0;
  if (before > 0) ::munmap(first, before);
  if (slack > before) ::munmap(first + before + bytes, slack - before);
  // Refusal of huge pages (a kernel built without them) costs time, not correctness.
  ::madvise(first + before, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return KeptPages::Range{first + before, bytes, huge};
}

// Every page gets its memory now, so that no timed launch pays for it.
Status prefault(std::byte* base, size_t bytes) {
#ifndef MADV_POPULATE_WRITE
  constexpr int MADV_POPULATE_WRITE = 23;  // Linux 5.14.
#endif
  if (::madvise(base, bytes, MADV_POPULATE_WRITE) == 0) return {};
  if (errno == ENOMEM || errno == EFAULT || errno == EHWPOISON) {
    return fail(ErrorCode::machine, "{}", errno_text(errno));
  }
  for (size_t at = 0; at < bytes; at += kPage) {
    *reinterpret_cast<volatile std::byte*>(base + at) = std::byte{0};
  }
  return {};
}

}  // namespace

KeptPages::~KeptPages() { unmap_some(held_bytes_); }

void KeptPages::hold(const Range& range) {
  held_.emplace(std::pair(range.huge, range.bytes), range.base);
  held_bytes_ += range.bytes;
}

// A kept range of `bytes` or little more, cut from a larger one if need be; no base: there is none.
KeptPages::Range KeptPages::take_one(size_t bytes, bool huge) {
  const auto found = held_.lower_bound({huge, bytes});
  if (found == held_.end() || found->first.first != huge) return {};
  const size_t rest = found->first.second - bytes;
  if (rest > bytes / 8 && rest < kLeastPiece) return {};
  Range range{found->second, found->first.second, huge};
  held_.erase(found);
  held_bytes_ -= range.bytes;
  if (rest >= kLeastPiece) {
    range.bytes = bytes;
    hold({range.base + bytes, rest, huge});
  }
  return range;
}

Result<KeptPages::Range> KeptPages::take(size_t bytes, bool huge) {
  const std::lock_guard lock(mutex_);
  ASSAY_TRY(const Range range, take_or_map(bytes, huge));
  taken_bytes_ += range.bytes;
  return range;
}

size_t KeptPages::mapped_bytes() const {
  const std::lock_guard lock(mutex_);
  return held_bytes_ + taken_bytes_;
}

Result<KeptPages::Range> KeptPages::take_or_map(size_t bytes, bool huge) {
  if (const Range kept = take_one(bytes, huge); kept.base != nullptr) return kept;
  ASSAY_TRY(const Range range, map_pages(bytes, huge));
  for (size_t filled = 0; bytes - filled >= kLeastPiece;) {
    const size_t left = bytes - filled;
    Range piece = take_one(left, huge);
    if (piece.base == nullptr || piece.bytes > left) {
      if (piece.base != nullptr) hold(piece);
      const auto above = held_.upper_bound({huge, left});
      if (above == held_.begin()) break;
      const auto largest = std::prev(above);
      if (largest->first.first != huge || largest->first.second < kLeastPiece) break;
      piece = {largest->second, largest->first.second, huge};
      held_.erase(largest);
      held_bytes_ -= piece.bytes;
    }
    void* const there = range.base + filled;
    if (::mremap(piece.base, piece.bytes, piece.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, there) !=
        there) {
      // Too many mappings, say. What was to be replaced may be gone: it is mapped anew.
      hold(piece);
      ::mmap(there, left, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
      break;
    }
    filled += piece.bytes;
  }
  return range;
}

void KeptPages::give(const Range& range) {
  const std::lock_guard lock(mutex_);
  taken_bytes_ -= range.bytes;
  if (range.bytes > capacity_bytes_) {
    ::munmap(range.base, range.bytes);
    return;
  }
  if (held_bytes_ + range.bytes > capacity_bytes_)
    unmap_some(held_bytes_ + range.bytes - capacity_bytes_);
  hold(range);
}

void KeptPages::unmap_some(size_t needed) {
  size_t freed = 0;
  while (freed < needed && !held_.empty()) {
    const auto first = held_.begin();
    ::munmap(first->second, first->first.second);
    freed += first->first.second;
    held_.erase(first);
  }
  held_bytes_ -= freed;
}

Result<std::unique_ptr<Buffer>> take_pages(std::shared_ptr<KeptPages> kept, size_t bytes,
                                           const BufferOptions& options) {
  const bool huge = options.huge_pages && bytes >= kHugePage;
  // Huge pages are granted to aligned 2 MiB only.
  const size_t page = huge ? kHugePage : kPage;
  const size_t used = round_up(std::max<size_t>(bytes + options.offset, 1), page);
  const size_t slack = options.alignment > page ? options.alignment - page : 0;
  ASSAY_TRY(const KeptPages::Range range, kept->take(round_up(used + slack, page), huge));
  const auto address = reinterpret_cast<uintptr_t>(range.base);
  std::byte* const aligned =
      range.base + (round_up(address, std::max(options.alignment, page)) - address);
  auto buffer = std::make_unique<Pages>(kept, range, aligned + options.offset, bytes);
  ASSAY_TRY(prefault(aligned, used));
  return buffer;
}

}  // namespace assay::cpu
