#pragma once

// Fresh numbers for the operands of timed launches, as a worker makes them, and again the referee,
// which knows the seed, on the host or on a GPU. Every operand set has numbers of its own: what a
// kernel keeps of one set, or of one launch, says nothing of any other.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "assay/op/problem.h"

namespace assay {

// What the inputs of one timed launch were made from: one operand set, and one launch on it.
struct InputSeeds {
  uint64_t set = 0, launch = 0;

  bool renewed() const { return launch != 0; }
  bool operator==(const InputSeeds&) const = default;
};

// The seed of one operand set of a process, whose key nobody else has.
uint64_t set_seed(uint64_t key, size_t set);

// Whether each launch gets numbers of its own for it.
inline bool varies(const Operand& operand) {
  return operand.lifetime == Lifetime::per_call && operand.access != Access::write;
}
// One operand's numbers. Element i (counted in memory from the operand's first element) is made
// from word i of CounterRandom{key, stream}:
//   floats    (2 floor(word / 2^8) + 1 - 2^24) / 2^24 * scale, the word's sign taken as that of a
//             32-bit integer: never zero, and exact in 24 bits; rounded to nearest where the type
//             has fewer. f64 adds 24 bits more, of stream + 2^32.
//   integers  low + floor(word * count / 2^32)
// With a flip_key some change their signs: of every sixteen lines of 64 bytes, counted in memory
// from the operand's first element, one is drawn, and in it every element with probability 1/2
// (flips()). That is how a large operand is not what a kernel has kept of it, at the price of one
// line in eight.
// Of an odd line (index odd_first, odd_first + odd_step, ... of one dimension) each of `parts`
// parts has one element drawn; the drawn ones are small, or all others are. With f = (v - 1) / 2 or
// (v + 1) / 2, of the sign of the float v, small ones are f 2^(high - e), e = floor((word mod 2^8)
// (reach + 1) / 2^8). If the drawn ones are not small they are f. (gemm/lines.h says what for.)
struct Renewal {
  DType dtype = DType::f32;
  uint64_t key = 0, stream = 0, flip_key = 0;
  std::array<int64_t, 3> sizes = {1, 1, 1}, strides = {0, 0, 0};  // Outermost first; elements.
  double scale = 1;                                               // A power of two.
  int64_t low = 0;                                                // Of integers:
  uint32_t count = 1;                                             // so many from `low` on.

  int odd_dimension = 1;                // Lines are counted along this, 1 or 2; places in
  int64_t odd_first = 0, odd_step = 0;  // them along the other. Step 0: no line is odd.
  int64_t part = 1, parts = 0;          // Elements of a part; parts.
  bool drawn_are_small = false;
  int high = 0;
  uint32_t reach = 0;  // Below 256.

  bool is_odd(int64_t line) const {
    return odd_step > 0 && line >= odd_first && (line - odd_first) % odd_step == 0;
  }
};

// Writes every element and nothing between strided ones. Nothing where `to` is too short.
void renew(const Renewal& renewal, std::span<std::byte> to);

// Makes of an operand with flip key `from` one with flip key `to`; all else is as `renewal` says.
void flip_again(const Renewal& renewal, uint64_t from, uint64_t to, std::span<std::byte> operand);

// One element, before it is rounded to the type.
double renewed_value(const Renewal& renewal, const std::array<int64_t, 3>& index);

}  // namespace assay
