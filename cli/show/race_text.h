#pragma once

// What a race says beyond report::race_text: refusals, compilers' lines.

#include <map>
#include <string>
#include <vector>

#include "assay/record/record.h"
#include "assay/report/table.h"
#include "cli/files/user_files.h"

namespace assay::cli {

struct RaceLine {
  std::string label;  // "previous", "record": at most nine characters.
  std::string text;
};

// "verdict   none: my_gemm was refused: layout: ..." for each problem; "refused   a.cc takes no
// part: layout: ..." where another of the files could.
std::string refused_text(const std::vector<FileRefusals>& files, const report::TextStyle& style);

// The compiler's lines, and the last words of what crashed, of the user's kernels.
std::string evidence_text(const ProblemRecord& problem, const report::TextStyle& style);

// What about this machine made the times less certain, as a sweep says it: load, steal time.
std::string warning_text(const Environment& environment, const report::TextStyle& style);

std::string line_text(const RaceLine& line, const report::TextStyle& style);

// No kernel of these files may have fallen, and each problem needs a winner.
bool all_stood(const RunRecord& record, const std::vector<UserFile>& mine);

// Whether no kernel of these files was as much as compiled, on any problem: no compiler, say.
bool all_refused(const RunRecord& record, const std::vector<UserFile>& mine);

}  // namespace assay::cli
