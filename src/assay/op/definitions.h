#pragma once

// Operations that users define.

#include <string_view>

#include "assay/base/operation_name.h"
#include "assay/base/result.h"
#include "assay/op/operation.h"

namespace assay {

// Of an Operation, beside it.
class Definitions {
 public:
  virtual ~Definitions() = default;
  // The operation whose name is this one's, a colon and `rest`; it stays.
  virtual Result<const Operation*> defined(std::string_view rest) const = 0;
};

}  // namespace assay
