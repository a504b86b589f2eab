#include "assay/base/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <errno.h>
#include <sys/random.h>

#include "assay/base/fd.h"
#include "assay/base/hash.h"

namespace assay {
namespace {

double to_unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }
double to_symmetric(std::uint64_t bits) { return 2 * to_unit(bits) - 1; }

// The nearest float at or below |value|: rounding to nearest could give 1.0, which is outside.
float truncate_to_float(double value) {
  const float nearest = static_cast<float>(value);
  return std::fabs(static_cast<double>(nearest)) > std::fabs(value) ? std::nextafterf(nearest, 0)
                                                                    : nearest;
}

std::uint64_t half(const std::array<std::uint32_t, 4>& block, bool upper) {
  return upper ? block[2] | static_cast<std::uint64_t>(block[3]) << 32
               : block[0] | static_cast<std::uint64_t>(block[1]) << 32;
}

constexpr int kRounds = 10;
constexpr std::uint64_t kFactor0 = 0xD2511F53, kFactor1 = 0xCD9E8D57;  // The paper's, table 2.
constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;

// Blocks that are worked out side by side: words of 32 bits in lanes of 64, which hold products.
constexpr std::size_t kLanes = 8, kGroup = 2 * kLanes;
using Words = std::uint64_t __attribute__((vector_size(8 * kLanes)));
using Doubles = double __attribute__((vector_size(8 * kLanes)));

// to_symmetric() of two words, in steps that are all exact and that vector units have.
[[gnu::always_inline]] inline Doubles symmetric(const Words& low, const Words& high) {
  constexpr auto kOne = std::bit_cast<std::uint64_t>(0x1p52);  // The last bit's weight is 1.
  const Doubles upper = std::bit_cast<Doubles>(high | kOne) - 0x1p52;
  const Doubles lower = std::bit_cast<Doubles>(low >> 11 | kOne) - 0x1p52;
  return (upper * 0x1p-31 - 1) + lower * 0x1p-52;
}

// The words of kLanes blocks from `block` on, in lanes of 64 bits.
struct Lanes {
  Words x0, x1, x2, x3;
};
[[gnu::always_inline]] inline Lanes blocks_from(const CounterRandom& random, std::uint64_t block) {
  constexpr std::uint64_t kWord = 0xffffffff;
  constexpr Words kPlaces = {0, 1, 2, 3, 4, 5, 6, 7};
  const Words counter = kPlaces + block;
  Words x0 = counter & kWord, x1 = counter >> 32;
  Words x2 = Words{} + (random.stream & kWord), x3 = Words{} + (random.stream >> 32);
  auto k0 = static_cast<std::uint32_t>(random.key);
  auto k1 = static_cast<std::uint32_t>(random.key >> 32);
  for (int round = 0; round < kRounds; ++round, k0 += kWeyl0, k1 += kWeyl1) {
    const Words p0 = x0 * kFactor0, p1 = x2 * kFactor1;
    x0 = p1 >> 32 ^ x1 ^ k0;
    x2 = p0 >> 32 ^ x3 ^ k1;
    x1 = p1 & kWord;
    x3 = p0 & kWord;
  }
  return {x0, x1, x2, x3};
}

// The uniform values of whole groups, from that of a block's first word on.
[[gnu::always_inline]] inline void fill_groups(const CounterRandom& random, std::uint64_t block,
                                               double* out, std::size_t groups) {
  for (std::size_t group = 0; group < groups; ++group, block += kLanes, out += kGroup) {
    const Lanes lanes = blocks_from(random, block);
    const Doubles even = symmetric(lanes.x0, lanes.x1), odd = symmetric(lanes.x2, lanes.x3);
    const Doubles first = __builtin_shufflevector(even, odd, 0, 8, 1, 9, 2, 10, 3, 11);
    const Doubles second = __builtin_shufflevector(even, odd, 4, 12, 5, 13, 6, 14, 7, 15);
    std::memcpy(out, &first, sizeof first);
    std::memcpy(out + kLanes, &second, sizeof second);
  }
}

// Whole words of whole groups of blocks: 4 * kLanes each. Little endian.
[[gnu::always_inline]] inline void fill_groups(const CounterRandom& random, std::uint64_t block,
                                               std::uint32_t* out, std::size_t groups) {
  for (std::size_t group = 0; group < groups; ++group, block += kLanes, out += 4 * kLanes) {
    const Lanes lanes = blocks_from(random, block);
    const Words low = lanes.x0 | lanes.x1 << 32, high = lanes.x2 | lanes.x3 << 32;
    const Words first = __builtin_shufflevector(low, high, 0, 8, 1, 9, 2, 10, 3, 11);
    const Words second = __builtin_shufflevector(low, high, 4, 12, 5, 13, 6, 14, 7, 15);
    std::memcpy(out, &first, sizeof first);
    std::memcpy(out + 2 * kLanes, &second, sizeof second);
  }
}

template <class Out>
void fill_baseline(const CounterRandom& random, std::uint64_t block, Out* out, std::size_t groups) {
  fill_groups(random, block, out, groups);
}
#if defined(__x86_64__)
template <class Out>
[[gnu::target("avx2")]] void fill_avx2(const CounterRandom& random, std::uint64_t block, Out* out,
                                       std::size_t groups) {
  fill_groups(random, block, out, groups);
}
template <class Out>
[[gnu::target("avx512f,avx512dq")]] void fill_avx512(const CounterRandom& random,
                                                     std::uint64_t block, Out* out,
                                                     std::size_t groups) {
  fill_groups(random, block, out, groups);
}
#endif

template <class Out>
auto* choose_fill(VectorUnit unit) {
#if defined(__x86_64__)
  if (unit == VectorUnit::avx512) return fill_avx512<Out>;
  if (unit == VectorUnit::avx2) return fill_avx2<Out>;
#endif
  return fill_baseline<Out>;
}

std::uint64_t first_64_bits(const Sha256Digest& digest) {
  std::uint64_t seed = 0;
  for (int i = 7; i >= 0; --i) seed = seed << 8 | digest[i];
  return seed;
}

}  // namespace

