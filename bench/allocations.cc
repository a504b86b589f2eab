#include "bench/allocations.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

// glibc's own names for its allocator, which stay reachable where a program defines malloc.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* block);
}

namespace assay::bench {
namespace {

std::atomic<int64_t> counted{0};

void count() { counted.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

int64_t allocations() { return counted.load(std::memory_order_relaxed); }

}  // namespace assay::bench

extern "C" {

void* malloc(size_t bytes) noexcept {
  assay::bench::count();
  return __libc_malloc(bytes);
}

void* calloc(size_t number, size_t bytes) noexcept {
  assay::bench::count();
  return __libc_calloc(number, bytes);
}

void* realloc(void* block, size_t bytes) noexcept {
  assay::bench::count();
  return __libc_realloc(block, bytes);
}

void* memalign(size_t alignment, size_t bytes) noexcept {
  assay::bench::count();
  return __libc_memalign(alignment, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) noexcept { return memalign(alignment, bytes); }

int posix_memalign(void** block, size_t alignment, size_t bytes) noexcept {
  void* made = memalign(alignment, bytes);
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}

void free(void* block) noexcept { __libc_free(block); }
}
