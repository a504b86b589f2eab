#pragma once

// Random numbers for choices of which somebody hostile sees some: from those nobody can tell the
// others, earlier or later ones. (A Mersenne twister is known whole after 312 of its words.)

#include <array>
#include <cstdint>

#include "assay/base/random.h"

namespace assay {

// ChaCha20's block function (RFC 8439, section 2.3), as words.
std::array<std::uint32_t, 16> chacha20_block(const std::array<std::uint32_t, 8>& key,
                                             std::uint32_t counter,
                                             const std::array<std::uint32_t, 3>& nonce);

// Stands where the standard library wants a generator of random bits. Each block gives the next
// block's key and then its numbers, so that what a process holds says nothing of what it has given.
class KeyedRandom {
 public:
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return UINT64_MAX; }

  explicit KeyedRandom(const SecretSeed& key);
  // Keyed by the system's random numbers.
  static KeyedRandom from_system();

  result_type operator()();

 private:
  void refill();

  std::array<std::uint32_t, 8> key_{};
  std::array<std::uint32_t, 8> numbers_{};
  std::size_t used_ = 8;  // Of the numbers.
};

}  // namespace assay
