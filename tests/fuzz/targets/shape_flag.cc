// --shape, and --m.

#include "assay/input/shape_flag.h"

#include <set>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/samples.h"

namespace assay {

ASSAY_FUZZ_TARGET(shape_flag) {
  const auto sizes = input::parse_size_list(bytes, "--m");
  fuzz::is_read(sizes);
  const auto problems = input::parse_shape_flag(bytes);
  if (!fuzz::is_read(problems)) return;
  fuzz::expect(problems->size() <= input::kMaxShapeFlagProblems, "too many problems");
  std::set<std::string> names;
  for (const Problem& problem : *problems)
    fuzz::expect(names.insert(problem.name()).second, "two problems of one name");
  fuzz::expect_made_again(problems->front());
  fuzz::expect_made_again(problems->back());
}

}  // namespace assay
