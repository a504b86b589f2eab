#include "assay/op/renewal.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "assay/base/random.h"

namespace assay {
namespace {

constexpr uint64_t kLowerBits = uint64_t{1} << 32;  // Added to the stream: f64's other words.
constexpr uint64_t kSets = 0x73657473;              // A stream of its own.
constexpr size_t kPiece = 2048;                     // Words made at a time: they stay in cache.

constexpr int64_t kLineBytes = 64, kLines = 16;  // Bytes of a line; lines of a group.

// The finaliser of splitmix64 (Steele, Lea and Flood, 2014).
uint64_t mix(uint64_t word) {
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
  word = (word ^ word >> 27) * 0x94d049bb133111eb;
  return word ^ word >> 31;
}

// What a flip key means for one group of lines: which of them, and a bit for each element of it.
struct Flips {
  int64_t line;
  uint64_t elements;
};
Flips flips_of(uint64_t key, int64_t group) {
  const uint64_t word = mix(key + static_cast<uint64_t>(group) * 0x9e3779b97f4a7c15);
  return {static_cast<int64_t>(word % kLines), mix(word)};
}

// Whether element `at`, counted in memory, changes its sign.
bool flips(uint64_t key, int64_t at, int64_t size) {
  const int64_t line = at * size / kLineBytes;
  const Flips of_group = flips_of(key, line / kLines);
  return key != 0 && line % kLines == of_group.line &&
         (of_group.elements >> (at % (kLineBytes / size)) & 1) != 0;
}

template <class Bits>
Bits negated(Bits value) {
  if constexpr (std::is_signed_v<Bits>) return static_cast<Bits>(-value);  // An integer.
  return static_cast<Bits>(value ^ static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1)));
}

// Negates those elements of a dense operand that key says.
template <class Bits>
void apply_flips(uint64_t key, std::span<std::byte> operand) {
  constexpr int64_t kEach = kLineBytes / static_cast<int64_t>(sizeof(Bits));
  const auto count = static_cast<int64_t>(operand.size() / sizeof(Bits));
  for (int64_t group = 0; group * kLines * kEach < count; ++group) {
    const Flips of_group = flips_of(key, group);
    const int64_t first = (group * kLines + of_group.line) * kEach;
    for (int64_t i = 0; i < std::min(kEach, count - first); ++i) {
      if ((of_group.elements >> i & 1) == 0) continue;
      Bits value;
      std::byte* const at = operand.data() + (first + i) * static_cast<int64_t>(sizeof value);
      std::memcpy(&value, at, sizeof value);
      value = negated(value);
      std::memcpy(at, &value, sizeof value);
    }
  }
}

void apply_flips(DType dtype, uint64_t key, std::span<std::byte> operand) {
  if (key == 0) return;
  switch (dtype) {
    case DType::f64:
      return apply_flips<uint64_t>(key, operand);
    case DType::f32:
      return apply_flips<uint32_t>(key, operand);
    case DType::s8:
      return apply_flips<int8_t>(key, operand);
    case DType::s32:
      return apply_flips<int32_t>(key, operand);
    default:
      return apply_flips<uint16_t>(key, operand);
  }
}

// In (-1, 1), a multiple of 2^-24.
float unit_of(uint32_t word) {
  return static_cast<float>((static_cast<int32_t>(word) >> 8) * 2 + 1) * 0x1p-24f;
}

// Of a line that is not odd.
double value_of(const Renewal& renewal, uint32_t word, uint32_t lower) {
  if (!info(renewal.dtype).floating)
    return static_cast<double>(renewal.low +
                               static_cast<int64_t>(uint64_t{word} * renewal.count >> 32));
  double value = unit_of(word);
  if (renewal.dtype == DType::f64) value += static_cast<double>(lower >> 8) * 0x1p-48;
  return value * renewal.scale;
}

// Which element of a line's part is drawn.
int64_t drawn_place(const Renewal& renewal, int64_t line, int64_t part) {
  return static_cast<int64_t>(mix(renewal.key + static_cast<uint64_t>(line) * 0x9e3779b97f4a7c15 +
                                  static_cast<uint64_t>(part) * 0xd1b54a32d192ed03) %
                              static_cast<uint64_t>(renewal.part));
}

