#pragma once

// The two halves of assay_lab_bench.

#include <string>

namespace assay::lab_bench {

// What the rule keeps, under all noises or the one that is named, in whole or a part of it. 1 where
// a bound is missed.
int run_climbs(const std::string& only, const std::string& part);

// A history of so many lines in a case's runs/, as a long climb would leave it, and what one more
// line costs: printed in milliseconds, through the history and bare.
int write_history(const std::string& runs, int lines);

}  // namespace assay::lab_bench
