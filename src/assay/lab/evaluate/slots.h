#pragma once

// The two folders in which candidate and incumbent are built and measured, outside of everybody's
// checkout: copies of the case, with paths of one length, since the path alone can bias a timing.

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/lab/files/tree.h"

namespace assay::lab {

// When each file of a folder was written last. One that somebody wrote and put back shows, too.
class FolderStamp {
 public:
  static Result<FolderStamp> of(const std::filesystem::path& folder);
  // A file that was made, written or removed between the two; empty where there is none.
  std::string change_to(const FolderStamp& later) const;
  // The same of files that are there already, and wanted.
  std::string change_to(const FolderStamp& later,
                        const std::function<bool(std::string_view path)>& wanted) const;

 private:
  using Facts = std::array<std::int64_t, 7>;
  std::map<std::string, Facts> files_;
};

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
  // folders, also of one tree. A folder that was left alone since is used as it is. `variables`:
  // what its build is given beyond what the tree says; another build is none of these.
  Result<Slot> prepare(const TreeStore& store, const Tree& tree,
                       const std::map<std::string, std::string>& variables = {});
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
