#pragma once

// The ways in which `assay export` hands something out: one file each. export_command.cc lists
// them; each declares the flag that asks for it, and flags of its own.

#include <memory>
#include <string>

#include "assay/base/result.h"
#include "cli/command.h"

namespace assay::cli {

// What all modes are told.
struct ExportRequest {
  std::string source;  // RUN|FILE as given; empty if it was not.
  std::string output;  // --output; empty: the mode's own default.
};

class ExportMode {
 public:
  virtual ~ExportMode() = default;
  virtual const char* flag() const = 0;  // "--format": what asks for this mode.
  virtual void declare(Flags& app) = 0;
  virtual bool asked() const = 0;
  // A flag that was given and means something in this mode alone; null: none was.
  virtual const char* idle_flag() const { return nullptr; }
  virtual Result<int> run(Context& context, const ExportRequest& request) = 0;
};

std::unique_ptr<ExportMode> make_export_format();  // Results in the form of another tool.
std::unique_ptr<ExportMode> make_export_winner();  // A winner's source, with a caller.

}  // namespace assay::cli
