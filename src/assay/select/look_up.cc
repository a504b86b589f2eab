#include "assay/select/look_up.h"

#include <bit>

namespace assay {

LookUp::LookUp(size_t count)
    : mask_(std::bit_ceil(2 * count + 2) - 1), tags_(mask_ + 1, 0), slots_(mask_ + 1) {}

void LookUp::add(const Digest& digest, const Answer& answer) {
  size_t at = digest[0] & mask_;
  while (tags_[at] != 0) at = (at + 1) & mask_;
  tags_[at] = tag_of(digest);
  slots_[at] = {digest[1], answer};
}

}  // namespace assay
