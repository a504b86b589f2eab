#pragma once

// One run of load with what a person sees of it meanwhile, and what it leaves.

#include <filesystem>
#include <span>
#include <string>

#include "assay/load/dataset.h"
#include "assay/load/generator.h"
#include "assay/load/load_record.h"
#include "cli/command.h"
#include "cli/load/load_flags.h"

namespace assay::cli {

// `title` begins the live line. inputs: gets each body, as a line; empty: kept nowhere. `count`
// counts answers that come without usage; may be empty.
Result<load::Run> run_plan(Context& context, const load::LoadPlan& plan,
                           const load::Dataset& dataset, const std::string& title,
                           const std::string& inputs, const load::TokenCount& count);

// The same with prompts of `seed`, judged, and nothing kept. Errors: unsupported where no request
// was answered (the first error is told), interrupted.
Result<load::Judged> measure_plan(Context& context, const LoadFlags& flags, load::LoadPlan plan,
                                  std::uint64_t seed, const std::string& title);

// 1 where the run is not what was asked or not the server's doing alone, 130 where it was
// interrupted; else 0.
int run_code(std::span<const load::Judged> runs);

// The folder, or the next of runs/; made.
Result<std::filesystem::path> load_folder(const std::string& asked);

}  // namespace assay::cli
