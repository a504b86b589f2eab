#pragma once

namespace assay::bench {

// `assay_bench pinned PROGRAM WORDS...`: becomes that program on the first of the cores it may use.
// Returns, with a code for the exit, only where that cannot be done.
int pinned_main(char** words);

// `assay_bench first_launch SOURCE CACHE BEGAN`: from nothing to the first launch of one of the
// source's kernels, all of them from the cache; prints what it took since BEGAN, as JSON.
int first_launch_main(const char* source, const char* cache, const char* began);

}  // namespace assay::bench
