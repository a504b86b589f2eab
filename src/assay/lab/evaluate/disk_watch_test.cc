#include "assay/lab/evaluate/disk_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"

namespace assay::lab {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr int kWatchdogMs = 60'000;

bool becomes_readable(int descriptor) {
  pollfd one{descriptor, POLLIN, 0};
  return ::poll(&one, 1, kWatchdogMs) == 1;
}

class DiskWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryDirectory::create();
    ASSERT_TRUE(made.has_value());
    folder_ = std::make_unique<TemporaryDirectory>(std::move(*made));
  }
  void write(const std::string& name, std::uint64_t bytes) const {
    ASSERT_TRUE(write_file_atomic(folder_->file(name), std::string(bytes, 'x')).has_value());
  }
  // With room at first, and none from the second look on.
  static std::function<std::uint64_t(const std::filesystem::path&)> falling_disk() {
    return [looks = 0](const std::filesystem::path&) mutable { return looks++ == 0 ? kMiB : 0; };
  }
  std::unique_ptr<DiskWatch> begin(DiskLimit limit, int cancel_fd = -1) const {
    auto watch = DiskWatch::begin({folder_->path()}, limit, cancel_fd);
    return watch ? std::move(*watch) : nullptr;
  }
  std::unique_ptr<TemporaryDirectory> folder_;
};

TEST_F(DiskWatchTest, OnlyWhatIsAddedCountsAndOnlyBeyondTheLimit) {
  write("before", 3 * kMiB);
  const auto watch = begin({.bytes = 2 * kMiB, .reserve = 0});
  ASSERT_NE(watch, nullptr);
  write("more", kMiB);
  EXPECT_EQ(watch->finish(), "");
}

TEST_F(DiskWatchTest, PassingTheLimitIsToldWhileTheProgramRuns) {
  const auto watch = begin({.bytes = kMiB, .reserve = 0});
  ASSERT_NE(watch, nullptr);
  for (const char* name : {"one", "two", "three"}) write(name, kMiB);
  EXPECT_TRUE(becomes_readable(watch->cancel_fd()));
  EXPECT_EQ(watch->finish(), "wrote more than 1.00 MiB to the disk");
}

TEST_F(DiskWatchTest, AFileWithHolesIsAsLargeAsItSays) {
  const auto watch = begin({.bytes = kMiB, .reserve = 0});
  ASSERT_NE(watch, nullptr);
  write("holes", 1);
  ASSERT_EQ(::truncate(folder_->file("holes").c_str(), 2 * kMiB), 0);
  EXPECT_EQ(watch->finish(), "wrote more than 1.00 MiB to the disk");
}

TEST_F(DiskWatchTest, WhatLiesInAFolderWithoutRightsCounts) {
  const auto watch = begin({.bytes = kMiB, .reserve = 0});
  ASSERT_NE(watch, nullptr);
  ASSERT_TRUE(make_directories(folder_->file("hidden")));
  write("hidden/large", 2 * kMiB);
  ASSERT_EQ(::chmod(folder_->file("hidden").c_str(), 0), 0);
  EXPECT_EQ(watch->finish(), "wrote more than 1.00 MiB to the disk");
}

TEST_F(DiskWatchTest, WhatAProgramLeftInItsLastMomentCounts) {
  const auto watch = begin({.bytes = kMiB, .reserve = 0});
  ASSERT_NE(watch, nullptr);
  write("all", 3 * kMiB);
  EXPECT_THAT(watch->finish(), HasSubstr("wrote more than"));
}

TEST_F(DiskWatchTest, ADiskThatBecomesNearlyFullEndsAnyProgram) {
  const auto watch = begin({.bytes = kMiB, .reserve = kMiB, .free_bytes = falling_disk()});
  ASSERT_NE(watch, nullptr);
  EXPECT_TRUE(becomes_readable(watch->cancel_fd()));
  EXPECT_THAT(watch->finish(), HasSubstr("the disk has less than"));
}

TEST_F(DiskWatchTest, BesideAClockWhatWasAddedIsCountedAtTheEnd) {
  const auto watch = begin({.bytes = kMiB, .reserve = 0, .looks = DiskLooks::free_alone});
  ASSERT_NE(watch, nullptr);
  for (const char* name : {"one", "two", "three"}) write(name, kMiB);
  pollfd one{watch->cancel_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&one, 1, 1500), 0);
  EXPECT_EQ(watch->finish(), "wrote more than 1.00 MiB to the disk");
}

TEST_F(DiskWatchTest, BesideAClockAFullDiskStillEndsAProgram) {
  const auto watch = begin({.bytes = kMiB,
                            .reserve = kMiB,
                            .looks = DiskLooks::free_alone,
                            .free_bytes = falling_disk()});
  ASSERT_NE(watch, nullptr);
  EXPECT_TRUE(becomes_readable(watch->cancel_fd()));
}

// Whoever is started there can do nothing for it.
TEST_F(DiskWatchTest, ADiskThatIsNearlyFullIsTheMachinesFault) {
  const auto watch =
      DiskWatch::begin({folder_->path()}, {.bytes = kMiB, .reserve = std::uint64_t{1} << 60}, -1);
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().code, ErrorCode::machine);
  EXPECT_THAT(watch.error().message, HasSubstr("make room"));
}

TEST_F(DiskWatchTest, TheCallersOwnCancelIsPassedOn) {
  const UniqueFd cancel(::eventfd(1, EFD_CLOEXEC));
  const auto watch = begin({.bytes = kMiB, .reserve = 0}, cancel.get());
  ASSERT_NE(watch, nullptr);
  EXPECT_TRUE(becomes_readable(watch->cancel_fd()));
  EXPECT_EQ(watch->finish(), "");
}

}  // namespace
}  // namespace assay::lab
