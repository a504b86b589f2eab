#pragma once

// Ids of many rows: what rows share is turned into text once. And designs as JSON.

#include <memory>
#include <optional>
#include <string>

#include "assay/kernel/metadata.h"

namespace assay {

inline constexpr int64_t kVersionOfCalls = 2;  // Of ids; those of version 1 cover no call.

class KernelIds {
 public:
  std::string id(const KernelMetadata& row);
  std::string artifact_id(const KernelMetadata& row);
  std::string id_of_version_1(const KernelMetadata& row);

 private:
  std::string hash(const KernelMetadata& row, const Json& design);

  std::shared_ptr<const KernelTraits> traits_;  // Of the row before.
  std::string tail_;                            // From "family" on, keys being sorted.
};

Json design_json(const Design& design);
Json design_json(const Value& value);
// None for what no attribute can be: null, lists and objects.
std::optional<Value> design_value(const Json& json);

}  // namespace assay
