#pragma once

// A lab: a folder with lab.yaml, and the cases in it.

#include <filesystem>
#include <string>

#include "assay/base/result.h"
#include "assay/lab/files/notify_rules.h"

namespace assay::lab {

struct Lab {
  std::filesystem::path root;  // Absolute.
  std::string device;          // Where the command line and the environment name none.
  std::string cases_folder = "cases";
  std::string store;  // Of `sweep` benchmarks' records; empty: none.
  NotifyRules notify;
};

// The nearest folder from `from` upward that holds a file of this name; empty where none does.
std::filesystem::path find_upward(const std::filesystem::path& from, const char* name);

// The lab that a folder is in. not_found says how one is made.
Result<Lab> find_lab(const std::filesystem::path& from);
Result<Lab> read_lab(const std::filesystem::path& root);

}  // namespace assay::lab
