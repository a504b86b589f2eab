#include "testing/fake_cuda/memory.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <sys/mman.h>
#include <unistd.h>

namespace fake_cuda {
namespace {

constexpr size_t kStep = 4096;

size_t whole(size_t bytes) { return (bytes + kStep - 1) / kStep * kStep; }

struct Handle {
  uint64_t process, offset, bytes;
};

}  // namespace

std::string Memory::file_of(uint64_t process) const {
  return folder_ + "/memory-" + std::to_string(process);
}

void Memory::share_in(const std::string& folder) {
  folder_ = folder;
  const int file = ::open(file_of(static_cast<uint64_t>(::getpid())).c_str(),
                          O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || ::ftruncate(file, kBytes) != 0) std::abort();
  void* pages = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (pages == MAP_FAILED) std::abort();
  shared_ = static_cast<char*>(pages);
  ::close(file);
}

Memory::Address Memory::allocate(size_t bytes) {
  if (bytes > kBytes - allocated_) return 0;
  Address address = 0;
  if (shared_ == nullptr) {
    address = reinterpret_cast<Address>(std::aligned_alloc(kStep, whole(bytes)));
  } else {
    // The first gap that is large enough.
    auto start = reinterpret_cast<Address>(shared_);
    const Address end = start + kBytes;
    for (const auto& [block, size] : blocks_) {
      if (block - start >= whole(bytes)) break;
      start = block + whole(size);
    }
    address = end - start >= whole(bytes) ? start : 0;
  }
  if (address == 0) return 0;
  blocks_[address] = bytes;
  allocated_ += bytes;
  return address;
}

bool Memory::release(Address address) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return false;
  allocated_ -= found->second;
  blocks_.erase(found);
  if (shared_ == nullptr) std::free(reinterpret_cast<void*>(address));
  return true;
}

bool Memory::range(Address address, Address& start, size_t& bytes) const {
  for (const auto* blocks : {&blocks_, &views_}) {
    const auto after = blocks->upper_bound(address);
    if (after == blocks->begin()) continue;
    const auto& [first, size] = *std::prev(after);
    if (address >= first + size) continue;
    start = first;
    bytes = size;
    return true;
  }
  return false;
}

bool Memory::holds(Address address, size_t bytes) const {
  Address start = 0;
  size_t size = 0;
  return range(address, start, size) && bytes <= size - (address - start);
}

bool Memory::share(Address address, assay::cuda::abi::IpcMemory& handle) const {
  Address start = 0;
  size_t size = 0;
  if (shared_ == nullptr || !range(address, start, size)) return false;
  const Handle made = {static_cast<uint64_t>(::getpid()),
                       start - reinterpret_cast<Address>(shared_), size};
  static_assert(sizeof made <= sizeof handle);
  std::memcpy(&handle, &made, sizeof made);
  return true;
}

Memory::Address Memory::open(const assay::cuda::abi::IpcMemory& handle) {
  Handle asked;
  std::memcpy(&asked, &handle, sizeof asked);
  const int file = ::open(file_of(asked.process).c_str(), O_RDONLY | O_CLOEXEC);
  if (shared_ == nullptr || file < 0) return 0;
  void* pages =
      ::mmap(nullptr, asked.bytes, PROT_READ, MAP_SHARED, file, static_cast<off_t>(asked.offset));
  ::close(file);
  if (pages == MAP_FAILED) return 0;
  views_[reinterpret_cast<Address>(pages)] = asked.bytes;
  return reinterpret_cast<Address>(pages);
}

bool Memory::close(Address address) {
  const auto found = views_.find(address);
  if (found == views_.end()) return false;
  ::munmap(reinterpret_cast<void*>(address), found->second);
  views_.erase(found);
  return true;
}

}  // namespace fake_cuda
