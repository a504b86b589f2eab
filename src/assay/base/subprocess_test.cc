#include "assay/base/subprocess.h"

#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/base/text.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

SubprocessOptions in_shell(const std::string& script) {
  SubprocessOptions options;
  options.argv = {"/bin/sh", "-c", script};
  options.env = {"PATH=/usr/bin:/bin"};
  return options;
}

std::string read_all(UniqueFd& fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(fd.get(), buffer, sizeof buffer)) != 0;) {
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR) break;
  }
  return text;
}

std::string read_line(UniqueFd& fd) {
  std::string text;
  for (char c = 0; read(fd.get(), &c, 1) == 1 && c != '\n';) text += c;
  return text;
}

std::string output_of(SubprocessOptions options) {
  options.stdout_to = Redirect::pipe();
  auto process = Subprocess::start(options);
  if (!process) return process.error().message;
  std::string text = read_all(process->stdout_pipe());
  EXPECT_TRUE(process->wait());
  return text;
}

std::size_t count_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

// A process that is not our child: its end makes this descriptor readable, even as a zombie.
UniqueFd watch(pid_t pid) { return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }

bool ended(const UniqueFd& watched) {
  return wait_for_fd(watched.get(), POLLIN, std::nullopt).value_or(false);
}

TEST(Subprocess, ReportsHowItEnded) {
  auto exited = Subprocess::start(in_shell("exit 3")).value();
  const ExitStatus code = exited.wait().value();
  EXPECT_EQ(code.code, 3);
  EXPECT_FALSE(code.success());
  EXPECT_EQ(code.describe(), "exited with code 3");
  EXPECT_EQ(exited.poll()->code, 3) << "asking again is fine";

  auto crashed = Subprocess::start(in_shell("kill -SEGV $$")).value();
  const ExitStatus signal = crashed.wait().value();
  EXPECT_EQ(signal.kind, ExitStatus::Kind::signaled);
  EXPECT_EQ(signal.describe(), "killed by signal 11 (SIGSEGV)");

  EXPECT_TRUE(Subprocess::start(in_shell("exit 0"))->wait()->success());
}

TEST(Subprocess, ExecFailureIsAnErrorOfStart) {
  SubprocessOptions options;
  options.argv = {"/no/such/program"};
  const auto missing = Subprocess::start(options);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_EQ(missing.error().message, "cannot run '/no/such/program': No such file or directory");

  options.argv = {"/etc/passwd"};
  EXPECT_THAT(Subprocess::start(options).error().message, HasSubstr("Permission denied"));
  options.argv = {"no-such-program-anywhere"};
  EXPECT_EQ(Subprocess::start(options).error().code, ErrorCode::not_found);
  options = in_shell("true");
  options.working_directory = "/no/such/folder";
  EXPECT_THAT(Subprocess::start(options).error().message, HasSubstr("in '/no/such/folder'"));
}

TEST(Subprocess, RefusesOptionsThatMakeNoSense) {
  SubprocessOptions none;
  EXPECT_EQ(Subprocess::start(none).error().code, ErrorCode::invalid_input);
  auto options = in_shell("true");
  options.env = {"NOVALUE"};
  EXPECT_THAT(Subprocess::start(options).error().message, HasSubstr("NAME=value"));
  options = in_shell(std::string("a\0b", 3));
  EXPECT_THAT(Subprocess::start(options).error().message, HasSubstr("NUL"));
  options = in_shell("true");
  options.extra_fds = {{1, 0}};
  EXPECT_FALSE(Subprocess::start(options));
  options.extra_fds = {{5, 9999}};
  EXPECT_THAT(Subprocess::start(options).error().message, HasSubstr("not open"));
  options.extra_fds = {{5, 0}, {5, 1}};
  EXPECT_THAT(Subprocess::start(options).error().message, HasSubstr("given twice"));
}

TEST(Subprocess, EnvironmentIsExact) {
  SubprocessOptions options;
  options.argv = {"/usr/bin/env"};
  EXPECT_EQ(output_of(options), "");
  options.env = {"A=1", "B=two words"};
  EXPECT_EQ(output_of(options), "A=1\nB=two words\n");
}

