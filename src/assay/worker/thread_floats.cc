#include "assay/worker/thread_floats.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/file.h"

namespace assay::sweep {

#if defined(__x86_64__)
namespace {

constexpr int kSignal = SIGURG;  // Ignored where nobody handles it, also where it comes late.
constexpr int64_t kAnswerNs = kNsPerSecond / 5;
constexpr uint32_t kVectorMeaning = ~uint32_t{0x3f};

std::atomic<int> answers, changed;
std::atomic<uint32_t> wanted_vector;
std::atomic<uint16_t> wanted_extended;

// The registers that the thread goes on with lie in the frame of the signal.
void ask(int, siginfo_t*, void* frame) {
  auto* const registers = static_cast<ucontext_t*>(frame)->uc_mcontext.fpregs;
  if (registers != nullptr) {
    const auto is = verify::FloatControl::of_registers(registers->mxcsr, registers->cwd);
    const auto should = verify::FloatControl::of_registers(wanted_vector, wanted_extended);
    if (!(is == should)) {
      registers->mxcsr = (registers->mxcsr & ~kVectorMeaning) | wanted_vector;
      registers->cwd = wanted_extended | 0x40;
      changed.fetch_add(1);
    }
  }
  answers.fetch_add(1);
}

bool lets_in(pid_t thread) {
  const auto status = read_file(fmt::format("/proc/self/task/{}/status", thread), 1 << 16);
  const size_t at = status ? status->find("\nSigBlk:\t") : std::string::npos;
  if (at == std::string::npos) return false;
  const uint64_t blocked = std::strtoull(status->c_str() + at + 9, nullptr, 16);
  return (blocked >> (kSignal - 1) & 1) == 0;
}

}  // namespace

int make_threads_compute_as(const verify::FloatControl& control) {
  answers = changed = 0;
  wanted_vector = control.vector();
  wanted_extended = control.extended();
  struct sigaction action {
  }, before{};
  action.sa_sigaction = ask;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&action.sa_mask);
  const auto own = static_cast<pid_t>(::syscall(SYS_gettid));
  int asked = 0;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const auto thread =
        static_cast<pid_t>(std::strtol(task.path().filename().c_str(), nullptr, 10));
    if (thread == own || !lets_in(thread)) continue;
    if (asked == 0 && ::sigaction(kSignal, &action, &before) != 0) return 0;
    asked += ::syscall(SYS_tgkill, ::getpid(), thread, kSignal) == 0 ? 1 : 0;
  }
  if (asked == 0) return 0;
  for (const int64_t deadline = monotonic_ns() + kAnswerNs;
       answers < asked && monotonic_ns() < deadline;)
    ::usleep(20);
  ::sigaction(kSignal, &before, nullptr);
  return changed;
}
#else
int make_threads_compute_as(const verify::FloatControl&) { return 0; }
#endif

}  // namespace assay::sweep
