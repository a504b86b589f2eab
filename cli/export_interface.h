#pragma once

// What an exported kernel looks like from C, and to the caller beside it. Private to export_files.

#include <string>

#include "assay/kernel/export.h"
#include "assay/op/gemm/gemm.h"
#include "cli/export_files.h"

namespace assay::cli {

struct ExportSubject {
  const Problem& problem;
  gemm::View view;
  const KernelExport& made;
  const WinnerFacts& facts;
  std::string name;   // c_name() of the shape.
  std::string label;  // Of the kernel: harmless in comments and texts of C.
};

std::string formula_of(const ExportSubject& subject);    // "out = 2 a b + 0.5 c".
std::string c_header(const ExportSubject& subject);      // <name>.h
std::string launch_file(const ExportSubject& subject);   // launch.cc: the header's functions.
std::string problem_file(const ExportSubject& subject);  // problem.h: what caller.cc must know.

}  // namespace assay::cli
