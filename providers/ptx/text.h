#pragma once

// What PTX text says of itself. Source: PTX ISA, sections ".version", ".target" and ".entry".

#include <string>
#include <string_view>
#include <vector>

namespace assay::ptx {

struct TextFacts {
  std::string version;               // "8.0"; empty where the directive is missing.
  std::string target;                // "sm_90a"
  std::vector<std::string> entries;  // Kernels, in the order of the file.
};

// Comments are left out. Anything that cannot be read is left empty.
TextFacts read_text(std::string_view text);

// Whether code for `target` may be compiled by the driver of a GPU of `architecture` (both like
// "sm_80"). Features of one architecture ("a") run on that alone, those of a family ("f") on later
// GPUs of the same major number, and plain code on every later GPU.
bool runs_on(std::string_view target, std::string_view architecture);

}  // namespace assay::ptx
