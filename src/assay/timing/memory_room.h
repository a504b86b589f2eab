#pragma once

// What a process of kernels has room for. The first kernel that does not fit takes the process with
// it, and all others are opened again; from then on, who is known to need more than is left is not
// tried.

#include <cstdint>
#include <map>
#include <string>

namespace assay::sweep {

class MemoryRoom {
 public:
  // An opening after which the process holds `after` bytes, and before it `before`.
  void took(const std::string& kernel, const std::string& family, int64_t before, int64_t after);
  // One that ended the process, which may hold `limit`.
  void ran_out(const std::string& kernel, const std::string& family, int64_t before, int64_t limit);

  bool is_short() const { return limit_ > 0; }
  int64_t limit_bytes() const { return limit_; }
  // Whether the kernel may fit into a process that holds so much: by what it needed itself, else by
  // the most that one of its family did. Of one of which neither is known, `packs` says whether it
  // packs operands: that takes at least as much as it did anybody; others take next to nothing.
  bool fits(const std::string& kernel, const std::string& family, bool packs, int64_t held) const;

 private:
  void learn(const std::string& kernel, const std::string& family, int64_t bytes);

  int64_t limit_ = 0;  // 0: there was always room.
  std::map<std::string, int64_t> of_kernel_, of_family_;
};

}  // namespace assay::sweep
