#include "assay/report/safe.h"

#include "assay/base/text.h"

namespace assay::report {

std::string safe(std::string_view text, std::size_t most_bytes) {
  return sanitize(text, most_bytes);
}

}  // namespace assay::report
