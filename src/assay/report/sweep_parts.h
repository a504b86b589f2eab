#pragma once

// The parts of a sweep's report, for whoever arranges them: on a terminal, in a page. Private to
// report/.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/record/record.h"
#include "assay/report/table.h"

namespace assay::report {

using Problems = std::vector<const ProblemRecord*>;

// From this width on there is room for a third decimal.
inline constexpr int kWideTerminal = 100;

Problems shown_problems(const RunRecord& record, const std::vector<std::string>& only);
int decimals_for(const RunRecord& record, int width);

// What stands on a line of its own above each row, where columns would leave it no room.
enum class Above { nothing, shape, shape_and_winner };
Table sweep_table(const Problems& problems, Above above, int decimals);

// What the table's marks stand for, and what does not fit into it. One line each.
std::vector<std::string> footnotes(const Problems& problems);

// What every claim of the table is under, and how far the timer could have been lied to.
std::vector<std::string> condition_lines(const RunRecord& record, const Problems& problems);

std::string counts_line(const RunRecord& record, std::size_t shown);

// "tie of 2: ...", "none".
std::string winner_text(const ProblemRecord& problem);

// The most frequent first.
std::vector<std::pair<std::string, RefusalCountRecord>> refusals_of(const ProblemRecord& problem);

}  // namespace assay::report
