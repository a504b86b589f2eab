#pragma once

// Two hashes: SHA-256 for identity (content addresses, seed commitments), XXH3 for everything that
// only needs to be fast.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace assay {

using Sha256Digest = std::array<std::uint8_t, 32>;
using FastDigest = std::array<std::uint64_t, 2>;

Sha256Digest sha256(std::span<const std::byte> bytes);
std::string sha256_hex(std::span<const std::byte> bytes);  // 64 lower-case digits.
std::string sha256_hex(std::string_view text);

// SHA-256 of what arrives in pieces. To keep ("ab", "c") and ("a", "bc") apart, use update_field.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);
  void update_field(std::string_view text);  // The length (8 bytes, little endian), then the text.
  // The digest of everything so far; more may be added afterwards.
  Sha256Digest digest() const;
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string to_hex(std::span<const std::uint8_t> bytes);

// XXH3, 64 bits. Not against adversaries.
std::uint64_t fast_hash(std::span<const std::byte> bytes, std::uint64_t seed = 0);
std::uint64_t fast_hash(std::string_view text, std::uint64_t seed = 0);

// XXH3, 128 bits: what look-ups take for identity where nobody attacks.
FastDigest fast_digest(std::span<const std::byte> bytes, std::uint64_t seed = 0);
FastDigest fast_digest(std::string_view text, std::uint64_t seed = 0);

}  // namespace assay
