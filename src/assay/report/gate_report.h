#pragma once

// Claims for what runs them: annotations of GitHub's workflows, and JUnit's XML for all others.

#include <string>
#include <string_view>
#include <vector>

#include "assay/compare/comparison.h"

namespace assay::report {

// A line for each claim, as workflow commands: an error where it fails, else a notice.
std::string github_lines(const std::vector<Claim>& claims);

// One suite with a case for each claim; one that fails is a failure, with its reason. `problems`:
// sentences on what is missing or stale, each an error.
std::string junit_xml(std::string_view suite, const std::vector<Claim>& claims,
                      const std::vector<std::string>& problems);

}  // namespace assay::report
