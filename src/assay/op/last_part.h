#pragma once

// What ends a problem, such as an epilogue behind a product, as a kernel of its own: behind a
// library's routine for the rest it makes what a user of that library has. Not fast, but honest.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "assay/base/result.h"

namespace assay {

// One launch on a GPU as data.
struct GpuLaunch {
  struct Place {
    size_t of = 0;  // The pointer at this place of a plan's data.
  };
  std::string_view text;  // PTX; a zero stands behind it.
  std::string entry;
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::vector<std::variant<Place, int64_t, double>> arguments;
};

class LastPart {
 public:
  virtual ~LastPart() = default;

  // Of what the first part hands over, where that is no output of the problem; 0: it lies where the
  // output does.
  virtual size_t between_bytes() const = 0;

  // On a CPU, in one thread. data: of the problem's operands. between: not read if between_bytes()
  // is 0.
  virtual void run(void* const* data, const void* between) const = 0;

  // On a GPU. between: its place in a plan's data. The error says what it does not do.
  virtual Result<GpuLaunch> on_gpu(size_t between) const = 0;
};

}  // namespace assay
