#pragma once

// Code for a GPU in a case's workspace, compiled by nvcc to look at: PTX and machine code.

#include <filesystem>
#include <string>
#include <vector>

#include "cli/lab/lab_place.h"

namespace assay::cli {

// One source, or what kept all of them from being compiled.
struct EmittedCode {
  bool good = false;
  std::string name, text;  // The source in its workspace; what became of it, or why not.
};

// Every .cu and .ptx file below workspace/ops, into workspace/build: NAME.ptx and, where cuobjdump
// is there, NAME.sass. For the chosen GPU, else for nvcc's own default.
Result<std::vector<EmittedCode>> emit_device_code(const Context& context, const LabPlace& place);

// Why PTX cannot be assembled for `arch`, as "gemm.ptx:12: WORDS"; empty where it can be.
// ErrorCode::unsupported where no ptxas lies beside nvcc: then only a GPU's driver can tell.
Result<std::string> objection_to_ptx(const Context& context, const std::filesystem::path& source,
                                     const std::string& arch);

}  // namespace assay::cli
