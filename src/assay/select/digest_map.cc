#include "assay/select/digest_map.h"

#include <bit>

namespace assay {

DigestMap::DigestMap(size_t count)
    : mask_(std::bit_ceil(count + count / 2 + 2) - 1), slots_(mask_ + 1) {}

void DigestMap::add(const FastDigest& digest, const Answer& answer) {
  size_t at = digest[0] & mask_;
  while (slots_[at].taken) at = (at + 1) & mask_;
  slots_[at] = {digest, answer, true};
}

}  // namespace assay
