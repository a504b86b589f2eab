#pragma once

// What brought a worker down on one problem is not tried on the next: a hang costs its limit each
// time.

#include <map>
#include <string>
#include <utility>

#include "assay/record/record.h"
#include "assay/timing/candidate.h"

namespace assay::sweep {

class Quarantine {
 public:
  void add(const std::string& problem, const KernelOutcome& kernel);
  void keep_out(Field& field) const;

 private:
  std::map<std::pair<std::string, std::string>, std::string> why_;  // By id and artifact.
};

}  // namespace assay::sweep
