#pragma once

// A shared object becomes descriptions and hooks that can be relied on: whatever is wrong with what
// it says is a sentence. What it does while it is loaded is its own affair, so that only workers
// and programs that mean to run it load it.

#include <cstdint>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "assay/base/dynamic_library.h"
#include "assay/kernel/plugin_abi.h"
#include "assay/kernel/provider.h"

namespace assay::plugin {

struct LoadedKernel {
  AssayKernel hooks{};               // A copy; null beyond what the plug-in's struct holds.
  std::string name;                  // As its metadata says.
  std::vector<KernelEntry> entries;  // One for each layout.
};

struct Loaded {
  std::string name, version;  // As it says itself.
  std::string sha256;         // Of the file.
  struct File {
    std::string path;
    dev_t device = 0;
    ino_t inode = 0;
    int64_t written_ns = 0;
  } file;
  std::vector<LoadedKernel> kernels;
};

// Runs the entry point of entry.source. The file stays mapped until the process ends. Errors
// (invalid_input, prefixed by entry.origin): no shared object, no entry point, another version of
// the ABI, descriptors that are not what plugin_abi.h says.
Result<std::shared_ptr<const Loaded>> load(const KernelEntry& entry);

// Whether nobody wrote to its file since: what is mapped changes with it. Another file in its place
// is no harm.
bool is_as_it_was(const Loaded& loaded);

}  // namespace assay::plugin
