#pragma once

// What a process that runs candidates keeps about their race, and nothing of ours changes while
// they are open: by which it varies, flushes, draws and launches. Candidates could write to it, so
// whoever keeps the score remembers it, and looks from outside whether it is still the same.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "assay/base/json.h"
#include "assay/sweep/child.h"

namespace assay::sweep {

// In the process itself.
using ConstantBytes = std::vector<std::span<const std::byte>>;

template <class T>
std::span<const std::byte> bytes_of(const T& object) {
  return std::as_bytes(std::span(&object, 1));
}

// [[address, bytes]...], neighbours as one.
Json to_json(ConstantBytes parts);

class KeptConstants {
 public:
  // As to_json() gave them. None where they are no such list, or are too many to look at.
  static std::optional<KeptConstants> remember(const Json& parts, const Child& process);
  // False where the process is no more, too: the next call tells how it ended.
  bool changed(const Child& process) const;

 private:
  struct Part {
    uint64_t address = 0;
    std::vector<std::byte> bytes;
  };
  std::vector<Part> parts_;
};

}  // namespace assay::sweep
