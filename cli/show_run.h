#pragma once

#include <filesystem>
#include <string>

#include "assay/base/result.h"
#include "assay/sweep/sweep.h"
#include "cli/command.h"

namespace assay::cli {

// Runs a request with a live view (or plain lines), writes result files and logs beside the record,
// shows the table or verdict, and gives the exit code.
Result<int> run_and_show(Context& context, const sweep::Request& request);

// runs/0001-NAME, the first number that is free.
std::filesystem::path next_run_folder(const std::string& name);

}  // namespace assay::cli