TEST(Subprocess, ProgramsAreFoundAlongTheGivenPath) {
  SubprocessOptions options;
  options.argv = {"env"};
  options.env = {"PATH=/no/such:/usr/bin:/bin"};
  EXPECT_EQ(output_of(options), "PATH=/no/such:/usr/bin:/bin\n");
  options.env = {"PATH=/no/such"};
  EXPECT_THAT(output_of(options), HasSubstr("there is no program 'env' in /no/such"));
}

TEST(Subprocess, RunsInTheFolderItWasGiven) {
  auto options = in_shell("pwd -P");
  options.working_directory = "/usr/bin";
  const std::string expected = std::filesystem::canonical("/usr/bin").string() + "\n";
  EXPECT_EQ(output_of(options), expected);
}

TEST(Subprocess, NoDescriptorLeaksIntoTheChild) {
  const UniqueFd leaky(::open("/dev/null", O_RDONLY));  // Not close-on-exec, on purpose.
  ASSERT_EQ(fcntl(leaky.get(), F_GETFD), 0);
  EXPECT_EQ(output_of(in_shell("ls /proc/$$/fd; :")), "0\n1\n2\n");
  auto options = in_shell("ls /proc/$$/fd; :");
  options.extra_fds = {{7, leaky.get()}};
  EXPECT_EQ(output_of(options), "0\n1\n2\n7\n");
}

