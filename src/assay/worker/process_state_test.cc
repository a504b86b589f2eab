#include "assay/worker/process_state.h"

#include <cfenv>
#include <clocale>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>

#include "assay/worker/thread_floats.h"

namespace assay::sweep {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Change {
  const char* code;
  const char* sentence;
  std::function<void()> makes;
};

TEST(ProcessState, WhatHasChangedIsToldAndPutBack) {
  const Change changes[] = {
      {"float_control", "rounding", [] { std::fesetround(FE_DOWNWARD); }},
      {"float_control", "rounding", [] { feenableexcept(FE_DIVBYZERO); }},
      {"process_state", "locale to C.UTF-8", [] { std::setlocale(LC_ALL, "C.UTF-8"); }},
      {"process_state", "umask to 111", [] { ::umask(0111); }},
      {"process_state", "folder to '/'", [] { (void)!::chdir("/"); }},
      {"process_state", "signal 13", [] { std::signal(SIGPIPE, SIG_IGN); }},
      {"process_state", "blocked",
       [] {
         sigset_t all;
         sigfillset(&all);
         ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
       }},
      {"process_state", "(A_NEW_WORD)", [] { ::setenv("A_NEW_WORD", "1", 1); }},
      {"process_state", "(PATH)", [] { ::unsetenv("PATH"); }},
  };
  const ProcessState before = ProcessState::read();
  EXPECT_THAT(before.restore(), IsEmpty());
  for (const Change& change : changes) {
    change.makes();
    const auto findings = before.restore();
    ASSERT_EQ(findings.size(), 1U) << change.sentence;
    EXPECT_EQ(findings[0].code, change.code);
    EXPECT_THAT(findings[0].sentence, HasSubstr(change.sentence));
    EXPECT_THAT(before.restore(), IsEmpty()) << change.sentence;
  }
}

// Handlers convict: they are not put back before somebody has seen them.
TEST(ProcessState, HandlersStay) {
  const ProcessState before = ProcessState::read();
  std::signal(SIGUSR1, [](int) {});
  EXPECT_THAT(before.restore(), IsEmpty());
  EXPECT_NE(std::signal(SIGUSR1, SIG_DFL), SIG_DFL);
}

#if defined(__x86_64__)
TEST(ThreadFloats, AThreadThatRestsIsMadeToComputeAsWeDo) {
  std::mutex mutex;
  std::condition_variable changed;
  bool rests = false, goes_on = false;
  int rounding = -1;
  std::thread other([&] {
    std::fesetround(FE_UPWARD);
    std::unique_lock hold(mutex);
    rests = true;
    changed.notify_all();
    changed.wait(hold, [&] { return goes_on; });
    rounding = std::fegetround();
  });
  {
    std::unique_lock hold(mutex);
    changed.wait(hold, [&] { return rests; });
  }
  const auto own = verify::FloatControl::read();
  EXPECT_EQ(make_threads_compute_as(own), 1);
  EXPECT_EQ(make_threads_compute_as(own), 0);
  {
    const std::lock_guard hold(mutex);
    goes_on = true;
  }
  changed.notify_all();
  other.join();
  EXPECT_EQ(rounding, FE_TONEAREST);
}
#endif

}  // namespace
}  // namespace assay::sweep
