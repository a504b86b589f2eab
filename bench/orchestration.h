#pragma once

#include <string>

namespace assay::bench {

// `assay_bench schedule KIND FOLDER SIZE`: runs a schedule of SIZE kernels, or of SIZE problems
// with all their bursts, and prints what it took, as JSON. Returns the exit code.
int schedule_main(const std::string& kind, const std::string& folder, const std::string& size);

}  // namespace assay::bench
