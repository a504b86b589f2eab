#pragma once

// Numbers and verdicts as people read them. Nothing here decides anything.

#include <cstdint>
#include <string>
#include <string_view>

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

// Decimals that a ratio needs so that the margin can be seen: 2 for 1 %, 3 for 0.1 %.
int ratio_decimals(double margin);

// "1.07 [1.06 1.08]"; "-" for none.
std::string ratio_interval(const stats::Verdict& verdict, int decimals);
// "1.07 x [1.06, 1.08]", with as many decimals as tell the ends of the interval apart.
std::string ratio_times(const stats::Verdict& verdict);

// The word; beside `same` and `unsure` the smallest difference that the run could have shown:
// "same (0.4 %)". `mark` follows the word ("unsure* (1.2 %)").
std::string word_and_limit(const stats::Verdict& verdict, std::string_view mark = "");
Tone tone_of(stats::Word word);

// "faster than the best stock kernel", "same as ...", "unsure against ...".
std::string against(stats::Word word, std::string_view other);

std::string ceiling_share(const ProblemRecord& problem);     // "68 % rd"; "-" for none
bool shows_more_than_ceiling(const ProblemRecord& problem);  // "101 % rd"

}  // namespace assay::report
