#pragma once

// What a user brings: a file, read, split from its ENTRY, hashed and parsed once, by the process
// that the user started. Everything after that gets this value, and reads no path again: what is
// proven is what is timed, and what is kept beside the record.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/base/fd.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/input/file_and_entry.h"
#include "assay/input/source_reader.h"
#include "assay/kernel/taker.h"

namespace assay::input {

struct KernelSource {
  FileAndEntry named;                // As the user gave it.
  std::vector<KernelEntry> entries;  // What it holds, as families are called.
  // FILE, its entries' sources, and what they bring along; null in workers, whose entries have
  // theirs.
  std::shared_ptr<const SourceFiles> files;
  std::vector<std::string> renamed;  // By name_apart(): "tiles of old.cc is called tiles_2 here".

  std::string text() const { return named.text(); }
  const SourceFile* file() const;             // FILE itself.
  std::vector<std::string> families() const;  // Names of the entries.
};

// Several files (manifest.h: read_kernels), each of which is opened once, however many of its
// kernels are named. Two kernels of one name are told apart as name_apart() does.
Result<std::vector<KernelSource>> read_sources(std::span<const std::string> files_and_entries,
                                               const LaunchForms& forms);

// A name that an earlier kernel has gets _2, _3 ..., so that two versions of one file can race each
// other and a record tells them apart. What is apart stays as it is.
void name_apart(std::span<KernelSource> sources);

// What a source consists of: SHA-256 (hex) by the name below the folder that all its files lie in.
std::map<std::string, std::string> hashes_of_files(const KernelSource& source);
// One SHA-256 (hex) of all these names and hashes.
std::string hash_of_files(const std::map<std::string, std::string>& hashes);

// Sources between processes: what they say, and one sealed file with the bytes of theirs. Of a
// plug-in, which is mapped by its path, the hash alone goes along.
struct PackedSources {
  Json json;
  UniqueFd bytes;
};
Result<PackedSources> pack(std::span<const KernelSource> sources);
Result<std::vector<KernelSource>> unpack(const Json& json, int bytes);

}  // namespace assay::input
