#pragma once

// A kernel as source: what a program needs to run it without assay.

#include <cstdint>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/device/target.h"
#include "assay/kernel/kernel.h"

namespace assay {

struct ExportFile {
  std::string path;  // Relative, below the export's folder.
  std::string text;  // Bytes, where it is code.

  bool lies_below() const;  // The folder, whatever its path says.
};

struct ExportOptions {
  Target target;
  int threads = 1;  // Cores that the kernel may use: as many as it was raced with.
  const Artifact* artifact = nullptr;  // What the row compiled to; null where nobody compiles.
};

// `code` is C++20 at namespace scope that defines, in an unnamed namespace,
//   int run_kernel(void* const* data);      // 0, or what the kernel says of its failure. On a GPU
//                                           // (void* const* data, void* stream), which enqueues.
//   int prepare_kernel(void* const* data);  // Where the row prepares: fills the prepared memory.
// data: the operands in the problem's order, then the workspace (aligned to 64 bytes), then the
// prepared memory (aligned to 4096 bytes).
struct KernelExport {
  std::string code;
  std::vector<ExportFile> files;     // What it includes, and what is compiled beside it.
  std::vector<std::string> sources;  // Of `files`: those that are compiled, by path.
  std::vector<std::string> compile_flags, link_flags;
  int64_t workspace_bytes = 0;
  int64_t prepared_bytes = 0;
  bool on_gpu = false;            // Pointers are a GPU's memory.
  bool dependent_launch = false;  // It waits for what is ahead of it by itself.
  std::string what;               // One sentence: what is shipped, and what is still needed.

  Json to_json() const;
  static Result<KernelExport> from_json(const Json& json);
};

// What a family implements besides, whose rows can leave the house.
class Exportable {
 public:
  virtual ~Exportable() = default;
  // The problem must be one that the row supports. workspace_bytes is filled in by export_kernel().
  virtual Result<KernelExport> export_row(const KernelMetadata& row, const Problem& problem,
                                          const ExportOptions& options) const = 0;
};

// A kernel as source that runs the problem without assay; unsupported where its family is not
// Exportable, and where it refuses the problem.
Result<KernelExport> export_kernel(const Kernel& kernel, const Problem& problem,
                                   const ExportOptions& options);

}  // namespace assay
