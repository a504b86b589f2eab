#include "assay/device/device_lock.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/fd.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

class DeviceLockTest : public ::testing::Test {
 protected:
  Result<DeviceLock> hold(const DeviceLockOptions& options) {
    return DeviceLock::hold("cpu", options, [&](std::string_view who) { said_.emplace_back(who); });
  }
  TemporaryDirectory directory_ = TemporaryDirectory::create(testing::TempDir()).value();
  DeviceLockOptions options_ = {.folder = directory_.file("locks"), .fallback = {}, .wait = false};
  std::vector<std::string> said_;
};

TEST_F(DeviceLockTest, IsHeldByOneAndSaysByWhom) {
  std::optional<DeviceLock> first = hold(options_).value();
  const auto second = hold(options_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::busy);
  EXPECT_THAT(second.error().message, HasSubstr(fmt::format("process {} (", getpid())));
  EXPECT_THAT(second.error().message, HasSubstr("since 20"));
  EXPECT_TRUE(DeviceLock::hold("gpu-1f2e", options_, {})) << "another device is another lock";
  first.reset();
  EXPECT_TRUE(hold(options_));
  EXPECT_TRUE(said_.empty());
}

TEST_F(DeviceLockTest, AWishToStopEndsTheWait) {
  const auto first = hold(options_);
  ASSERT_TRUE(first);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd read_end(ends[0]), write_end(ends[1]);
  options_.wait = true;
  options_.cancel_fd = read_end.get();
  // The wish comes with the sentence, and the wait ends at its next look.
  const auto second = DeviceLock::hold("cpu", options_, [&](std::string_view who) {
    said_.emplace_back(who);
    (void)!::write(write_end.get(), "x", 1);
  });
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::interrupted);
  ASSERT_EQ(said_.size(), 1u) << "said once";
  EXPECT_THAT(said_.front(), HasSubstr(fmt::format("process {} (", getpid())));
  EXPECT_THAT(said_.front(), HasSubstr("--no-wait"));
}

TEST_F(DeviceLockTest, TheHoldersFileIsForEverybodyWhateverTheUmask) {
  const mode_t before = ::umask(0077);
  const auto place = find_device_lock("unit-test-of-assay", {});
  ::umask(before);
  if (!place) GTEST_SKIP() << place.error().message;
  ASSERT_TRUE(place->everybody);
  struct stat facts {};
  ASSERT_EQ(::stat(place->file.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0666u);
  ::unlink(place->file.c_str());
}

TEST_F(DeviceLockTest, FollowsNoLinksIntoFilesOfOthers) {
  ASSERT_TRUE(make_directories(options_.folder.string()));
  ASSERT_TRUE(write_file_atomic(directory_.file("precious"), "precious"));
  const std::string file = find_device_lock("cpu", options_)->file.string();
  ASSERT_EQ(::symlink(directory_.file("precious").c_str(), file.c_str()), 0);
  EXPECT_FALSE(hold(options_));
  ASSERT_EQ(::unlink(file.c_str()), 0);
  ASSERT_EQ(::link(directory_.file("precious").c_str(), file.c_str()), 0);
  EXPECT_FALSE(hold(options_));
  EXPECT_EQ(read_file(directory_.file("precious")).value_or(""), "precious");
}

TEST_F(DeviceLockTest, AFolderThatCannotBeMadeIsTheMachinesFault) {
  options_.folder = "/proc/nonexistent/locks";
  const auto lock = hold(options_);
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().code, ErrorCode::machine);
  EXPECT_THAT(lock.error().message, HasSubstr("/proc/nonexistent"));
}

TEST_F(DeviceLockTest, AnIdThatIsAPathIsRefused) {
  EXPECT_FALSE(DeviceLock::hold("../cpu", options_, {}));
  EXPECT_FALSE(DeviceLock::hold("", options_, {}));
}

}  // namespace
}  // namespace assay