TEST(Subprocess, DescriptorsMayTradeNumbers) {
  int a[2], b[2];
  ASSERT_EQ(pipe2(a, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(b, O_CLOEXEC), 0);
  UniqueFd read_a(a[0]), write_a(a[1]), read_b(b[0]), write_b(b[1]);
  if (write_a.get() > 9 || write_b.get() > 9) GTEST_SKIP() << "sh writes to one-digit numbers only";
  auto options =
      in_shell(fmt::format("echo to-b >&{}; echo to-a >&{}", write_a.get(), write_b.get()));
  options.extra_fds = {{write_a.get(), write_b.get()}, {write_b.get(), write_a.get()}};
  ASSERT_TRUE(Subprocess::start(options)->wait()->success());
  EXPECT_EQ(read_line(read_a), "to-a");
  EXPECT_EQ(read_line(read_b), "to-b");
}

TEST(Subprocess, StreamsGoWhereTheyAreSent) {
  auto options = in_shell("read line; echo \"got $line\"; echo oops >&2");
  options.stdin_to = options.stdout_to = options.stderr_to = Redirect::pipe();
  auto process = Subprocess::start(options).value();
  ASSERT_TRUE(write_all(process.stdin_pipe().get(), "hello\n"));
  process.stdin_pipe().reset();
  EXPECT_EQ(read_all(process.stdout_pipe()), "got hello\n");
  EXPECT_EQ(read_all(process.stderr_pipe()), "oops\n");

  const auto folder = TemporaryDirectory::create(testing::TempDir()).value();
  UniqueFd file(::open(folder.file("log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  options = in_shell("echo out; echo err >&2; cat");  // cat ends at once: stdin is /dev/null.
  options.stdout_to = options.stderr_to = Redirect::fd(file.get());
  ASSERT_TRUE(Subprocess::start(options)->wait()->success());
  EXPECT_EQ(read_file(folder.file("log")).value(), "out\nerr\n");
}

// The signal that ends a shell which sends itself `number`; 0: it lived on.
int ended_by(int number) {
  auto process = Subprocess::start(in_shell(fmt::format("kill -{} $$; exit 0", number))).value();
  return process.wait()->signal;
}

TEST(Subprocess, SignalsStartAfresh) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto handler = signal(SIGUSR1, SIG_IGN);
  // The C library keeps this one for itself and refuses to change it; others may have ignored it.
  constexpr int kReserved = 33;
  const std::array<unsigned long, 4> ignore{1};
  std::array<unsigned long, 4> kept{};
  syscall(SYS_rt_sigaction, kReserved, ignore.data(), kept.data(), 8);
  for (const int number : {SIGTERM, SIGUSR2, SIGUSR1, kReserved}) {
    EXPECT_EQ(ended_by(number), number);
  }
  syscall(SYS_rt_sigaction, kReserved, kept.data(), nullptr, 8);
  signal(SIGUSR1, handler);
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, &before, &now);
  EXPECT_EQ(sigismember(&now, SIGTERM), 1) << "our own mask is as it was";
  EXPECT_EQ(sigismember(&now, SIGINT), 0) << "our own mask is as it was";
}

TEST(Subprocess, WritesNoCoreUnlessAsked) { EXPECT_EQ(output_of(in_shell("ulimit -c")), "0\n"); }

TEST(Subprocess, WaitGivesUpWhenItsTimeIsOver) {
  auto process = Subprocess::start(in_shell("exec sleep 1000")).value();
  EXPECT_TRUE(process.poll()->running());
  EXPECT_TRUE(process.wait(1'000'000)->running());
  EXPECT_EQ(process.poll()->describe(), "still running");
  EXPECT_EQ(process.terminate()->signal, SIGKILL);
}

TEST(Subprocess, TerminateAsksFirst) {
  auto options = in_shell("trap 'exit 7' TERM; echo ready; while :; do sleep 1; done");
  options.stdout_to = Redirect::pipe();
  auto process = Subprocess::start(options).value();
  ASSERT_EQ(read_line(process.stdout_pipe()), "ready");
  EXPECT_EQ(process.terminate(60'000'000'000)->code, 7);
  EXPECT_TRUE(process.send_signal(SIGTERM)) << "nobody is there any more, which is fine";
}

TEST(Subprocess, TheDestructorTakesTheWholeGroup) {
  auto options = in_shell("sleep 1000 & echo $!; wait");
  options.stdout_to = Redirect::pipe();
  UniqueFd child, grandchild;
  {
    auto process = Subprocess::start(options).value();
    const pid_t pid = std::stoi(read_line(process.stdout_pipe()));
    child = watch(process.pid());
    grandchild = watch(pid);
    ASSERT_TRUE(child && grandchild);
    Subprocess moved = std::move(process);
    EXPECT_EQ(process.pid(), -1);
    EXPECT_TRUE(moved.poll()->running());
  }
  EXPECT_TRUE(ended(child));
  EXPECT_TRUE(ended(grandchild));
}

TEST(Subprocess, WhatTheChildLeftBehindIsKilled) {
  auto options = in_shell("sleep 1000 & echo $!; read line; exit 0");
  options.stdin_to = options.stdout_to = Redirect::pipe();
  auto process = Subprocess::start(options).value();
  const UniqueFd grandchild = watch(std::stoi(read_line(process.stdout_pipe())));
  ASSERT_TRUE(grandchild);
  process.stdin_pipe().reset();
  EXPECT_TRUE(process.wait()->success());
  EXPECT_TRUE(ended(grandchild));
}

TEST(Subprocess, DiesWithItsParent) {
  int report[2];
  ASSERT_EQ(pipe2(report, O_CLOEXEC), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    const auto process = Subprocess::start(in_shell("exec sleep 1000"));
    const pid_t pid = process ? process->pid() : -1;
    (void)!write(report[1], &pid, sizeof pid);
    while (true) pause();
  }
  pid_t pid = -1;
  ASSERT_EQ(read(report[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  const UniqueFd child = watch(pid);
  EXPECT_TRUE(child);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_TRUE(ended(child));
  close(report[0]);
  close(report[1]);
}

TEST(Subprocess, ManyThreadsMayStartProcesses) {
  const std::size_t before = count_descriptors();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 10; ++i) {
        // A pipe that leaked into a sister process would keep read_all from ever ending.
        EXPECT_EQ(output_of(in_shell(fmt::format("echo {}-{}", t, i))),
                  fmt::format("{}-{}\n", t, i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count_descriptors(), before);
}

TEST(Subprocess, FailuresLeakNoDescriptors) {
  const std::size_t before = count_descriptors();
  auto options = in_shell("true");
  options.stdin_to = options.stdout_to = options.stderr_to = Redirect::pipe();
  options.argv[0] = "/no/such/program";
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(Subprocess::start(options));
  options.stderr_to = Redirect::fd(9999);
  EXPECT_FALSE(Subprocess::start(options));
  EXPECT_EQ(count_descriptors(), before);
}

}  // namespace
}  // namespace assay
