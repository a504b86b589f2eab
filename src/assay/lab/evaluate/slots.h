#pragma once

// The two folders in which candidate and incumbent are built and measured, outside of everybody's
// checkout: copies of the case, with paths of one length, since the path alone can bias a timing.

#include <array>
#include <filesystem>
#include <string>

#include "assay/base/result.h"
#include "assay/lab/files/tree.h"

namespace assay::lab {

class Slots {
 public:
  // Below `cache`, one pair for each case.
  static Result<Slots> open(const std::filesystem::path& cache,
                            const std::filesystem::path& case_folder);

  struct Slot {
    std::filesystem::path folder;
    bool built = false;  // Holds what an earlier attempt built of the same tree.
  };
  // A folder that holds `tree`, and nothing else but what was built of it. Two calls give two
  // folders, also of one tree. A folder that was left alone since is used as it is.
  Result<Slot> prepare(const TreeStore& store, const Tree& tree);
  // What is there was built of its tree.
  Status mark_built(const Slot& slot);
  // The two exchange their folders.
  Status swap();
  // Empties one of the two.
  Status discard(const std::filesystem::path& slot_folder);
  // For the next attempt: none is taken.
  void release() { taken_ = {}; }

 private:
  explicit Slots(std::filesystem::path root) : root_(std::move(root)) {}
  std::filesystem::path folder(size_t which) const { return root_ / (which == 0 ? "a" : "b"); }
  std::filesystem::path marker(size_t which) const {
    return root_ / (which == 0 ? "a.id" : "b.id");
  }
  std::string mark_of(size_t which) const;
  Status clear(size_t which) const;

  std::filesystem::path root_;
  std::array<bool, 2> taken_{};
};

}  // namespace assay::lab
