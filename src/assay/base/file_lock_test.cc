#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/clock.h"
#include "assay/base/file.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

class FileLockTest : public ::testing::Test {
 protected:
  TemporaryDirectory directory_ = TemporaryDirectory::create(testing::TempDir()).value();
  std::string path_ = directory_.file("device.lock");
};

TEST_F(FileLockTest, IsHeldByOneAndNamesIt) {
  auto first = FileLock::try_lock(path_, "assay sweep --suite x");
  ASSERT_TRUE(first) << first.error().message;
  const auto second = FileLock::try_lock(path_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::busy);
  EXPECT_THAT(second.error().message,
              HasSubstr(fmt::format("process {} (assay sweep --suite x), since 20", getpid())));
  first->release();
  EXPECT_TRUE(FileLock::try_lock(path_));
}

TEST_F(FileLockTest, NamesItsOwnCommandLineByDefault) {
  const auto lock = FileLock::try_lock(path_);
  ASSERT_TRUE(lock);
  EXPECT_THAT(FileLock::try_lock(path_).error().message, HasSubstr("base_test"));
}

TEST_F(FileLockTest, MovesWithItsOwner) {
  auto lock = FileLock::try_lock(path_).value();
  {
    const FileLock moved = std::move(lock);
    EXPECT_FALSE(FileLock::try_lock(path_));
  }
  EXPECT_TRUE(FileLock::try_lock(path_));
}

TEST_F(FileLockTest, IsFreeWhenTheHolderIsKilled) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = FileLock::try_lock(path_, "holder");
    (void)!write(ready[1], lock ? "y" : "n", 1);
    while (true) pause();
  }
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  const auto busy = FileLock::try_lock(path_);
  ASSERT_FALSE(busy);
  EXPECT_THAT(busy.error().message, HasSubstr(fmt::format("process {} (holder)", child)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(FileLock::try_lock(path_));
  close(ready[0]);
  close(ready[1]);
}

TEST_F(FileLockTest, WaitsForItsTurn) {
  auto first = FileLock::try_lock(path_, "first").value();
  int asked = 0;
  FileLock::Wait wait;
  wait.keep_waiting = [&](std::string_view holder) {
    EXPECT_THAT(std::string(holder), HasSubstr("(first)"));
    if (++asked == 2) first.release();
    return true;
  };
  EXPECT_TRUE(FileLock::lock(path_, wait));
  EXPECT_EQ(asked, 2);
}

TEST_F(FileLockTest, GivesUpWhenToldOrLate) {
  const auto first = FileLock::try_lock(path_).value();
  FileLock::Wait told;
  told.keep_waiting = [](std::string_view) { return false; };
  EXPECT_EQ(FileLock::lock(path_, told).error().code, ErrorCode::interrupted);
  FileLock::Wait late;
  late.deadline_ns = monotonic_ns() + 1'000'000;
  EXPECT_EQ(FileLock::lock(path_, late).error().code, ErrorCode::busy);
}

TEST_F(FileLockTest, NoticesThatTheFileWasRemoved) {
  const auto first = FileLock::try_lock(path_).value();
  ASSERT_EQ(unlink(path_.c_str()), 0);
  const auto second = FileLock::try_lock(path_);
  ASSERT_TRUE(second) << "a new file is a new lock";
  EXPECT_FALSE(FileLock::try_lock(path_));
}

TEST_F(FileLockTest, FollowsNoLinksAndOpensNoFolders) {
  ASSERT_TRUE(write_file_atomic(directory_.file("target"), "precious"));
  ASSERT_EQ(symlink("target", path_.c_str()), 0);
  EXPECT_EQ(FileLock::try_lock(path_).error().code, ErrorCode::invalid_input);
  EXPECT_EQ(read_file(directory_.file("target")).value(), "precious");
  EXPECT_FALSE(FileLock::try_lock(directory_.path()));
  EXPECT_FALSE(FileLock::try_lock(""));
  EXPECT_FALSE(FileLock::try_lock(directory_.file("no/such/folder")));
}

TEST_F(FileLockTest, WritesNoNameIntoAFileThatHasAnother) {
  ASSERT_TRUE(write_file_atomic(directory_.file("target"), "precious"));
  ASSERT_EQ(link(directory_.file("target").c_str(), path_.c_str()), 0);
  EXPECT_EQ(FileLock::try_lock(path_).error().code, ErrorCode::invalid_input);
  EXPECT_EQ(read_file(directory_.file("target")).value(), "precious");
}

TEST_F(FileLockTest, ShowsHostileHolderTextSafely) {
  ASSERT_TRUE(write_file_atomic(path_, ""));
  const auto lock = FileLock::try_lock(path_, "evil\x1b[2J\n\n" + std::string(5000, 'x'));
  const std::string message = FileLock::try_lock(path_).error().message;
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_LT(message.size(), 1000u);
}

}  // namespace
}  // namespace assay
