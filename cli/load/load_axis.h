#pragma once

// What search and sweep change from run to run: streams, or requests per second.

#include <string>

#include "assay/load/plan.h"
#include "cli/command.h"

namespace assay::cli {

class LoadAxis {
 public:
  void declare(Flags& app);
  const std::string& name() const { return over_; }
  bool is_whole() const { return over_ == "concurrency"; }
  // `plan` at that load.
  load::LoadPlan at(load::LoadPlan plan, double load) const;

 private:
  std::string over_ = "concurrency";
};

}  // namespace assay::cli
