#pragma once

// The files of the corpus: attackers in kernels/, honest kernels that look odd in honest/.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "testing/assay_program.h"

namespace assay::testing {

// Names of a folder's sources without ".cc", sorted. Each has one entry of the name that follows
// the number, or of its own name where there is none.
inline std::vector<std::string> corpus_names(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& file :
       std::filesystem::directory_iterator(AssayProgram::source("tests/attacks/" + folder)))
    if (file.path().extension() == ".cc") names.push_back(file.path().stem().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace assay::testing
