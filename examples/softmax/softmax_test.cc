// What the README says: both kernels are right, the verdict is of one against the other, and it is
// said whose operation it is.

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
using ::testing::Not;

std::string file(const std::string& name) {
  return AssayProgram::source("examples/softmax/" + name);
}

TEST(SoftmaxExample, OneKernelIsHeldAgainstTheOther) {
  const AssayProgram assay;
  const Finished race = assay.run({"race", file("once.cc"), "--against", file("naive.cc"),
                                   "--shape", "m=9,n=137", "--budget", "1s", "--threads", "1"});
  EXPECT_EQ(race.code(), 0) << race.out << race.err;
  EXPECT_THAT(testing::unbroken(race.out),
              AllOf(HasSubstr("softmax, defined by the user"), HasSubstr("2 kernels: 2 right"),
                    HasSubstr("cpp_source/once"), HasSubstr("cpp_source/naive"),
                    Not(HasSubstr("verdict none")), Not(HasSubstr("stock"))));
}

}  // namespace
}  // namespace assay
