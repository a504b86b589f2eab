#include "cli/recorded_shape.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/input/shape_flag.h"

namespace assay::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

RunRecord record_of(std::string_view shapes) {
  RunRecord record;
  for (const Problem& problem : *input::parse_shape_flag(shapes)) {
    ProblemRecord& recorded = record.problems.emplace_back();
    recorded.name = problem.name();
    recorded.operation = problem.operation();
    recorded.problem = problem.to_json();
  }
  return record;
}

std::vector<std::string> found(const RunRecord& record, std::string_view text) {
  std::vector<std::string> names;
  for (const ProblemRecord* const problem : find_shape(record, text))
    names.push_back(problem->name);
  return names;
}

TEST(RecordedShape, IsFoundByItsNameAndByWhatItsRaceWasAskedFor) {
  const RunRecord record = record_of("m=8|16,n=4096,k=4096,dtype=f16,layout=nn");
  const std::string first = record.problems[0].name, second = record.problems[1].name;
  EXPECT_THAT(found(record, first), ElementsAre(first));
  // The layout was none of the words, and is not this operation's default.
  EXPECT_THAT(found(record, "m=8,n=4096,k=4096,dtype=f16"), ElementsAre(first));
  EXPECT_THAT(found(record, "m=16, n=4096, k=4096"), ElementsAre(second));
  EXPECT_THAT(found(record, "m=8|16,n=4096,k=4096"), ElementsAre(first, second));
}

TEST(RecordedShape, IsNotFoundIfOneFieldDiffers) {
  const RunRecord record = record_of("m=8,n=4096,k=4096,dtype=f16,layout=nn");
  for (const char* const other : {"m=9,n=4096,k=4096,dtype=f16", "m=8,n=4096,k=4096,dtype=bf16",
                                  "m=8,n=4096,k=4096,layout=tn", "m=8,n=4096,k=4096,epilogue=relu",
                                  "m=8,n=4096", "m=8,", "gemm", ""})
    EXPECT_THAT(found(record, other), IsEmpty()) << other;
}

}  // namespace
}  // namespace assay::cli
