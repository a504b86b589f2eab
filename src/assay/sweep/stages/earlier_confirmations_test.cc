#include "assay/sweep/stages/earlier_confirmations.h"

#include <fstream>

#include <gtest/gtest.h>

#include "assay/base/file.h"

namespace assay::sweep {
namespace {

TEST(EarlierConfirmations, AreCountedByTheirKey) {
  const auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder);
  const std::string path = folder->file("new/folder/confirmations");
  EXPECT_EQ(count_confirmation(path, "one").value(), 0);
  EXPECT_EQ(count_confirmation(path, "one").value(), 1);
  EXPECT_EQ(count_confirmation(path, "other").value(), 0);
  EXPECT_EQ(count_confirmation(path, "one").value(), 2);
}

TEST(EarlierConfirmations, ATornLineIsNoneAndTheNextIsWhole) {
  const auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder);
  const std::string path = folder->file("confirmations");
  EXPECT_EQ(count_confirmation(path, "one").value(), 0);
  std::ofstream(path, std::ios::app) << "on";
  EXPECT_EQ(count_confirmation(path, "one").value(), 1);
  EXPECT_EQ(count_confirmation(path, "one").value(), 2);
  EXPECT_EQ(count_confirmation(path, "on").value(), 0);
}

TEST(EarlierConfirmations, AFileThatCannotBeKeptIsAnError) {
  EXPECT_FALSE(count_confirmation("/proc/no/such/confirmations", "one"));
}

}  // namespace
}  // namespace assay::sweep
