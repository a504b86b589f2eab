// The two files are what their README says: the first is what `assay new` writes, both are right,
// where rows are no multiple of the lanes, too, and one race shows them side by side.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "testing/assay_program.h"

namespace assay {
namespace {

using ::testing::AllOf;
using testing::AssayProgram;
using testing::Finished;
using ::testing::HasSubstr;

std::string file(const std::string& name) {
  return AssayProgram::source("examples/rmsnorm/" + name);
}

TEST(RmsnormExample, TheFirstFileIsWhatAssayNewWrites) {
  const AssayProgram assay;
  ASSERT_EQ(assay.run({"new", "norm.cc", "--shape", "operation=rmsnorm,m=16,n=4096"}).code(), 0);
  const auto written = read_file(assay.file("norm.cc"));
  const auto kept = read_file(file("norm.cc"));
  ASSERT_TRUE(written && kept);
  EXPECT_EQ(*written, *kept);
}

TEST(RmsnormExample, OneRaceShowsBoth) {
  const AssayProgram assay;
  const Finished race =
      assay.run({"race", file("norm.cc"), file("lanes.cc"), "--shape",
                 "operation=rmsnorm,m=5,n=137", "--budget", "1s", "--threads", "1"});
  EXPECT_EQ(race.code(), 0) << race.out << race.err;
  EXPECT_THAT(testing::unbroken(race.out),
              AllOf(HasSubstr("norm.cc"), HasSubstr("lanes.cc"),
                    HasSubstr("the best of assay's own (no stock kernel takes this problem)")));
}

}  // namespace
}  // namespace assay
