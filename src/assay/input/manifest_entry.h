#pragma once

// One kernel of a manifest or head comment, from its YAML. Not for use outside this folder.

#include <filesystem>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/input/yaml.h"
#include "assay/kernel/taker.h"

namespace assay::input {

struct EntryContext {
  LaunchForms launch_forms;
  std::filesystem::path folder;  // Of the manifest: where sources are looked for.
  std::filesystem::path source;  // The file with the head comment; empty in a manifest.
  std::string entry;             // Replaces what the field says; empty: nothing.
  // The text came out of the plug-in `source`: nothing is compiled, and its hooks are no functions
  // by name.
  bool of_plugin = false;
};

// One entry for each layout that is named.
Result<std::vector<KernelEntry>> read_entry(const YamlField& field, const EntryContext& context);

}  // namespace assay::input
