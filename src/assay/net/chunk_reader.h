#pragma once

// The chunked coding, read one byte after the other: every line end is looked at.

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::net {

class ChunkReader {
 public:
  enum class State {
    size,
    extension,
    size_end,
    data,
    data_return,
    data_end,
    last_return,
    last_end,
    done,
    refused
  };

  explicit ChunkReader(std::size_t most) : most_(most) {}

  // Appends what it decodes to `body`. How many of `bytes` were used.
  std::size_t take(std::string_view bytes, std::string& body);

  bool done() const { return state_ == State::done; }
  bool refused() const { return state_ == State::refused; }
  bool too_long() const { return too_long_; }  // Why it was refused; else it is malformed.

 private:
  State after(char c);
  State after_size(char c);
  State after_size_line() const { return size_ == 0 ? State::last_return : State::data; }

  std::size_t most_;  // Bytes of a body.
  State state_ = State::size;
  std::size_t size_ = 0, left_ = 0, total_ = 0;
  int digits_ = 0, extension_bytes_ = 0;
  bool too_long_ = false;
};

}  // namespace assay::net
