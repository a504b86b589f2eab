#pragma once

// A manual page shown to whoever sits at a terminal.

#include <string>

#include "assay/base/result.h"
#include "cli/show/console.h"

namespace assay::cli {

struct PagerText {
  std::string roff;   // For man(1).
  std::string plain;  // The same for a pager, where there is no man(1).
};

// By man, else by the program that PAGER names, else by less; where there is none of them the plain
// text is printed. Returns the exit code.
Result<int> show_in_pager(Console& console, const PagerText& text);

}  // namespace assay::cli
