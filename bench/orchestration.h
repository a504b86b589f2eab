#pragma once

#include <string>

namespace assay::bench {

// `assay_bench schedule FOLDER TRIALS`: runs a schedule of quick kernels and prints what it
// took, as JSON. Returns the exit code.
int schedule_main(const std::string& folder, const std::string& trials);

}  // namespace assay::bench
