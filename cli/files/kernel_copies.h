#pragma once

// Users' files beside a record: copied when a run begins, found again when it is replayed.

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/record.h"
#include "cli/files/source_copy.h"

namespace assay::cli {

// A user's file as it was when a run began.
struct KernelCopy {
  std::string given;  // As the user named it: FILE or FILE::ENTRY.
  std::string copy;   // The same below the run's folder: "sources/1/my_gemm.cc::gemm".
  std::map<std::string, std::string> sha256;  // Of each file of the copy, named likewise.
};

class KernelCopies {
 public:
  explicit KernelCopies(std::span<const input::KernelSource> sources);

  // Below the run's folder: sources/1, sources/2 ..., and sources/manifest.json, which says what
  // is there ("assay.sources/1"). Nothing where there are no kernels.
  Status write(const std::filesystem::path& run_folder) const;

 private:
  std::vector<SourceCopy> copies_;
  std::vector<KernelCopy> stamps_;
};

// What to bring so that a run's kernels are built again, in its order; nothing where the run had no
// users' files. Errors: missing where a copy is not there; invalid_input where
// one is not what was raced (by the manifest, and by what the record says of it), or the manifest
// names a file outside the run's folder.
Result<std::vector<input::KernelSource>> kept_kernels(const std::filesystem::path& run_folder,
                                                      std::span<const SourceStamp> recorded);

}  // namespace assay::cli
