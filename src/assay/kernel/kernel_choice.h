#pragma once

// Which kernels may take part, by what they are. Names are for people: a filter asks for those.

#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/kernel/metadata.h"
#include "assay/kernel/provider.h"

namespace assay {

struct KernelChoice {
  std::vector<std::string> ids;        // KernelMetadata::has_id().
  std::vector<std::string> providers;  // All kernels of these.
  std::vector<std::string> families;   // All kernels of these, among what users brought.

  bool admits(const KernelMetadata& row, ProviderRole role) const;
};

Json to_json(const std::vector<KernelChoice>& choices);

}  // namespace assay
