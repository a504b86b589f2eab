#pragma once

// What targets read against: problems as sweeps have them, and a folder of files that inputs may
// name.

#include <filesystem>
#include <string>
#include <string_view>

#include "assay/kernel/metadata.h"
#include "assay/kernel/provider.h"
#include "assay/op/problem.h"

namespace assay::fuzz {

const Problem& sample_problem();  // gemm, m=4, n=1024, k=512, bf16.
const KernelMetadata& sample_row();

// How entries are launched, as the program's own providers say: by what their files end in.
LaunchForm launch_form(const KernelEntry& entry);

// A problem that was read says itself in fields that make it again.
void expect_made_again(const Problem& problem);

// A folder of this process, removed when it ends: in memory where there is such a place.
const std::filesystem::path& scratch_folder();

// Puts the bytes there.
std::string write_scratch(std::string_view name, std::string_view bytes);

}  // namespace assay::fuzz
