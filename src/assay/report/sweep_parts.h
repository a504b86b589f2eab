#pragma once

// The parts of a sweep's report, for whoever arranges them: on a terminal, in a page. Private to
// report/.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/record/problem_row.h"
#include "assay/record/record.h"
#include "assay/report/table.h"

namespace assay::report {

using Problems = std::vector<const ProblemRecord*>;

// From this width on there is room for a third decimal.
inline constexpr int kWideTerminal = 100;

Problems shown_problems(const RunRecord& record, const std::vector<std::string>& only);
int decimals_for(const RunRecord& record, int width);

// full: one line for each kernel, all of it in columns. narrow: the shape and the claim on a line
// of their own above its kernels, whose names shorten.
enum class Layout { full, narrow };
Table sweep_table(const Problems& problems, Layout layout, int decimals);

// The kernels of one problem by their parts, without the claim: for a terminal.
Table parts_table(const ProblemRecord& problem, Defaults defaults, bool names_in_full);

// What does not fit into the table. One line each.
std::vector<std::string> footnotes(const Problems& problems);

// What every claim of the table is under, and how far the timer could have been lied to.
std::vector<std::string> condition_lines(const RunRecord& record, const Problems& problems);

std::string counts_line(const RunRecord& record, std::size_t shown);

// The most frequent first.
std::vector<std::pair<std::string, RefusalCountRecord>> refusals_of(const ProblemRecord& problem);

}  // namespace assay::report
