#pragma once

// The JSON part of a table's file: origin, kernels and kinds. Not for use outside select.

#include <optional>
#include <string_view>
#include <vector>

#include "assay/select/table_contents.h"

namespace assay {

inline constexpr std::string_view kTableSchema = "assay.table/1";

Json head_of(const TableContents& contents);

// Everything but problems and the blobs' bytes. blob_of[i]: where kernel i's bytes stand among the
// file's blobs; none where it has no blob.
struct TableHead {
  TableContents contents;
  std::vector<std::optional<size_t>> blob_of;
};
Result<TableHead> read_head(std::string_view text, std::string_view origin);

}  // namespace assay
