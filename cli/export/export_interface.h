#pragma once

// What an exported kernel looks like from C, and to the caller beside it. Private to export_files.

#include <string>

#include "assay/kernel/export.h"
#include "cli/export/export_files.h"

namespace assay::cli {

struct ExportSubject {
  const Problem& problem;
  const KernelExport& made;
  const WinnerFacts& facts;
  std::string name;     // c_name() of the shape.
  std::string label;    // Of the kernel: harmless in comments and texts of C.
  std::string formula;  // What is computed, as the operation says it: "out = 2 a b + 0.5 c".

  std::string sizes() const;  // "m 4, n 8, k 16".
};

std::string c_header(const ExportSubject& subject);      // <name>.h
std::string launch_file(const ExportSubject& subject);   // launch.cc: the header's functions.
std::string problem_file(const ExportSubject& subject);  // problem.h: what caller.cc must know.

}  // namespace assay::cli
