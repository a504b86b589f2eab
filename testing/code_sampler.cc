#include "testing/code_sampler.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "assay/base/dynamic_library.h"

namespace assay::testing {
namespace {

constexpr int kWanted = 200;  // So that a share of 4 % is not taken for 10.
constexpr double kMostSeconds = 3;
constexpr int kBetweenClocks =
    100;  // A call of a microsecond must not drown in reads of the clock.
constexpr int kMicrosecondsApart = 1000;  // The kernel's tick may make it 4000.

std::array<std::atomic<uintptr_t>, 4096> places;
std::atomic<size_t> count;
std::atomic<pid_t> sampled;  // The thread that works: idle pools of other libraries spin beside it.

void on_tick(int, siginfo_t*, void* context) {
  if (::gettid() != sampled) return;
  const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto place = static_cast<uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  const auto place = static_cast<uintptr_t>(machine.pc);
#else
#error "Say where the program counter is."
#endif
  const size_t at = count.fetch_add(1);
  if (at < places.size()) places[at] = place;
}

// What on_tick needs, away from the stack of the code that it interrupts: oneDNN's generated gemm
// for AVX2 walks its matrices with the stack pointer, and a handler would write over them.
class OwnStack {
 public:
  OwnStack() : memory_(std::make_unique<std::byte[]>(kBytes)) {
    const stack_t own{.ss_sp = memory_.get(), .ss_flags = 0, .ss_size = kBytes};
    sigaltstack(&own, &before_);
  }
  OwnStack(const OwnStack&) = delete;
  OwnStack& operator=(const OwnStack&) = delete;
  ~OwnStack() { sigaltstack(&before_, nullptr); }

 private:
  static constexpr size_t kBytes = size_t{64} << 10;
  std::unique_ptr<std::byte[]> memory_;
  stack_t before_{};
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

std::map<std::string, int> sample_code(const std::function<void()>& work) {
  count = 0;
  sampled = ::gettid();
  struct sigaction action {};
  struct sigaction before {};
  action.sa_sigaction = on_tick;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  const OwnStack stack;
  sigaction(SIGPROF, &action, &before);
  const itimerval timer{{0, kMicrosecondsApart}, {0, kMicrosecondsApart}};
  setitimer(ITIMER_PROF, &timer, nullptr);
  const double start = cpu_seconds();
  while (count < kWanted && cpu_seconds() - start < kMostSeconds)
    for (int i = 0; i < kBetweenClocks && count < kWanted; ++i) work();
  const itimerval stop{};
  setitimer(ITIMER_PROF, &stop, nullptr);
  sigaction(SIGPROF, &before, nullptr);
  std::map<std::string, int> samples;
  for (size_t i = 0; i < count && i < places.size(); ++i) {
    const auto file = library_of(reinterpret_cast<const void*>(places[i].load()));
    ++samples[file ? *file : std::string()];
  }
  return samples;
}

double share_in(const std::map<std::string, int>& samples, const std::string& path) {
  int all = 0;
  for (const auto& [file, number] : samples) all += number;
  const auto found = samples.find(path);
  return all == 0 || found == samples.end() ? 0 : static_cast<double>(found->second) / all;
}

}  // namespace assay::testing
