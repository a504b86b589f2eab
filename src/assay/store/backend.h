#pragma once

// One kind of store. A folder store/<name>/ with sources defines
//   namespace assay::store::<name> { const Backend& backend(); }
// and is then one that open_store() knows.

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "assay/store/store.h"

namespace assay::store {

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;  // Before the colon of "NAME:PLACE".
  virtual bool takes_paths() const = 0;       // A place without a name is a file's path.
  virtual Result<std::unique_ptr<Store>> open(const std::string& place, Access access) const = 0;
};

std::span<const Backend* const> built_in_backends();

}  // namespace assay::store
