#include <signal.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/subprocess.h"

namespace assay {
namespace {

SubprocessOptions shell(const std::string& script) {
  SubprocessOptions options;
  options.argv = {"sh", "-c", script};
  return options;
}

TEST(RunCommand, CollectsBothStreams) {
  const auto output = run_command(shell("echo out; echo err >&2; exit 4"), {});
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->out, "out\n");
  EXPECT_EQ(output->err, "err\n");
  EXPECT_EQ(output->status.code, 4);
  EXPECT_FALSE(output->timed_out);
  EXPECT_FALSE(output->truncated);
}

TEST(RunCommand, FeedsInputLargerThanAPipe) {
  const std::string input(3 << 20, 'x');
  CommandLimits limits;
  limits.input = input;
  limits.max_output = 10 << 20;
  const auto output = run_command(shell("cat"), limits);
  ASSERT_TRUE(output);
  EXPECT_TRUE(output->out == input);
}

TEST(RunCommand, AChildThatIgnoresItsInputIsNoError) {
  const std::string input(3 << 20, 'x');
  CommandLimits limits;
  limits.input = input;
  const auto output = run_command(shell("exec <&-; echo done"), limits);
  ASSERT_TRUE(output);
  EXPECT_TRUE(output->status.success());
  EXPECT_EQ(output->out, "done\n");
}

TEST(RunCommand, KeepsOnlySoMuchOfALoudChild) {
  CommandLimits limits;
  limits.max_output = 1000;
  const auto output = run_command(
      shell("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; echo; exit 5"), limits);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->out.size(), 1000u);
  EXPECT_EQ(output->err.size(), 1000u);
  EXPECT_TRUE(output->truncated);
  EXPECT_EQ(output->status.code, 5) << "it was read to its end, not stopped";
}

TEST(RunCommand, ATimeoutKillsTheGroupAndKeepsTheOutput) {
  // The shell says when it sleeps only by its output, so the timeout must leave time for a start.
  CommandLimits limits;
  limits.timeout_ns = 300'000'000;
  const auto output = run_command(shell("echo before; sleep 1000; echo after"), limits);
  ASSERT_TRUE(output);
  EXPECT_TRUE(output->timed_out);
  EXPECT_EQ(output->status.signal, SIGKILL);
  EXPECT_EQ(output->out.find("after"), std::string::npos);
}

TEST(RunCommand, DoesNotWaitForWhoeverElseHoldsThePipe) {
  const auto output = run_command(shell("sleep 1000 & echo hi"), {});
  ASSERT_TRUE(output);
  EXPECT_EQ(output->out, "hi\n");
  // One that left the group cannot be killed, but does not hold us up either.
  const auto escaped = run_command(shell("setsid sleep 1000 & echo $!"), {});
  ASSERT_TRUE(escaped);
  const pid_t pid = std::stoi(escaped->out);
  if (pid > 0) kill(pid, SIGKILL);
}

TEST(RunCommand, AChildMayCloseItsStreamsAndLiveOn) {
  const auto output = run_command(shell("exec >&- 2>&-; sleep 0.05; exit 6"), {});
  ASSERT_TRUE(output);
  EXPECT_EQ(output->status.code, 6);
}

TEST(RunCommand, StopsWhenCancelled) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  CommandLimits limits;
  limits.cancel_fd = ends[0];
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  const auto output = run_command(shell("sleep 1000"), limits);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().code, ErrorCode::interrupted);
  close(ends[0]);
  close(ends[1]);
}

TEST(RunCommand, AMissingProgramIsAnError) {
  SubprocessOptions options;
  options.argv = {"no-such-program-anywhere"};
  EXPECT_EQ(run_command(options, {}).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace assay
