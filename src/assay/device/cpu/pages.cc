#include "assay/device/cpu/pages.h"

#include <algorithm>
#include <cerrno>
#include <sys/mman.h>

#include "assay/base/fd.h"
#include "assay/base/text.h"

namespace assay::cpu {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

class Pages final : public Buffer {
 public:
  Pages(std::shared_ptr<KeptPages> kept, const KeptPages::Mapping& mapping, void* data,
        size_t bytes)
      : kept_(std::move(kept)), mapping_(mapping), data_(data), bytes_(bytes) {}
  ~Pages() override { kept_->give(mapping_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  void* data() const override { return data_; }
  size_t bytes() const override { return bytes_; }

 private:
  std::shared_ptr<KeptPages> kept_;
  KeptPages::Mapping mapping_;
  void* data_;
  size_t bytes_;
};

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

KeptPages::Mapping KeptPages::take(size_t bytes, bool huge) {
  const std::lock_guard lock(mutex_);
  // Buffers of like purpose differ by a few pages, at which random place they begin.
  const auto found = held_.lower_bound({huge, bytes});
  if (found == held_.end() || found->first.first != huge || found->first.second > bytes / 8 * 9) {
    return {};
  }
  const Mapping mapping{found->second, found->first.second, huge};
  held_.erase(found);
  held_bytes_ -= mapping.bytes;
  return mapping;
}

void KeptPages::give(const Mapping& mapping) {
  const std::lock_guard lock(mutex_);
  if (mapping.bytes > capacity_bytes_) {
    ::munmap(mapping.base, mapping.bytes);
    return;
  }
  if (held_bytes_ + mapping.bytes > capacity_bytes_) {
    unmap_some(held_bytes_ + mapping.bytes - capacity_bytes_);
  }
  held_.emplace(std::pair(mapping.huge, mapping.bytes), mapping.base);
  held_bytes_ += mapping.bytes;
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
  const size_t alignment = std::max({options.alignment, kPage, huge ? kHugePage : kPage});
  const size_t used =
      round_up(std::max<size_t>(bytes + options.offset, 1), huge ? kHugePage : kPage);
  KeptPages::Mapping mapping = kept->take(used + alignment - kPage, huge);
  const bool fresh = mapping.base == nullptr;
  if (fresh) {
    mapping = {nullptr, used + alignment - kPage, huge};
    mapping.base = ::mmap(nullptr, mapping.bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping.base == MAP_FAILED) return fail(ErrorCode::machine, "{}", errno_text(errno));
  }
  const auto address = reinterpret_cast<uintptr_t>(mapping.base);
  std::byte* aligned =
      static_cast<std::byte*>(mapping.base) + (round_up(address, alignment) - address);
  auto buffer = std::make_unique<Pages>(kept, mapping, aligned + options.offset, bytes);
  // Refusal of huge pages (a kernel built without them) costs time, not correctness.
  if (fresh) ::madvise(aligned, used, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  // Kept pages may have been got with less alignment, and hold their memory elsewhere.
  ASSAY_TRY(prefault(aligned, used));
  return buffer;
}

}  // namespace assay::cpu
