#pragma once

// What a history's first lines say, so that a long one is not parsed each time. It is made from the
// history, holds for exactly the bytes that it was made from, and can be deleted.

#include <cstdint>
#include <filesystem>
#include <optional>

#include "assay/lab/files/history.h"

namespace assay::lab {

struct HistoryIndex {
  HistoryContent content;
  std::uint64_t bytes = 0;  // Of the history: what it covers.
  std::uint64_t lines = 0;
};

// Below `cache`, one for each case.
std::filesystem::path index_file(const std::filesystem::path& cache,
                                 const std::filesystem::path& case_folder);

// None where there is no index, or where the history does not begin with what it was made from.
std::optional<HistoryIndex> load_history_index(const std::filesystem::path& index,
                                               const std::filesystem::path& history);
Status save_history_index(const std::filesystem::path& index, const std::filesystem::path& history,
                          const HistoryIndex& content);

}  // namespace assay::lab
