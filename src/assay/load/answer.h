#pragma once

// What a chunk of an answer, or an answer that came whole, says that a load generator counts.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::load {

struct Usage {
  std::int64_t prompt = 0, completion = 0;
  std::int64_t reasoning = 0, cached = 0;

  bool operator==(const Usage&) const = default;
};

struct Choice {
  int index = 0;
  bool content = false;    // Text that is not empty, or a call of a tool.
  bool reasoning = false;  // Text that thinks.
  bool finished = false;
  // Where texts are wanted: what it says, and what it thinks.
  std::string text, thought;
};

struct Chunk {
  std::vector<Choice> choices;
  std::optional<Usage> usage;
  bool is_error = false;
  std::string error;        // What the server says of it.
  std::string fingerprint;  // system_fingerprint; empty: none.

  void clear();
};

// False: it is no JSON object. `wants_text`: texts of choices are filled.
bool read_chunk(std::string_view json, bool wants_text, Chunk& chunk);

}  // namespace assay::load