// The same of an odd one.
double odd_value(const Renewal& renewal, int64_t line, int64_t place, uint32_t word,
                 uint32_t lower) {
  const double value = value_of(renewal, word, lower);
  const int64_t part = place / renewal.part;
  const bool drawn =
      part < renewal.parts && place % renewal.part == drawn_place(renewal, line, part);
  const bool small = drawn == renewal.drawn_are_small;
  if (!small && renewal.drawn_are_small) return value;
  const double size = (value + (value < 0 ? -renewal.scale : renewal.scale)) / 2;
  if (!small) return size;
  return std::ldexp(size,
                    renewal.high - static_cast<int>((word & 0xff) * (renewal.reach + 1) >> 8));
}

// A float whose value a bf16 has fewer bits for, to the nearest even one.
uint16_t brain_of(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// The same of f16, without the conversions that few processors have: subnormals by the sum with a
// number whose last bit has their weight.
uint16_t half_of(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  const uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  return static_cast<uint16_t>(sign | (magnitude < (113u << 23) ? subnormal : normal));
}

// Elements that lie together, from that number on. Odd lines and flips come later.
class Run {
 public:
  explicit Run(const Renewal& renewal)
      : renewal_(renewal),
        random_{renewal.key, renewal.stream},
        lower_{renewal.key, renewal.stream + kLowerBits} {}

  void fill(int64_t first, int64_t count, std::byte* to) {
    const auto size = static_cast<size_t>(size_bytes(renewal_.dtype));
    for (int64_t done = 0; done < count;) {
      const auto some = static_cast<size_t>(std::min<int64_t>(count - done, kPiece));
      const auto at = static_cast<uint64_t>(first + done);
      random_.fill_words(at, std::span(words_).first(some));
      if (renewal_.dtype == DType::f64) lower_.fill_words(at, std::span(lowers_).first(some));
      convert(some, to + static_cast<size_t>(done) * size);
      done += static_cast<int64_t>(some);
    }
  }

 private:
  void convert(size_t count, std::byte* to) {
    const auto scale = static_cast<float>(renewal_.scale);
    switch (renewal_.dtype) {
      case DType::f32:
        return each<float>(count, to, [=](uint32_t word) { return unit_of(word) * scale; });
      case DType::bf16:
        return each<uint16_t>(count, to,
                              [=](uint32_t word) { return brain_of(unit_of(word) * scale); });
      case DType::f16:
        return each<uint16_t>(count, to,
                              [=](uint32_t word) { return half_of(unit_of(word) * scale); });
      case DType::s8:
        return each<int8_t>(
            count, to, [low = renewal_.low, n = uint64_t{renewal_.count}](uint32_t word) {
              return static_cast<int8_t>(low + static_cast<int64_t>(word * n >> 32));
            });
      default:
        for (size_t i = 0; i < count; ++i) values_[i] = value_of(renewal_, words_[i], lowers_[i]);
        convert_from_double(renewal_.dtype, values_.data(), static_cast<int64_t>(count), to);
    }
  }

  template <class Stored, class Make>
  void each(size_t count, std::byte* to, Make make) {
    for (size_t i = 0; i < count; ++i) {
      const Stored stored = make(words_[i]);
      std::memcpy(to + i * sizeof stored, &stored, sizeof stored);
    }
  }

  const Renewal& renewal_;
  CounterRandom random_, lower_;
  std::array<uint32_t, kPiece> words_, lowers_ = {};
  std::array<double, kPiece> values_;
};

int64_t offset_of(const Renewal& renewal, const std::array<int64_t, 3>& index) {
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d) offset += index[d] * renewal.strides[d];
  return offset;
}

// Dimensions by stride, and those that one run can hold joined: rows without gaps are one run.
void fill_all(const Renewal& renewal, std::span<std::byte> to) {
  std::array<size_t, 3> order = {0, 1, 2};
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](size_t d) { return renewal.strides[d]; });
  std::array<int64_t, 3> sizes, strides;
  for (size_t d = 0; d < order.size(); ++d) {
    sizes[d] = renewal.sizes[order[d]];
    strides[d] = renewal.strides[order[d]];
  }
  // A dimension of one element has no stride that means anything.
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] == 1) strides[d] = 0;
  int64_t run = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 1 || strides[d] != run) continue;
    run *= sizes[d];
    sizes[d] = 1;
  }
  const int64_t size = size_bytes(renewal.dtype);
  Run filled(renewal);
  for (int64_t i = 0; i < sizes[0]; ++i)
    for (int64_t j = 0; j < sizes[1]; ++j)
      for (int64_t k = 0; k < sizes[2]; ++k) {
        const int64_t at = i * strides[0] + j * strides[1] + k * strides[2];
        filled.fill(at, run, to.data() + at * size);
      }
}

