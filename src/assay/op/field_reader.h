#pragma once

// The fields of one problem as an operation takes them, with a sentence for each that is not as its
// rule says.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/op/operation.h"
#include "assay/tensor/dtype.h"

namespace assay {

// Errors begin with the field: "k: missing; ...". A field that is not there leaves `out` alone.
class FieldReader {
 public:
  // All must outlive it.
  FieldReader(std::string_view operation, std::span<const FieldRule> rules, const Json& fields)
      : operation_(operation), rules_(rules), fields_(fields) {}

  // No field is unknown, each required one is there, and it is this operation that they are of.
  Status check() const;

  Status integer(std::string_view name, int64_t& out) const;  // Within the rule's bounds.
  Status integer(std::string_view name, std::optional<int64_t>& out) const;
  Status number(std::string_view name, double& out) const;
  Status text(std::string_view name, std::string& out) const;
  Status dtype(std::string_view name, std::optional<DType>& out) const;
  Status texts(std::string_view name, std::vector<std::string>& out) const;

 private:
  const Json* find(std::string_view name) const;

  std::string_view operation_;
  std::span<const FieldRule> rules_;
  const Json& fields_;
};

}  // namespace assay
