#include "assay/worker/cpu/prepared_pool.h"

#include <algorithm>
#include <cstring>

namespace assay::sweep {
namespace {

// What an earlier kernel packed there may be right for this one too, which then need not pack: a
// line of each KiB becomes NaN in every float type, and a wrong number in every integer type.
void make_useless(std::span<std::byte> memory) {
  constexpr size_t kLineBytes = 64, kStep = 1024;
  for (size_t at = 0; at < memory.size(); at += kStep)
    std::memset(memory.data() + at, 0xff, std::min(kLineBytes, memory.size() - at));
}

}  // namespace

Result<std::span<std::byte>> PreparedPool::allocate(size_t bytes) {
  const size_t to_come = expected_ > calls_ ? expected_ - calls_ : 1;
  const size_t pages = (bytes + 4095) / 4096 + random_.below(calls_++, 16);
  const size_t wanted = pages * 4096;
  if (chunks_.empty() || used_ + wanted > chunks_.back()->bytes()) {
    BufferOptions options;
    constexpr size_t kChunk = size_t{64} << 20;
    // Whole panels and no more: a virtual machine pays dearly for each page that is new to it.
    const size_t each = wanted + 16 * 4096;
    const size_t chunk_bytes = each * std::clamp<size_t>(kChunk / each, 1, to_come);
    options.huge_pages = chunk_bytes >= size_t{1} << 20;
    options.alignment = options.huge_pages ? size_t{2} << 20 : 4096;
    ASSAY_TRY(auto chunk, device_.allocate(chunk_bytes, options));
    chunks_.push_back(std::move(chunk));
    used_ = 0;
  }
  auto* start = static_cast<std::byte*>(chunks_.back()->data()) + used_ +
                (wanted - (bytes + 4095) / 4096 * 4096);
  used_ += wanted;
  make_useless({start, bytes});
  return std::span<std::byte>(start, bytes);
}

}  // namespace assay::sweep
