#include "assay/device/device_lock.h"

#include <array>
#include <fcntl.h>
#include <grp.h>
#include <numeric>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/fd.h"
#include "assay/base/file.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

class DeviceLockTest : public ::testing::Test {
 protected:
  Result<DeviceLock> hold(const DeviceLockOptions& options) {
    return DeviceLock::hold("cpu", options,
                            in_two_lines([&](std::string_view line) { said_.emplace_back(line); }));
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
  const auto second = DeviceLock::hold("cpu", options_, in_two_lines([&](std::string_view line) {
                                         said_.emplace_back(line);
                                         (void)!::write(write_end.get(), "x", 1);
                                       }));
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

// Processes that want the lock one after the other, by turns of two users where that can be. Each
// tells when it waits; when it has the lock it writes its number, and ends.
class QueueTest : public DeviceLockTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
    ASSERT_EQ(::pipe2(told_.data(), O_CLOEXEC), 0);
    options_.wait = true;
  }
  void TearDown() override {
    for (const int end : told_) ::close(end);
  }

  // Returns once it waits, and is so behind all that waited before.
  pid_t start(int number) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(wait_and_tell(number));
    EXPECT_EQ(next_told(), fmt::format("{:03} waits", number));
    return child;
  }
  std::string next_told() {
    std::array<char, 9> text{};
    EXPECT_EQ(::read(told_[0], text.data(), text.size()), 9);
    return {text.data(), text.size()};
  }

 private:
  void tell(int number, const char* what) {
    (void)!::write(told_[1], fmt::format("{:03} {}", number, what).data(), 9);
  }
  int wait_and_tell(int number) {
    constexpr uid_t kOther = 65534;
    if (::geteuid() == 0 && number % 2 == 1 &&
        (::setgroups(0, nullptr) != 0 || ::setresgid(kOther, kOther, kOther) != 0 ||
         ::setresuid(kOther, kOther, kOther) != 0))
      return 1;
    int lines = 0;
    const auto lock = DeviceLock::hold("cpu", options_, in_two_lines([&](std::string_view) {
                                         if (++lines == 1) tell(number, "waits");
                                       }));
    tell(number, lock && lines == 2 ? "holds" : "fails");
    return 0;
  }
  std::array<int, 2> told_{};
};

TEST_F(QueueTest, TwelveOfTwoUsersAreServedInTheirOrderAndNobodyWaitsForTheDead) {
  std::optional<DeviceLock> first = hold(options_).value();
  std::vector<int> alive(12);
  std::iota(alive.begin(), alive.end(), 0);
  std::vector<pid_t> children;
  for (const int number : alive) children.push_back(start(number));
  for (const int dead : {7, 0, 4}) {
    ::kill(children[static_cast<size_t>(dead)], SIGKILL);
    ::waitpid(children[static_cast<size_t>(dead)], nullptr, 0);
    std::erase(alive, dead);
  }
  // One that comes now is the last, though places before it are free.
  children.push_back(start(12));
  alive.push_back(12);
  first.reset();
  for (const int number : alive) EXPECT_EQ(next_told(), fmt::format("{:03} holds", number));
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
}

TEST_F(QueueTest, WhoWillNotWaitDoesNotPushIn) {
  std::optional<DeviceLock> first = hold(options_).value();
  const pid_t child = start(0);
  ::kill(child, SIGSTOP);  // It is next in line, and does not look.
  ::waitpid(child, nullptr, WUNTRACED);
  first.reset();
  options_.wait = false;
  const auto pushy = hold(options_);
  ASSERT_FALSE(pushy);
  EXPECT_EQ(pushy.error().code, ErrorCode::busy);
  ::kill(child, SIGCONT);
  EXPECT_EQ(next_told(), "000 holds");
  ::waitpid(child, nullptr, 0);
}

TEST_F(DeviceLockTest, AWaitSaysWhoIsAheadAndWhenItIsOver) {
  std::optional<DeviceLock> first = hold(options_).value();
  options_.wait = true;
  int looks = 0;
  const auto second = DeviceLock::hold("cpu", options_, [&](const DeviceWait& wait) {
    EXPECT_EQ(wait.ahead, 1);
    EXPECT_EQ(wait.over, ++looks == 3);
    if (looks == 2) first.reset();
  });
  EXPECT_TRUE(second);
  EXPECT_EQ(looks, 3);
}

TEST_F(DeviceLockTest, ALockThatWasHandedDownIsHeldAtOnceAndStaysTheParents) {
  std::optional<DeviceLock> parent = hold(options_).value();
  DeviceLockOptions child = options_;
  child.handed_down_fd = parent->descriptor();
  EXPECT_TRUE(hold(child));
  EXPECT_TRUE(hold(child)) << "and again";
  EXPECT_FALSE(hold(options_)) << "the parent still holds it";
  EXPECT_TRUE(DeviceLock::hold("gpu-1f2e", child, {})) << "another device is another lock";
  parent.reset();
  EXPECT_TRUE(hold(options_));
}

TEST_F(DeviceLockTest, WhatIsHandedDownMustBeTheLockAndHeld) {
  ASSERT_TRUE(hold(options_)) << "and let go";
  DeviceLockOptions child = options_;
  child.handed_down_fd = 1 << 20;
  EXPECT_THAT(hold(child).error().message, HasSubstr("is not open"));
  const UniqueFd file(::open(find_device_lock("cpu", options_)->file.c_str(), O_RDWR | O_CLOEXEC));
  child.handed_down_fd = file.get();
  EXPECT_THAT(hold(child).error().message, HasSubstr("nobody holds"));
  const auto parent = hold(options_);
  const auto refused = hold(child);
  ASSERT_FALSE(refused) << "held, but not by that descriptor";
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_input);
}

}  // namespace
}  // namespace assay
