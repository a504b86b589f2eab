#include "assay/device/device_lock.h"

#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

// Two users, one machine. The second is a child of this test.
class TwoUsersTest : public DeviceLockTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
    ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  }
  // What the other user is told when it wants the lock; empty if it got it.
  std::string asked_by_another(std::string_view device) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const UniqueFd read_end(ends[0]);
    UniqueFd write_end(ends[1]);
    const pid_t child = ::fork();
    if (child == 0) {
      std::string told = "cannot be another user";
      if (::setgroups(0, nullptr) == 0 && ::setresgid(kOther, kOther, kOther) == 0 &&
          ::setresuid(kOther, kOther, kOther) == 0) {
        const auto lock = DeviceLock::hold(device, options_, {});
        told =
            lock ? "" : fmt::format("{}: {}", to_string(lock.error().code), lock.error().message);
      }
      (void)!::write(write_end.get(), told.data(), told.size());
      ::_exit(0);
    }
    write_end.reset();
    std::string told;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(read_end.get(), buffer, sizeof buffer)) > 0;)
      told.append(buffer, static_cast<size_t>(got));
    ::waitpid(child, nullptr, 0);
    return told;
  }
  static constexpr uid_t kOther = 65534;
};

TEST_F(TwoUsersTest, KeepEachOtherOutByNameWhateverTheUmask) {
  const mode_t before = ::umask(0077);
  std::optional<DeviceLock> ours = hold(options_).value();
  ::umask(before);
  EXPECT_THAT(asked_by_another("cpu"), HasSubstr(fmt::format("process {} (", getpid())));
  EXPECT_EQ(asked_by_another("gpu-1f2e"), "") << "a lock that only the other has made";
  ours.reset();
  EXPECT_EQ(asked_by_another("cpu"), "");
  EXPECT_TRUE(hold(options_)) << "and the other's lock is ours again";
}

TEST_F(TwoUsersTest, AFileThatOnlyItsOwnerOpensIsSaidWithItsOwner) {
  ASSERT_TRUE(hold(options_)) << "and let go";
  const std::string file = find_device_lock("cpu", options_)->file.string();
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  const std::string told = asked_by_another("cpu");
  EXPECT_THAT(told, HasSubstr(file));
  EXPECT_THAT(told, HasSubstr("belongs to user 0"));
  EXPECT_THAT(told, HasSubstr("--lock-dir"));
  // Read alone is enough to take turns.
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  EXPECT_EQ(asked_by_another("cpu"), "");
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
