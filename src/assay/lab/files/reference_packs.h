#pragma once

// Packs of upstream files that a lab's refs/packs.yaml names, to be read and never built from.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay::lab {

struct ReferenceSource {
  std::string url, commit;
  std::vector<std::string> files;

  std::string name() const;  // "flash-attention": the last word of its URL.
};

using ReferencePacks = std::map<std::string, std::vector<ReferenceSource>>;

// not_found where the lab has no such file.
Result<ReferencePacks> read_reference_packs(const std::filesystem::path& lab);

struct FetchOptions {
  std::filesystem::path folder;          // Files arrive in folder/NAME/PATH.
  std::vector<std::string> environment;  // Of git.
  double seconds = 300;                  // For one source.
  int cancel_fd = -1;
};

struct Fetched {
  int files = 0, already_there = 0;
  std::string warning;  // Why not all of it: no network, no git, a file that is not there.
};

// The source's files at its commit, by git, read-only. A file that is there already is not fetched
// again: its folder says of which commit it is. Errors: interrupted, machine.
Result<Fetched> fetch_references(const ReferenceSource& source, const FetchOptions& options);

}  // namespace assay::lab
