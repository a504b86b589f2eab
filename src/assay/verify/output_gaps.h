#pragma once

// What lies between the elements of strided outputs belongs to nobody here, and in a model to
// somebody else: a kernel that writes there destroys it. Red zones lie around outputs alone.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/op/outputs.h"

namespace assay::verify {

class OutputGaps {
 public:
  static OutputGaps of(const Problem& problem);

  bool empty() const { return gaps_.empty(); }

  // Writes random bits of that seed there, and nowhere else. piece: all outputs, as OutputPlaces
  // has them.
  void poison(std::span<std::byte> piece, uint64_t seed) const;

  // Where that poison is gone: the first such byte of the piece, and how many there are.
  struct Change {
    size_t byte = 0, changed = 0;

    std::string text() const;
  };
  std::optional<Change> find_change(std::span<const std::byte> piece, uint64_t seed) const;

 private:
  struct Gap {
    size_t offset = 0, bytes = 0;
  };
  std::vector<Gap> gaps_;
};

}  // namespace assay::verify
