#include "cli/signals.h"

#include <csignal>
#include <sys/signalfd.h>

namespace assay::cli {
namespace {

sigset_t polite_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  sigaddset(&signals, SIGQUIT);
  return signals;
}

}  // namespace

void make_writes_fail_instead() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int make_cancel_fd() {
  const sigset_t signals = polite_signals();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

void give_back_signals() {
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
  const sigset_t signals = polite_signals();
  sigprocmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace assay::cli
