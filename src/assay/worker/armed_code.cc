#include "assay/worker/armed_code.h"

#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <string_view>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/file.h"

namespace assay::sweep {
namespace {

// As the system call fills it: the C library's own does not tell of the two signals that it keeps.
struct KernelAction {
  uintptr_t handler;
  unsigned long flags, restorer;
  uint64_t mask;
};

uintptr_t handler_of(int signal) {
  KernelAction action{};
  if (::syscall(SYS_rt_sigaction, signal, nullptr, &action, sizeof action.mask) != 0) return 0;
  return action.handler;
}

bool is_function(uintptr_t handler) {
  return handler != reinterpret_cast<uintptr_t>(SIG_DFL) &&
         handler != reinterpret_cast<uintptr_t>(SIG_IGN);
}

// It takes those two when a thread is cancelled, or a user changed, for the first time.
bool is_of_c_library(uintptr_t handler) {
  Dl_info own{}, its{};
  void* const known = ::dlsym(RTLD_DEFAULT, "pthread_cancel");
  return known != nullptr && ::dladdr(known, &own) != 0 &&
         ::dladdr(reinterpret_cast<void*>(handler), &its) != 0 && own.dli_fbase == its.dli_fbase;
}

int count_timers() {
  int timers = 0;
  for (const int kind : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    itimerval timer{};
    if (::getitimer(kind, &timer) == 0 &&
        (timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0))
      ++timers;
  }
  const auto text = read_file("/proc/self/timers", 1 << 16);  // "ID: 0\nsignal: 14/...".
  for (size_t at = 0; text && (at = text->find("ID: ", at)) != std::string::npos; at += 4) ++timers;
  return timers;
}

std::string name_of(int signal) {
  const char* name = signal < SIGSYS + 1 ? ::sigabbrev_np(signal) : nullptr;
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

}  // namespace

ArmedCode ArmedCode::look() {
  ArmedCode armed;
  for (int signal = 1; signal <= kSignals; ++signal) armed.handlers_[signal] = handler_of(signal);
  armed.timers_ = count_timers();
  return armed;
}

std::string ArmedCode::find_more() const {
  for (int signal = 1; signal <= kSignals; ++signal) {
    const uintptr_t handler = handler_of(signal);
    if (handler == handlers_[signal] || !is_function(handler)) continue;
    if (signal < SIGRTMIN && signal > SIGSYS && is_of_c_library(handler)) continue;
    return fmt::format("installed a handler of {}, which can work when no clock runs",
                       name_of(signal));
  }
  if (count_timers() > timers_)
    return "set a timer, whose signal can start work when no clock runs";
  return {};
}

}  // namespace assay::sweep