std::array<std::uint32_t, 4> CounterRandom::at(std::uint64_t counter) const {
  auto x0 = static_cast<std::uint32_t>(counter), x1 = static_cast<std::uint32_t>(counter >> 32);
  auto x2 = static_cast<std::uint32_t>(stream), x3 = static_cast<std::uint32_t>(stream >> 32);
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < kRounds; ++round, k0 += kWeyl0, k1 += kWeyl1) {
    const std::uint64_t p0 = kFactor0 * x0, p1 = kFactor1 * x2;
    x0 = static_cast<std::uint32_t>(p1 >> 32) ^ x1 ^ k0;
    x2 = static_cast<std::uint32_t>(p0 >> 32) ^ x3 ^ k1;
    x1 = static_cast<std::uint32_t>(p1);
    x3 = static_cast<std::uint32_t>(p0);
  }
  return {x0, x1, x2, x3};
}

std::uint64_t CounterRandom::bits(std::uint64_t index) const {
  return half(at(index / 2), index % 2 == 1);
}

double CounterRandom::uniform(std::uint64_t index) const { return to_symmetric(bits(index)); }
double CounterRandom::uniform_unit(std::uint64_t index) const { return to_unit(bits(index)); }

std::uint64_t CounterRandom::below(std::uint64_t index, std::uint64_t bound) const {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(bits(index)) * bound >> 64);
}

void CounterRandom::fill_uniform(std::uint64_t first, std::span<double> out,
                                 VectorUnit unit) const {
  size_t i = 0;
  if (first % 2 == 1 && !out.empty()) out[i++] = uniform(first);
  const size_t groups = (out.size() - i) / kGroup;
  if (groups > 0)
    choose_fill<double>(resolve(unit))(*this, (first + i) / 2, out.data() + i, groups);
  for (i += groups * kGroup; i < out.size(); ++i) out[i] = uniform(first + i);
}

void CounterRandom::fill_uniform(std::uint64_t first, std::span<float> out) const {
  std::array<double, 16 * kGroup> part;
  for (size_t at = 0; at < out.size(); at += part.size()) {
    const std::span<double> some = std::span(part).first(std::min(part.size(), out.size() - at));
    fill_uniform(first + at, some);
    std::ranges::transform(some, out.begin() + static_cast<std::ptrdiff_t>(at), truncate_to_float);
  }
}

void CounterRandom::fill_words(std::uint64_t first, std::span<std::uint32_t> out,
                               VectorUnit unit) const {
  constexpr size_t kWords = 4 * kLanes;
  size_t i = 0;
  for (; (first + i) % 4 != 0 && i < out.size(); ++i) out[i] = word(first + i);
  const size_t groups = (out.size() - i) / kWords;
  if (groups > 0)
    choose_fill<std::uint32_t>(resolve(unit))(*this, (first + i) / 4, out.data() + i, groups);
  for (i += groups * kWords; i < out.size(); ++i) out[i] = word(first + i);
}

Result<SecretSeed> secret_seed() {
  SecretSeed seed;
  std::size_t got = 0;
  while (got < seed.size()) {
    const ssize_t n = getrandom(seed.data() + got, seed.size() - got, 0);
    if (n < 0 && errno != EINTR) {
      return fail(ErrorCode::machine, "cannot read the system's random numbers: {}",
                  errno_text(errno));
    }
    if (n > 0) got += static_cast<std::size_t>(n);
  }
  return seed;
}

std::uint64_t seed_from(std::span<const std::byte> bytes) { return first_64_bits(sha256(bytes)); }

std::uint64_t seed_from(std::string_view text) {
  return seed_from(std::as_bytes(std::span<const char>(text.data(), text.size())));
}

std::uint64_t seed_from(const SecretSeed& seed, std::string_view purpose) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span<const std::uint8_t>(seed)));
  hash.update(purpose);
  return first_64_bits(hash.digest());
}

}  // namespace assay
