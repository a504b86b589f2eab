#pragma once

// One openai_http benchmark, once, on the server of one tree: started, awaited, put under load by
// `assay load`, and ended, behind one supervisor.

#include <filesystem>
#include <optional>
#include <string>

#include "assay/lab/evaluate/measure.h"
#include "assay/lab/files/case_file.h"

namespace assay::lab {

// What starts it; "{port}" in a word is where it shall listen. The server itself, without one of
// ours between it and who asks.
Command server_command(const CaseServer& server);

// pair: whose seed it is, so that both sides of a pair are asked the same. folder: gets what the
// load leaves.
Result<Measured> run_openai_http(const ProgramRunner& runner, const Benchmark& benchmark,
                                 const std::optional<CaseServer>& server, const Side& side,
                                 int pair, const std::string& label,
                                 const std::filesystem::path& folder);

}  // namespace assay::lab
