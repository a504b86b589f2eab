#pragma once

// Kernels of the user's own as every command takes them: FILE or FILE::ENTRY, by themselves or
// behind --kernels.

#include <string>
#include <vector>

#include "assay/base/result.h"
#include "cli/flags.h"

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

// Whether there is such a file; the word may name a kernel in it (FILE::ENTRY).
bool names_file(const std::string& word);

}  // namespace assay::cli
