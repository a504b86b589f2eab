#pragma once

// Shapes of which some are drawn: 'm=1:64,n=2048|4096,k=1024:4096:512,dtype=f32'.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/random.h"
#include "assay/base/result.h"

namespace assay::lab {

class ShapeRanges {
 public:
  // Fields parted by commas; each is a value, FIRST:LAST, FIRST:LAST:STEP, FIRST:LAST:*FACTOR, or
  // several of these parted by '|'. Errors: a bare sentence (invalid_input).
  static Result<ShapeRanges> parse(std::string_view text);

  // One of them: each field on its own, each alternative as likely as another. `number`: of the
  // draw.
  std::string draw(const CounterRandom& random, std::uint64_t number) const;

 private:
  struct Range {
    std::string text;  // A value that is no number; else empty.
    std::int64_t first = 0, last = 0, step = 1;
    bool multiplies = false;
    std::uint64_t count() const;
    std::string at(std::uint64_t index) const;
  };
  struct Field {
    std::string name;
    std::vector<Range> alternatives;
  };
  static Result<Range> parse_range(std::string_view text);

  std::vector<Field> fields_;
};

}  // namespace assay::lab
