#include "assay/base/keyed_random.h"

#include <algorithm>
#include <bit>
#include <random>
#include <utility>

namespace assay {
namespace {

using Block = std::array<std::uint32_t, 16>;

void quarter_round(Block& block, int a, int b, int c, int d) {
  const auto step = [&](int to, int from, int turned, int by) {
    block[to] += block[from];
    block[turned] = std::rotl(block[turned] ^ block[to], by);
  };
  step(a, b, d, 16);
  step(c, d, b, 12);
  step(a, b, d, 8);
  step(c, d, b, 7);
}

}  // namespace

Block chacha20_block(const std::array<std::uint32_t, 8>& key, std::uint32_t counter,
                     const std::array<std::uint32_t, 3>& nonce) {
  Block start = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};  // "expand 32-byte k".
  std::ranges::copy(key, start.begin() + 4);
  start[12] = counter;
  std::ranges::copy(nonce, start.begin() + 13);
  Block block = start;
  for (int round = 0; round < 10; ++round) {
    for (int column = 0; column < 4; ++column)
      quarter_round(block, column, 4 + column, 8 + column, 12 + column);
    for (int line = 0; line < 4; ++line)
      quarter_round(block, line, 4 + (line + 1) % 4, 8 + (line + 2) % 4, 12 + (line + 3) % 4);
  }
  for (size_t i = 0; i < block.size(); ++i) block[i] += start[i];
  return block;
}

KeyedRandom::KeyedRandom(const SecretSeed& key) {
  for (size_t i = 0; i < key.size(); ++i) key_[i / 4] |= std::uint32_t{key[i]} << 8 * (i % 4);
}

KeyedRandom KeyedRandom::from_system() {
  if (const auto seed = secret_seed()) return KeyedRandom(*seed);
  std::random_device device;  // Where the system call is missing.
  SecretSeed seed{};
  for (auto& byte : seed) byte = static_cast<std::uint8_t>(device());
  return KeyedRandom(seed);
}

void KeyedRandom::refill() {
  const Block block = chacha20_block(key_, 0, {});
  std::copy_n(block.begin(), key_.size(), key_.begin());
  std::copy_n(block.begin() + 8, numbers_.size(), numbers_.begin());
  used_ = 0;
}

KeyedRandom::result_type KeyedRandom::operator()() {
  if (used_ == numbers_.size()) refill();
  const std::uint64_t low = std::exchange(numbers_[used_++], 0);
  const std::uint64_t high = std::exchange(numbers_[used_++], 0);
  return low | high << 32;
}

}  // namespace assay
