#pragma once

// Numbers and verdicts as people read them. Nothing here decides anything.

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/record/problem_row.h"
#include "assay/record/record.h"
#include "assay/report/table.h"
#include "assay/stats/verdict.h"

namespace assay::report {

std::string thousands(std::int64_t value);  // 1804 -> "1,804"
std::string microseconds(double us);        // "9.09", "15.8", "1234"; "-" for none
std::string significant(double value);      // Three digits without an exponent: "0.520", "500"
std::string percent(double fraction);       // "0.4 %", "12 %"
std::string margin_text(double margin);     // As it was given: "1 %", "0.25 %"
std::string seconds_text(double seconds);   // "4.56 s", "38 s", "2m05s"

// Of the budget: "0.15", "1.8e+07"; "without bound" of what is beyond numbers.
std::string error_text(double share);

// Decimals that a ratio needs so that the margin can be seen: 2 for 1 %, 3 for 0.1 %.
int ratio_decimals(double margin);

// "1.07 [1.06 1.08]"; "<= 0.04" or ">= 25" of a bound; "-" for none.
std::string ratio_interval(const stats::Verdict& verdict, int decimals);
// "1.07 x [1.06, 1.08]", with as many decimals as tell the ends of the interval apart.
std::string ratio_times(const stats::Verdict& verdict);

// "slower than X: 0.34 x [0.33, 0.35]", "slower than X, by at least 25 x", "unsure against X; why;
// what would help".
std::string verdict_sentence(const stats::Verdict& verdict, std::string_view other);

// The word; beside `same` and `unsure` the smallest difference that the run could have shown:
// "same (0.4 %)".
std::string word_and_limit(const stats::Verdict& verdict);
Tone tone_of(stats::Word word);

// "faster than the best stock kernel", "same as ...", "unsure against ...".
std::string against(stats::Word word, std::string_view other);

// "9.09"; "<= 9.09" of one that was timed in disturbed rounds alone; "-" for none.
std::string time_text(const PartRow& row);
// By the ceiling that is nearer, of what is done in a second: "13.9 GB/s", "98.2 GFLOP/s".
std::string rate_text(std::string_view ceiling, double flops, double bytes);
// By the ceiling that is nearer: "13.9 GB/s", "98.2 GFLOP/s"; "-" for none.
std::string rate_text(const ProblemRecord& problem, const PartRow& row);
// "68 % read", "12 % flops"; ">= 100 % read, partly cached"; "-" for none.
std::string ceiling_text(const ProblemRecord& problem, const PartRow& row);
// A share as it is shown: "68 %", "0.3 %", ">= 100 %".
std::string share_text(double share);

// "winner", "yours", "stock" ...; "ours" where the verdict is against the best of assay's own.
std::string_view part_word(const PartRow& row);

// "faster than best stock 1.10 [1.10 1.10]", "same as default 1.00 [1.00 1.00] (0.4 %)"; empty for
// a row without a verdict.
std::string claim_text(const ProblemRecord& problem, const PartRow& row, int decimals);

}  // namespace assay::report
