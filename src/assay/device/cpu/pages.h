#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "assay/device/device.h"

namespace assay::cpu {

// Pages that buffers gave back, for later buffers. In a virtual machine the first touch of a page
// costs more than all else that proving a kernel does with it (a third of the time of a sweep's
// proofs, measured).
class KeptPages {
 public:
  struct Range {
    std::byte* base = nullptr;
    size_t bytes = 0;
    bool huge = false;
  };

  explicit KeptPages(size_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}
  ~KeptPages();
  KeptPages(const KeptPages&) = delete;
  KeptPages& operator=(const KeptPages&) = delete;

  // At least `bytes`, whole pages of their kind, which start at such a page: kept ones as far as
  // there are, moved together where they lay apart, then new ones. Errors: machine.
  Result<Range> take(size_t bytes, bool huge);
  // Unmaps what does not fit into the capacity, the smallest first.
  void give(const Range& range);

  size_t mapped_bytes() const;  // Of ranges that were taken, and of kept ones.

 private:
  Result<Range> take_or_map(size_t bytes, bool huge);
  Range take_one(size_t bytes, bool huge);
  void hold(const Range& range);
  void unmap_some(size_t needed);

  mutable std::mutex mutex_;
  size_t capacity_bytes_;
  size_t held_bytes_ = 0, taken_bytes_ = 0;
  std::multimap<std::pair<bool, size_t>, std::byte*> held_;  // By huge, bytes.
};

// Memory of a buffer: private anonymous pages that have their memory already, from `kept` where it
// has some (with whatever the last buffer left in them). Errors: machine, without the size.
Result<std::unique_ptr<Buffer>> take_pages(std::shared_ptr<KeptPages> kept, size_t bytes,
                                           const BufferOptions& options);

}  // namespace assay::cpu
