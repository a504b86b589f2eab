#pragma once

// What a function that a user wrote is given for one name of its `args`.

#include <cstdint>
#include <string>

namespace assay {

struct ArgumentValue {
  enum class Kind : uint8_t { pointer, integer, real };
  std::string name;
  Kind kind = Kind::pointer;
  int place = -1;  // Pointers: among a plan's data; -1: null.
  int64_t integer = 0;
  double real = 0;
};

}  // namespace assay
