#pragma once

// The fake GPU's memory: the host's, or, where it is to be shared between processes, pages of a
// file that others can map.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "assay/device/cuda/abi.h"

namespace fake_cuda {

class Memory {
 public:
  using Address = assay::cuda::abi::Address;
  static constexpr uint64_t kBytes = uint64_t{1} << 30;

  // folder: where files of shared memory lie; what is allocated from now on is in this process's.
  void share_in(const std::string& folder);

  Address allocate(size_t bytes);  // 0: there is not so much left.
  bool release(Address address);
  bool holds(Address address, size_t bytes) const;
  // The allocation, or the other process's, that an address is in.
  bool range(Address address, Address& start, size_t& bytes) const;
  uint64_t allocated() const { return allocated_; }

  bool share(Address address, assay::cuda::abi::IpcMemory& handle) const;
  Address open(const assay::cuda::abi::IpcMemory& handle);  // 0: there is no such memory.
  bool close(Address address);

 private:
  std::string file_of(uint64_t process) const;

  std::map<Address, size_t> blocks_, views_;  // By start.
  uint64_t allocated_ = 0;
  std::string folder_;
  char* shared_ = nullptr;  // kBytes of this process's file.
};

}  // namespace fake_cuda
