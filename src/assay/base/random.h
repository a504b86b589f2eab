#pragma once

// Random numbers by counter: the i-th value depends on key, stream and i alone, so that any thread
// can make any part of an input in any order and get the same bits.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "assay/base/result.h"
#include "assay/base/vector_unit.h"

namespace assay {

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel Random Numbers: As Easy as 1, 2, 3", SC
// 2011). The counter fills the low 64 bits of its block number, the stream the high ones.
struct CounterRandom {
  std::uint64_t key = 0;
  std::uint64_t stream = 0;

  std::array<std::uint32_t, 4> at(std::uint64_t counter) const;
  std::uint64_t bits(std::uint64_t index) const;   // Two of them per block.
  double uniform(std::uint64_t index) const;       // In [-1, 1), a multiple of 2^-52.
  double uniform_unit(std::uint64_t index) const;  // In [0, 1), a multiple of 2^-53.
  // In [0, bound), 0 if bound is 0. The bias is below bound / 2^64.
  std::uint64_t below(std::uint64_t index, std::uint64_t bound) const;

  // out[i] = uniform(first + i), many at once.
  void fill_uniform(std::uint64_t first, std::span<double> out,
                    VectorUnit unit = VectorUnit::best) const;
  void fill_uniform(std::uint64_t first, std::span<float> out) const;  // Rounded towards zero: < 1.

  // 32 random bits; four of them per block.
  std::uint32_t word(std::uint64_t index) const { return at(index / 4)[index % 4]; }
  // out[i] = word(first + i), many at once.
  void fill_words(std::uint64_t first, std::span<std::uint32_t> out,
                  VectorUnit unit = VectorUnit::best) const;
};

using SecretSeed = std::array<std::uint8_t, 32>;

// From the kernel's generator (getrandom); waits for its entropy at boot.
Result<SecretSeed> secret_seed();

// The first 64 bits of SHA-256, little endian: seeds named by text, or derived from a secret one.
std::uint64_t seed_from(std::span<const std::byte> bytes);
std::uint64_t seed_from(std::string_view text);
std::uint64_t seed_from(const SecretSeed& seed, std::string_view purpose);

}  // namespace assay
