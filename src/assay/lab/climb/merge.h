#pragma once

// A change that was made from an older best state, on top of the newer one; and one that no attempt
// was made of, put aside.

#include <filesystem>
#include <string>
#include <vector>

#include "assay/lab/files/tree.h"

namespace assay::lab {

// What a merge needs of the three sides; folders hold the files of their trees.
struct MergeSides {
  Tree base;                     // From which the change was made; its texts are in the store.
  std::filesystem::path ours;    // The change.
  std::filesystem::path theirs;  // The newer state; it becomes the merge.
};

// The path that both changed in ways that do not go together; empty: `theirs` holds the merge.
// Texts are merged by `git merge-file`; without git, both changing one file is a conflict.
Result<std::string> merge_change(const MergeSides& sides, const TreeStore& store,
                                 const std::vector<std::string>& environment);

struct Change {
  Tree before;
  std::filesystem::path after;  // The folder that was `before`, and was changed.
};

// Below `target`, which is made: the files that are new or have other bytes, in files/, and a list
// `removed` of those that are gone. False where nothing changed, and nothing is made.
Result<bool> copy_change(const Change& change, const std::filesystem::path& target);

}  // namespace assay::lab
