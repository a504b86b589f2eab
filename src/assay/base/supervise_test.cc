#include "assay/base/supervise.h"

#include <cstdlib>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/text.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

// The role is the program's; tests of this part may run where it was not built.
class SuperviseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* program = std::getenv("ASSAY_BINARY");
    if (program == nullptr || !is_program(program)) GTEST_SKIP() << "needs ASSAY_BINARY";
    program_ = program;
  }

  Result<CommandOutput> run(const std::string& script, CommandLimits limits = {}) {
    SubprocessOptions options;
    options.argv = {"sh", "-c", script};
    options.env = {"PATH=/usr/bin:/bin"};
    options.working_directory = folder_.path();
    return run_supervised(options, limits, program_);
  }

  std::string program_;
  TemporaryDirectory folder_ = *TemporaryDirectory::create();
};

// A daemon of its own session holds the lock as long as it lives: what can be locked is free.
constexpr const char* kDaemon =
    "(setsid sh -c 'exec 9>held; flock 9; echo up > up; exec sleep 1000' &) ; "
    "until [ -e up ]; do :; done; ";

bool is_free(const std::string& file) { return FileLock::try_lock(file).has_value(); }

TEST_F(SuperviseTest, EndsAsTheProgramEnds) {
  EXPECT_EQ(run("echo out; echo err >&2; exit 7")->status.code, 7);
  const auto output = run("echo out; echo err >&2");
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_TRUE(output->status.success());
  EXPECT_EQ(output->out, "out\n");
  EXPECT_EQ(output->err, "err\n");
  const auto killed = run("kill -SEGV $$");
  EXPECT_EQ(killed->status.kind, ExitStatus::Kind::signaled);
  EXPECT_EQ(killed->status.signal, SIGSEGV);
}

TEST_F(SuperviseTest, NoDaemonOutlivesItsProgram) {
  const auto output = run(kDaemon);
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_TRUE(output->status.success());
  EXPECT_TRUE(is_free(folder_.path() + "/held"));
}

TEST_F(SuperviseTest, NorATimeout) {
  CommandLimits limits;
  limits.timeout_ns = kNsPerSecond;
  const auto output = run(std::string(kDaemon) + "trap '' TERM; sleep 1000", limits);
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_TRUE(output->timed_out);
  EXPECT_TRUE(is_free(folder_.path() + "/held"));
}

TEST_F(SuperviseTest, NorItsCallersDeath) {
  const pid_t caller = ::fork();
  if (caller == 0) {
    (void)run(std::string(kDaemon) + "sleep 1000");
    ::_exit(0);
  }
  while (::access((folder_.path() + "/up").c_str(), F_OK) != 0) ::usleep(1000);
  ::kill(caller, SIGKILL);
  // Whoever dies last lets go: waiting for the lock is waiting for that.
  EXPECT_TRUE(FileLock::lock(folder_.path() + "/held", {}));
}

TEST_F(SuperviseTest, NorItsSupervisorsDeath) {
  const auto output = run(std::string(kDaemon) + "kill -KILL $PPID; exec sleep 1000");
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->status.kind, ExitStatus::Kind::signaled);
  EXPECT_EQ(output->status.signal, SIGKILL);
  EXPECT_TRUE(is_free(folder_.path() + "/held"));
}

TEST_F(SuperviseTest, AWrongNameIsSaidBeforeAnythingStarts) {
  SubprocessOptions options;
  options.argv = {"./nosuch"};
  options.working_directory = folder_.path();
  const auto output = run_supervised(options, {}, program_);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().code, ErrorCode::not_found);
  EXPECT_THAT(output.error().message, HasSubstr("./nosuch"));
}

}  // namespace
}  // namespace assay
