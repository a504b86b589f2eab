#include "assay/base/random.h"

#include <cmath>
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

template <class T, class Convert>
void fill(const CounterRandom& random, std::uint64_t first, std::span<T> out, Convert convert) {
  std::size_t i = 0;
  while (i < out.size()) {
    const std::uint64_t index = first + i;
    const auto block = random.at(index / 2);
    if (index % 2 == 0) out[i++] = convert(half(block, false));
    if (i < out.size()) out[i++] = convert(half(block, true));
  }
}

std::uint64_t first_64_bits(const Sha256Digest& digest) {
  std::uint64_t seed = 0;
  for (int i = 7; i >= 0; --i) seed = seed << 8 | digest[i];
  return seed;
}

}  // namespace

std::array<std::uint32_t, 4> CounterRandom::at(std::uint64_t counter) const {
  std::uint32_t x0 = static_cast<std::uint32_t>(counter);
  std::uint32_t x1 = static_cast<std::uint32_t>(counter >> 32);
  std::uint32_t x2 = static_cast<std::uint32_t>(stream);
  std::uint32_t x3 = static_cast<std::uint32_t>(stream >> 32);
  std::uint32_t k0 = static_cast<std::uint32_t>(key);
  std::uint32_t k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * x0;  // The paper's multipliers and Weyl
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * x2;  // constants, table 2.
    const std::uint32_t y0 = static_cast<std::uint32_t>(p1 >> 32) ^ x1 ^ k0;
    const std::uint32_t y2 = static_cast<std::uint32_t>(p0 >> 32) ^ x3 ^ k1;
    x1 = static_cast<std::uint32_t>(p1);
    x3 = static_cast<std::uint32_t>(p0);
    x0 = y0;
    x2 = y2;
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
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

void CounterRandom::fill_uniform(std::uint64_t first, std::span<double> out) const {
  fill(*this, first, out, to_symmetric);
}

void CounterRandom::fill_uniform(std::uint64_t first, std::span<float> out) const {
  fill(*this, first, out, [](std::uint64_t bits) { return truncate_to_float(to_symmetric(bits)); });
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
