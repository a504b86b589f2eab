#include "assay/select/look_up.h"

#include <bit>

namespace assay {

LookUp::LookUp(size_t count) : mask_(std::bit_ceil(count + count / 2 + 2) - 1), slots_(mask_ + 1) {}

void LookUp::add(const FastDigest& digest, const Answer& answer) {
  size_t at = digest[0] & mask_;
  while (slots_[at].taken) at = (at + 1) & mask_;
  slots_[at] = {digest, answer, true};
}

}  // namespace assay
