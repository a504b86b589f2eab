#pragma once

// Seeds of a proof's instances that are of one kind of inputs: they differ in their last bits
// alone. So an operation can spread what it draws over all of them (user/inputs.h).

#include <cstdint>

namespace assay {

inline constexpr uint64_t kMostOfAKind = 64;  // Instances in a proof.

inline uint64_t seed_of_one(uint64_t seed, uint64_t instance) {
  return seed - seed % kMostOfAKind + instance;
}

}  // namespace assay
