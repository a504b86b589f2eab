#include "assay/report/page_files.h"

#include "assay/base/embedded.h"

namespace assay::report_page {
std::span<const EmbeddedFile> embedded_files();
}

namespace assay::report {

std::string_view page_file(std::string_view name) {
  return find_embedded(report_page::embedded_files(), name);
}

}  // namespace assay::report
