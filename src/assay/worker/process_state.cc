#include "assay/worker/process_state.h"

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <locale.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/worker/thread_floats.h"

namespace assay::sweep {
namespace {

#if defined(__x86_64__)
constexpr uint64_t kDirection = uint64_t{1} << 10, kTrapUnaligned = uint64_t{1} << 18;

uint64_t processor_flags() {
  return __builtin_ia32_readeflags_u64() & (kDirection | kTrapUnaligned);
}
void set_processor_flags(uint64_t flags) {
  __builtin_ia32_writeeflags_u64(
      (__builtin_ia32_readeflags_u64() & ~(kDirection | kTrapUnaligned)) | flags);
}
uintptr_t stack_guard() {
  uintptr_t guard = 0;
  asm volatile("mov %%fs:0x28, %0" : "=r"(guard));
  return guard;
}
void set_stack_guard(uintptr_t guard) { asm volatile("mov %0, %%fs:0x28" : : "r"(guard)); }
#else
uint64_t processor_flags() { return 0; }
void set_processor_flags(uint64_t) {}
uintptr_t stack_guard() { return 0; }
void set_stack_guard(uintptr_t) {}
#endif

std::string locale_name() {
  const char* const name = std::setlocale(LC_ALL, nullptr);
  return name == nullptr ? "" : name;
}

// Of this thread alone, where it has one.
std::string threads_locale() {
  const locale_t own = ::uselocale(nullptr);
  return own == LC_GLOBAL_LOCALE ? "" : fmt::format("{}", static_cast<const void*>(own));
}

mode_t mode_mask() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return mask;
}

std::string folder() {
  std::error_code ignored;
  return std::filesystem::current_path(ignored).string();
}

std::vector<std::string> environment() {
  std::vector<std::string> strings;
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) strings.emplace_back(*one);
  return strings;
}

void set_environment(const std::vector<std::string>& strings) {
  ::clearenv();
  for (const std::string& string : strings) {
    const size_t equals = string.find('=');
    if (equals != std::string::npos)
      ::setenv(string.substr(0, equals).c_str(), string.c_str() + equals + 1, 1);
  }
}

std::string first_difference(const std::vector<std::string>& before,
                             const std::vector<std::string>& now) {
  const auto of = [](const std::vector<std::string>& from,
                     const std::vector<std::string>& without) {
    for (const std::string& string : from)
      if (std::ranges::find(without, string) == without.end())
        return sanitize(string.substr(0, string.find('=')), 80);
    return std::string();
  };
  const std::string added = of(now, before);
  return added.empty() ? of(before, now) : added;
}

}  // namespace

ProcessState::Disposition ProcessState::disposition_of(int signal) {
  Disposition disposition;
  ::syscall(SYS_rt_sigaction, signal, nullptr, &disposition, sizeof disposition.mask);
  return disposition;
}

ProcessState ProcessState::read() {
  ProcessState state;
  state.floats_ = verify::FloatControl::read();
  state.processor_flags_ = processor_flags();
  state.stack_guard_ = stack_guard();
  state.locale_ = locale_name();
  state.threads_locale_ = threads_locale();
  state.mask_ = mode_mask();
  state.folder_ = folder();
  // Not in place of a stream that somebody has closed.
  const UniqueFd folder_now(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  state.open_folder_.reset(::fcntl(folder_now.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  state.priority_ = ::getpriority(PRIO_PROCESS, 0);
  state.policy_ = ::sched_getscheduler(0);
  ::pthread_sigmask(SIG_SETMASK, nullptr, &state.blocked_);
  for (int signal = 1; signal <= kSignals; ++signal)
    state.signals_[signal] = disposition_of(signal);
  state.environment_ = environment();
  return state;
}

std::vector<Finding> ProcessState::restore() const {
  const bool guard_changed = stack_guard() != stack_guard_;
  if (guard_changed) set_stack_guard(stack_guard_);
  const bool flags_changed = processor_flags() != processor_flags_;
  if (flags_changed) set_processor_flags(processor_flags_);
  const bool floats_changed = !(verify::FloatControl::read() == floats_);
  if (floats_changed) floats_.restore();

  std::vector<Finding> findings;
  const auto add = [&](const char* code, std::string what) {
    findings.push_back({code, std::move(what)});
  };
  const auto changed = [&](std::string what) { add("process_state", std::move(what)); };
  constexpr const char* kFloats = "float_control";
  if (floats_changed)
    add(kFloats, "switched the processor's rounding, or its treatment of subnormal numbers");
  if (const int threads = make_threads_compute_as(floats_); threads > 0)
    add(kFloats, fmt::format("left {} thread{} rounding, or treating subnormal numbers, in another "
                             "way",
                             threads, threads == 1 ? "" : "s"));
  if (flags_changed) changed("changed the processor's flags");
  if (guard_changed) changed("changed the guard of this thread's stack");
  if (threads_locale() != threads_locale_) {
    ::uselocale(LC_GLOBAL_LOCALE);
    changed("gave this thread another locale");
  }
  if (const std::string now = locale_name(); now != locale_) {
    std::setlocale(LC_ALL, locale_.c_str());
    changed(fmt::format("changed the locale to {}", sanitize(now, 80)));
  }
  if (const mode_t now = mode_mask(); now != mask_) {
    ::umask(mask_);
    changed(fmt::format("changed the process's umask to {:03o}", now));
  }
  if (const std::string now = folder(); now != folder_) {
    if (open_folder_) (void)!::fchdir(open_folder_.get());
    changed(fmt::format("changed the process's folder to '{}'", sanitize(now, 200)));
  }
  if (const int now = ::getpriority(PRIO_PROCESS, 0); now != priority_) {
    ::setpriority(PRIO_PROCESS, 0, priority_);
    changed(fmt::format("changed this thread's priority to {}", now));
  }
  if (const int now = ::sched_getscheduler(0); now != policy_) {
    const sched_param none{};
    ::sched_setscheduler(0, policy_, &none);
    changed("changed how this thread is scheduled");
  }
  sigset_t blocked;
  ::pthread_sigmask(SIG_SETMASK, &blocked_, &blocked);
  for (int signal = 1; signal <= kSignals; ++signal) {
    if (::sigismember(&blocked, signal) != ::sigismember(&blocked_, signal)) {
      changed("changed which signals are blocked");
      break;
    }
  }
  for (int signal = 1; signal <= kSignals; ++signal) {
    const Disposition now = disposition_of(signal);
    const bool is_handler = now.handler != reinterpret_cast<uintptr_t>(SIG_DFL) &&
                            now.handler != reinterpret_cast<uintptr_t>(SIG_IGN);
    if (now.handler == signals_[signal].handler || is_handler) continue;
    ::syscall(SYS_rt_sigaction, signal, &signals_[signal], nullptr, sizeof now.mask);
    changed(fmt::format("changed what signal {} does", signal));
  }
  if (auto now = environment(); now != environment_) {
    set_environment(environment_);
    changed(fmt::format("changed the environment ({})", first_difference(environment_, now)));
  }
  return findings;
}

}  // namespace assay::sweep
