#pragma once

// The fields of RanCode. Private to messages/.

#include "assay/base/archive.h"
#include "assay/process/messages/begin.h"

namespace assay::process {

template <class A, archive::Is<RanCode::Stretch> T>
void describe(A& archive, T& stretch) {
  archive("first", stretch.first);
  archive("behind", stretch.behind);
}

template <class A, archive::Is<RanCode> T>
void describe(A& archive, T& code) {
  archive("file", code.file);
  archive("offset", code.offset);
  archive("stretches", code.stretches);
}

}  // namespace assay::process