void put(const Renewal& renewal, const std::array<int64_t, 3>& index, std::span<std::byte> to) {
  store_from_double(renewal.dtype, renewed_value(renewal, index),
                    to.data() + offset_of(renewal, index) * size_bytes(renewal.dtype));
}

// One by one, where elements do not lie together.
void fill_flipped(const Renewal& renewal, std::span<std::byte> to) {
  for (int64_t i = 0; i < renewal.sizes[0]; ++i)
    for (int64_t j = 0; j < renewal.sizes[1]; ++j)
      for (int64_t k = 0; k < renewal.sizes[2]; ++k) put(renewal, {i, j, k}, to);
}

// What is unlike the rest in odd lines: a few elements of each, or all.
void fill_odd_lines(const Renewal& renewal, std::span<std::byte> to) {
  const auto along = static_cast<size_t>(renewal.odd_dimension), across = 3 - along;
  std::array<int64_t, 3> index;
  for (index[0] = 0; index[0] < renewal.sizes[0]; ++index[0]) {
    for (int64_t line = renewal.odd_first; line < renewal.sizes[along]; line += renewal.odd_step) {
      index[along] = line;
      if (renewal.drawn_are_small) {
        for (int64_t part = 0; part < renewal.parts; ++part) {
          index[across] = part * renewal.part + drawn_place(renewal, line, part);
          put(renewal, index, to);
        }
      } else {
        for (index[across] = 0; index[across] < renewal.sizes[across]; ++index[across])
          put(renewal, index, to);
      }
    }
  }
}

bool is_dense(const Renewal& renewal, std::span<const std::byte> bytes) {
  return static_cast<size_t>(renewal.sizes[0] * renewal.sizes[1] * renewal.sizes[2] *
                             size_bytes(renewal.dtype)) == bytes.size();
}

}  // namespace

uint64_t set_seed(uint64_t key, size_t set) { return CounterRandom{key, kSets}.bits(set); }

double renewed_value(const Renewal& renewal, const std::array<int64_t, 3>& index) {
  const int64_t at = offset_of(renewal, index);
  const auto counter = static_cast<uint64_t>(at);
  const uint32_t word = CounterRandom{renewal.key, renewal.stream}.word(counter);
  const uint32_t lower = renewal.dtype == DType::f64
                             ? CounterRandom{renewal.key, renewal.stream + kLowerBits}.word(counter)
                             : 0;
  const int64_t line = index[static_cast<size_t>(renewal.odd_dimension)];
  const int64_t place = index[static_cast<size_t>(3 - renewal.odd_dimension)];
  const bool odd = info(renewal.dtype).floating && renewal.is_odd(line);
  const double value =
      odd ? odd_value(renewal, line, place, word, lower) : value_of(renewal, word, lower);
  return flips(renewal.flip_key, at, size_bytes(renewal.dtype)) ? -value : value;
}

void flip_again(const Renewal& renewal, uint64_t from, uint64_t to, std::span<std::byte> operand) {
  if (is_dense(renewal, operand)) {
    apply_flips(renewal.dtype, from, operand);
    apply_flips(renewal.dtype, to, operand);
    return;
  }
  Renewal all = renewal;
  all.flip_key = to;
  renew(all, operand);
}

void renew(const Renewal& renewal, std::span<std::byte> to) {
  const int64_t size = size_bytes(renewal.dtype);
  int64_t needed = 1;
  for (size_t d = 0; d < 3; ++d) {
    if (renewal.sizes[d] <= 0) return;
    needed += (renewal.sizes[d] - 1) * renewal.strides[d];
  }
  if (static_cast<int64_t>(to.size()) < needed * size) return;
  fill_all(renewal, to);
  const bool dense = is_dense(renewal, to);
  if (dense) apply_flips(renewal.dtype, renewal.flip_key, to);
  if (renewal.flip_key != 0 && !dense) fill_flipped(renewal, to);
  if (renewal.odd_step > 0 && info(renewal.dtype).floating) fill_odd_lines(renewal, to);
}

}  // namespace assay
