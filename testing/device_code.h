#pragma once

// The text of our own device code, which no fake GPU runs.

#include <functional>
#include <string>

namespace assay::testing {

// Whether the toolkit's assembler is here.
bool can_assemble();

// Fails the test where the code for a target, as code_target() names it (process/gpu/code.h), does
// not assemble for a GPU that gets it.
void expect_assembles(const std::function<std::string(const std::string& target)>& code);

// The same of code that is for one GPU ("sm_90a").
void expect_assembles(const std::string& gpu, const std::string& code);

}  // namespace assay::testing
