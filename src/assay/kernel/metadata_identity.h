#pragma once

// Ids of many rows: what rows share is turned into text once.

#include <memory>
#include <string>

#include "assay/kernel/metadata.h"

namespace assay {

class KernelIds {
 public:
  std::string id(const KernelMetadata& row);

 private:
  std::shared_ptr<const KernelTraits> traits_;  // Of the row before.
  std::string tail_;                            // From "family" on, keys being sorted.
};

Json design_json(const Design& design);

}  // namespace assay
