#pragma once

// The text of a kernel to begin with: a head comment, and a naive body that is right.

#include <string>

#include "assay/base/result.h"
#include "assay/op/problem.h"

namespace assay::cli {

enum class SourceLanguage { c, cpp, cuda };

struct NewKernel {
  SourceLanguage language = SourceLanguage::cpp;
  std::string entry;    // The function's name.
  std::string command;  // How to race it: the head says so.
};

// For problems like this one: its types, layout and whether it has batches; sizes are arguments.
// Errors: types or factors that such a body does not do.
Result<std::string> new_kernel_text(const NewKernel& kernel, const Problem& problem);

}  // namespace assay::cli
