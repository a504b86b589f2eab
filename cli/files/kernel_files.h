#pragma once

// Kernels of the user's own as every command takes them: FILE or FILE::ENTRY, by themselves or
// behind --kernels.

#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/input/kernel_source.h"
#include "assay/sweep/sweep.h"
#include "cli/flags/flags.h"
#include "cli/show/console.h"

namespace assay::cli {

struct KernelFiles {
  std::vector<std::string> words;    // By themselves.
  std::vector<std::string> kernels;  // --kernels

  Flag declare_words(Flags& app, const std::string& help);
  void declare_kernels(Flags& app, const std::string& help);
  std::vector<std::string> all() const;  // The words first.
  // A word that is no file, but a provider, a suite or a shape: an error says how that is given.
  Status check(const std::string& command) const;
};

// What files (FILE or FILE::ENTRY) hold, to those providers that are built in. A command reads its
// files here, once; everything else gets what was read. Errors carry file and line.
Result<std::vector<input::KernelSource>> read_sources(std::span<const std::string> files);

// In front of what the request has; its kernels' names are told apart.
void bring_first(sweep::Request& request, const std::vector<input::KernelSource>& sources);

// Which of their kernels go by another name, since an earlier one has theirs.
void note_renamed(Console& console, std::span<const input::KernelSource> sources);

// Whether there is such a file; the word may name a kernel in it (FILE::ENTRY).
bool names_file(const std::string& word);

}  // namespace assay::cli
