#pragma once

// The files that users write, or that assay leaves behind, each with its JSON Schema.

#include <span>
#include <string_view>

#include "assay/base/json_fwd.h"

namespace assay::cli {

struct FileSchema {
  std::string_view name;  // "case"; that of its file in docs/reference/schemas.
  std::string_view file;  // "case.yaml"
  std::string_view summary;
  Json (*make)();
};

std::span<const FileSchema> file_schemas();

}  // namespace assay::cli
