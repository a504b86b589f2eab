#pragma once

// The flags that say which problems are meant.

#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/input/suite.h"

namespace CLI {
class App;
}

namespace assay::cli {

struct ProblemFlags {
  std::string suite;                // --suite NAME|FILE
  std::vector<std::string> names;   // --shapes NAME...
  std::vector<std::string> shapes;  // --shape m=...

  void declare_shape(CLI::App& app);  // --shape alone.
  void declare(CLI::App& app);        // All three.
  bool empty() const { return suite.empty() && names.empty() && shapes.empty(); }
  // The problems; `fallback` is the suite where none was named.
  Result<input::Suite> read(const std::string& fallback) const;
};

}  // namespace assay::cli
