#pragma once

// What a process that runs candidates keeps about their race, and nothing of ours changes while
// they are open: by which it varies, flushes, draws and launches. Candidates could write to it, so
// whoever keeps the score remembers it, and looks from outside whether it is still the same.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "assay/process/child.h"
#include "assay/process/messages/runs.h"

namespace assay::sweep {

// In the process itself.
using ConstantBytes = std::vector<std::span<const std::byte>>;

template <class T>
std::span<const std::byte> bytes_of(const T& object) {
  return std::as_bytes(std::span(&object, 1));
}

// As a worker tells of them, neighbours as one.
std::vector<process::FindConstants::Answer::Part> parts_of(ConstantBytes parts);

class KeptConstants {
 public:
  // None where nothing is mapped there.
  static std::optional<KeptConstants> remember(
      std::span<const process::FindConstants::Answer::Part> parts, const Child& process);
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
