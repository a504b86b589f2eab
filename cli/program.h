#pragma once

namespace assay::cli {

// The whole program; never throws.
int run_program(int argc, char** argv);

}  // namespace assay::cli
