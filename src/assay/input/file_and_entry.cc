#include "assay/input/file_and_entry.h"

namespace assay::input {

FileAndEntry split_entry(std::string_view text) {
  const size_t slash = text.rfind('/');
  const size_t colons = text.find("::", slash == std::string_view::npos ? 0 : slash + 1);
  if (colons == std::string_view::npos) return {std::string(text), {}};
  return {std::string(text.substr(0, colons)), std::string(text.substr(colons + 2))};
}

}  // namespace assay::input
