#pragma once

// For libraries that do one thing at a time in a process, however many threads call them.

#include <cstddef>
#include <functional>
#include <vector>

namespace assay {

// Calls use(i) for every i below `count`: the first in this process, so that what is loaded once is
// loaded once, the others in children forked from it, as many as there are cores. Returns what use
// returned, NaN where a child died of it; nothing else that a child does to memory is seen here.
// `use` must not throw, nor take locks that other threads of this process may hold.
std::vector<double> for_each_forked(size_t count, const std::function<double(size_t i)>& use);

}  // namespace assay
