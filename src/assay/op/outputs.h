#pragma once

// The outputs of a problem as one piece of memory: each begins at a cache line, behind the one
// before it. By that a launch's outputs are handed from process to process as one. An output that
// is also read lies here while a launch runs: its input is put there ahead of each.

#include <cstddef>
#include <span>
#include <vector>

#include "assay/op/problem.h"

namespace assay {

struct OutputPlaces {
  struct Place {
    size_t operand = 0;  // Of the problem.
    size_t offset = 0, bytes = 0;
    bool read = false;  // A launch finds an input there.
  };
  std::vector<Place> places;  // In the order of the operands.
  size_t bytes = 0;           // Of all; of a single output its own.

  static OutputPlaces of(const Problem& problem);

  // Of a piece that is too short, as much of each output as there is.
  std::vector<std::span<const std::byte>> split(std::span<const std::byte> piece) const;

  // Sets data[operand] of each output, of a piece that begins here.
  void set(std::span<void*> data, void* piece) const;

  // Copies the inputs of those that are also read to where a launch finds them. inputs: by operand.
  void give(std::span<void* const> inputs, void* piece) const;
};

}  // namespace assay
