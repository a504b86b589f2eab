#pragma once

// The Python that has Triton, found by looking at files: nothing runs for it.

#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/kernel/provider.h"

namespace assay::triton {

struct Python {
  std::string program;  // As it is called: a virtual environment's own link.
  std::string version;  // Of Triton: "3.9.0".
  std::string package;  // The folder that Triton lies in.
  Json identity;        // What stands for all of it in a cache's key.
};

// settings["python"] alone where it is given; else the first of cuda::python_programs that has
// Triton. Errors: unsupported, with what to install; also for a Triton before 3.2.
Result<Python> find_python(const ProviderSettings& settings);

// What the helper is told of assemblers, and what stands for them in a cache's key.
struct Assembler {
  std::string asked;    // settings["ptxas"]: empty, "bundled" or a path.
  std::string toolkit;  // The system's; empty where there is none.
  Json identity;
};
Result<Assembler> find_assembler(const ProviderSettings& settings);

// Relative or odd paths, before anything is looked for. invalid_input.
Status check_settings(const ProviderSettings& settings);

}  // namespace assay::triton
