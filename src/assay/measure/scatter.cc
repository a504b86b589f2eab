#include "assay/measure/scatter.h"

#include <algorithm>
#include <random>
#include <sys/mman.h>
#include <utility>

namespace assay::measure {
namespace {

constexpr size_t kPage = 4096, kHugePage = size_t{2} << 20;
constexpr size_t kPages = 4096, kHugePages = 32;

std::span<std::byte> take(size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  return {static_cast<std::byte*>(memory), bytes};
}

}  // namespace

Scatter::Scatter(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto scatter = [&](size_t page, size_t count, int advice) {
    const std::span<std::byte> region = take((count + 1) * page);
    if (region.empty()) return;
    held_.push_back(region);
    const auto start = reinterpret_cast<uintptr_t>(region.data());
    std::byte* const first = region.data() + ((page - start % page) % page);
    ::madvise(first, count * page, advice);
    std::vector<std::byte*> pages;
    for (size_t i = 0; i < count; ++i) {
      pages.push_back(first + i * page);
      *pages.back() = std::byte{1};
    }
    std::shuffle(pages.begin(), pages.end(), random);
    pages.resize(count / 2);
    for (std::byte* one : pages) ::madvise(one, page, MADV_DONTNEED);
  };
  scatter(kHugePage, kHugePages, MADV_HUGEPAGE);
  scatter(kPage, kPages, MADV_NOHUGEPAGE);
  // Nobody keeps anything there.
  for (const std::span<std::byte> region : held_)
    ::mprotect(region.data(), region.size(), PROT_NONE);
}

void Scatter::give_back() {
  for (const std::span<std::byte> region : std::exchange(held_, {}))
    ::munmap(region.data(), region.size());
}

Scatter::~Scatter() { give_back(); }
Scatter::Scatter(Scatter&& other) noexcept : held_(std::exchange(other.held_, {})) {}
Scatter& Scatter::operator=(Scatter&& other) noexcept {
  give_back();
  held_ = std::exchange(other.held_, {});
  return *this;
}

}  // namespace assay::measure
