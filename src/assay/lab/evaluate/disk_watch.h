#pragma once

// What a program adds to the disk, seen from outside: one that fills the disk is ended before
// others cannot write.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "assay/base/fd.h"
#include "assay/base/result.h"

namespace assay::lab {

// What is looked at while a program runs. Counting what it added reads each folder, which a program
// under the clock would feel.
enum class DiskLooks { added_and_free, free_alone };

struct DiskLimit {
  std::uint64_t bytes = 0;  // That a program may add; 0: it is not watched.
  std::uint64_t reserve = std::uint64_t{256} << 20;  // That stays free where its folders lie.
  DiskLooks looks = DiskLooks::added_and_free;       // At its end all is looked at.
  // What is free on a folder's disk; null: what the system says.
  std::function<std::uint64_t(const std::filesystem::path& folder)> free_bytes;
};

class DiskWatch {
 public:
  // `cancel_fd` of the caller is passed on; -1: there is none. machine: the reserve is gone before
  // the program has done anything.
  static Result<std::unique_ptr<DiskWatch>> begin(std::vector<std::filesystem::path> folders,
                                                  DiskLimit limit, int cancel_fd);
  ~DiskWatch();

  // Readable once the limit was passed, or the caller's is.
  int cancel_fd() const { return cancel_.get(); }
  // Looks a last time. What the program did, behind its name; empty: it stayed within the limit.
  std::string finish();

 private:
  DiskWatch(std::vector<std::filesystem::path> folders, DiskLimit limit)
      : folders_(std::move(folders)), limit_(limit) {}
  std::uint64_t bytes_below() const;
  std::filesystem::path full_folder() const;  // Whose reserve is gone; empty: none.
  bool look(DiskLooks looks);                 // True: the limit was passed.
  void watch(int cancel_fd);

  std::vector<std::filesystem::path> folders_;
  DiskLimit limit_;
  std::uint64_t before_ = 0;
  UniqueFd cancel_, done_;  // Events.
  std::mutex mutex_;
  std::string passed_;
  std::thread thread_;
};

}  // namespace assay::lab
