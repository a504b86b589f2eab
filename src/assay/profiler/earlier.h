#pragma once

// What an earlier sweep left in the folder.

#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/profiler/sweep.h"

namespace assay::profiler {

class Earlier {
 public:
  // Reads it, moves it aside or refuses it, as the request says. Errors: run_sweep()'s.
  static Result<Earlier> open(const SweepRequest& request);

  const std::vector<std::string>& notes() const { return notes_; }  // For the user.

  // The problem's result where it was asked in the same words of the same binary.
  std::optional<ProviderResult> take(const std::string& problem, const Json& tried,
                                     const std::string& binary_sha256);
  // Those of problems that are none of these.
  std::vector<ProviderResult> take_others(const std::vector<Problem>& problems);

 private:
  std::vector<ProviderResult> results_;
  std::vector<std::string> notes_;
};

}  // namespace assay::profiler
