#pragma once

// The fields of a KernelChoice.

#include "assay/base/archive.h"
#include "assay/kernel/kernel_choice.h"

namespace assay {

template <class Archive, archive::Is<KernelChoice> Choice>
void describe(Archive& archive, Choice& choice) {
  archive("ids", choice.ids);
  archive("providers", choice.providers);
  archive("families", choice.families);
}

}  // namespace assay
