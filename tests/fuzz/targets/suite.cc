// shapes/*.yaml.

#include "assay/input/suite.h"

#include <set>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/samples.h"

namespace assay {

ASSAY_FUZZ_TARGET(suite) {
  const auto suite = input::parse_suite(bytes, "suite.yaml");
  if (!fuzz::is_read(suite)) return;
  fuzz::expect(!suite->problems.empty(), "a suite of nothing");
  std::set<std::string> names;
  for (const Problem& problem : suite->problems) {
    fuzz::expect(names.insert(problem.name()).second, "two problems of one name");
    fuzz::expect_made_again(problem);
  }
}

}  // namespace assay
