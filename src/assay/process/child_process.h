#pragma once

// A child that is a process: the program's own binary, executed again.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/keyed_random.h"
#include "assay/base/message_channel.h"
#include "assay/base/pulses.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/process/child.h"
#include "assay/process/code_pages.h"
#include "assay/process/messages/guard.h"
#include "assay/process/waiting_thread.h"

namespace assay::sweep {

struct ChildOptions {
  std::string role;                        // "worker" or "referee": argv[1].
  std::string program = "/proc/self/exe";  // Ourselves.
  std::vector<std::string> environment;
  int64_t memory_limit_bytes = 0;  // Resident; 0: no limit.
  int cancel_fd = -1;              // Readable: calls end with ErrorCode::interrupted.
  // One task alone talks to it, and others may run while it waits for answers (base/turns.h).
  bool lets_others_run = false;
  // Who stands between us and it (guard.h). A guarded child's own children end with it.
  enum class Guard { none, present, confining } guard = Guard::none;
  bool pulses = false;  // It tells of moments (process/descriptors.h).
};

class ChildProcess final : public Child {
 public:
  static Result<ChildProcess> start(const ChildOptions& options);
  ChildProcess(ChildProcess&&) = default;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess() override { stop(); }

  void begin_to_end() override;
  Death dismiss(std::string detail) override;
  bool park() override;
  void go_on() override;
  bool parked() const override { return parked_at_.has_value(); }
  int64_t cpu_while_parked_ns() const override { return cpu_while_parked_ns_; }
  ClockReading read_clocks() const override;
  std::vector<Moment> take_moments() override { return std::exchange(moments_, {}); }
  void wake_for_moments(bool wake, uint8_t awake_after) override {
    wakes_for_moments_ = wake;
    awake_after_ = awake_after;
  }
  void when_told(uint8_t moment, std::function<void()> look) override {
    looked_for_ = moment;
    look_ = std::move(look);
  }
  bool alive() const override { return !death_.has_value() && process_.has_value(); }
  pid_t pid() const override { return process_ ? pid_ : -1; }
  int64_t resident_bytes() const override;
  bool shows_memory() const override { return alive() && files_.has_value(); }
  Result<std::vector<std::byte>> read_memory(uint64_t address, size_t bytes) const override;
  bool remember_code() override;
  std::string find_changed_code() override;

 private:
  void post_message(std::string_view what, Json fields, std::span<const int> files,
                    double timeout_seconds) override;
  std::optional<CallResult<process::Reply>> take_reply() override;
  void watch(Watched& watched) override;

  ClockReading read_settled_clocks() const;
  ChildProcess() = default;
  template <class Told>
  Result<Told> hear_guard(int64_t deadline_ns);
  Status meet_guard();
  void hear_moments();
  bool hear_pulses();
  bool is_told_soon() const;
  void stop();
  Result<ExitStatus> wait_for_end(int64_t timeout_ns);
  int end_fd() const { return guard_ ? guard_->fd() : process_->pid_fd(); }  // Readable at its end.
  Death die(Death::Kind kind, double limit_seconds, std::string detail);
  void drain();
  struct Pending {
    uint64_t ticket = 0;
    double timeout_seconds = 0;
    int64_t deadline_ns = 0;
    std::optional<CallFailure> failed;  // It could not even be sent.
  };
  std::optional<CallResult<process::Reply>> look_for_reply();

  ChildOptions options_;
  std::optional<Subprocess> process_;
  std::optional<MessageChannel> channel_, guard_;
  std::optional<PulseReceiver> pulses_, questions_;
  WaitingThread thread_;  // The first one.
  std::vector<Moment> moments_;
  bool wakes_for_moments_ = false;
  uint8_t awake_after_ = 0, looked_for_ = 0;
  std::function<void()> look_;
  std::optional<ClockReading> parked_at_;
  std::optional<process::GuardTells>
      last_words_;  // Of the guard, at the end, where it was asked to stop it.
  int64_t cpu_while_parked_ns_ = 0;
  pid_t pid_ = -1;
  std::optional<ProcessFiles> files_;  // Of a guarded child, where its guard may open them.
  std::optional<CodePages> code_;
  std::optional<Death> death_;
  std::optional<Pending> pending_;
  std::string output_;  // Tail of stdout and stderr.
  KeyedRandom looks_ = KeyedRandom::from_system();
  KeyedRandom tickets_ = KeyedRandom::from_system();
  KeyedRandom answers_ = KeyedRandom::from_system();
};

}  // namespace assay::sweep
