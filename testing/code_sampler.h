#pragma once

// Which code really ran: where the program counter was while some work went on, sampled by the
// clock of the process's own CPU time. A symbol's address says what is called; this says what ran.

#include <functional>
#include <map>
#include <string>

namespace assay::testing {

// Repeats `work` until enough samples of the calling thread are taken (a second of CPU time at
// most) and counts them by the file whose code was running, links resolved; code that belongs to no
// file (made at run time) counts under "". One call at a time.
std::map<std::string, int> sample_code(const std::function<void()>& work);

// The share of the samples that lie in `path`.
double share_in(const std::map<std::string, int>& samples, const std::string& path);

}  // namespace assay::testing
