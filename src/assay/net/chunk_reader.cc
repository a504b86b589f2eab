#include "assay/net/chunk_reader.h"

#include <algorithm>

namespace assay::net {
namespace {

constexpr int kMostDigits = 8;
constexpr int kMostExtensionBytes = 256;  // No client sends any; they are read past.

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

ChunkReader::State ChunkReader::after_size(char c) {
  if (const int digit = hex_digit(c); digit >= 0) {
    size_ = size_ * 16 + static_cast<std::size_t>(digit);
    return ++digits_ > kMostDigits ? State::refused : State::size;
  }
  if (digits_ == 0) return State::refused;
  if (c == '\r') return State::size_end;
  return c == ';' ? State::extension : State::refused;
}

ChunkReader::State ChunkReader::after(char c) {
  switch (state_) {
    case State::size:
      return after_size(c);
    case State::extension:
      if (c == '\r') return State::size_end;
      return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7f ||
                     ++extension_bytes_ > kMostExtensionBytes
                 ? State::refused
                 : State::extension;
    case State::size_end:
      return c == '\n' ? after_size_line() : State::refused;
    case State::data_return:
      return c == '\r' ? State::data_end : State::refused;
    case State::data_end:
      return c == '\n' ? State::size : State::refused;
    // Trailers would be headers that no rule has seen: none is taken.
    case State::last_return:
      return c == '\r' ? State::last_end : State::refused;
    case State::last_end:
      return c == '\n' ? State::done : State::refused;
    default:
      return state_;
  }
}

std::size_t ChunkReader::take(std::string_view bytes, std::string& body) {
  std::size_t used = 0;
  while (used < bytes.size() && state_ != State::done && state_ != State::refused) {
    if (state_ == State::data) {
      const std::size_t part = std::min(left_, bytes.size() - used);
      body.append(bytes.substr(used, part));
      used += part;
      left_ -= part;
      if (left_ == 0) state_ = State::data_return;
      continue;
    }
    const State before = state_;
    state_ = after(bytes[used++]);
    if (state_ == State::data && before == State::size_end) {
      left_ = size_;
      total_ += size_;
      if (total_ > most_) {
        too_long_ = true;
        state_ = State::refused;
      }
    }
    if (state_ == State::size && before == State::data_end) {
      size_ = 0;
      digits_ = extension_bytes_ = 0;
    }
  }
  return used;
}

}  // namespace assay::net
