#include "cli/show/lock_wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/width.h"

namespace assay::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(LockWaitTest, TheLineOfATerminalFitsAndSaysWhoIsAhead) {
  DeviceWait wait;
  wait.device = "cpu";
  wait.holder = "process 12 (assay sweep --suite decode), since 2025-01-31T23:59:59Z";
  wait.ahead = 3;
  wait.seconds = 75;
  const std::string wide = wait_line(wait, 160);
  EXPECT_THAT(
      wide,
      StartsWith("waiting 1:15 for the cores, 3 ahead (Ctrl-C gives up): process 12 (assay sweep"));
  EXPECT_THAT(wide, HasSubstr("since 2025"));
  const std::string narrow = wait_line(wait, 40);
  EXPECT_LE(report::display_width(narrow), 40);
  EXPECT_THAT(narrow, StartsWith("waiting 1:15 for the cores, 3 ahead"));
}

}  // namespace
}  // namespace assay::cli
