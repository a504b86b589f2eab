#pragma once

// Files that the build puts into the binary, so that it needs nothing beside it.

#include <span>
#include <string_view>

namespace assay {

struct EmbeddedFile {
  std::string_view name;     // Relative to the folder that was embedded: "transformer_cpu.yaml".
  std::string_view content;  // Its bytes; they live as long as the program.
};

// assay_embed(NAMESPACE n ...) in CMake defines, for whoever declares it:
//   namespace n { std::span<const assay::EmbeddedFile> embedded_files(); }

// The content of the one of that name; empty where there is none.
inline std::string_view find_embedded(std::span<const EmbeddedFile> files, std::string_view name) {
  for (const EmbeddedFile& file : files)
    if (file.name == name) return file.content;
  return {};
}

}  // namespace assay
