#include "assay/lab/climb/agent_pool.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "assay/base/text.h"

namespace assay::lab {
namespace {

void signal(const UniqueFd& event) {
  const std::uint64_t one = 1;
  // A full counter is a signal already.
  [[maybe_unused]] const auto written = ::write(event.get(), &one, sizeof one);
}

}  // namespace

Result<std::unique_ptr<AgentPool>> AgentPool::create(AgentPoolOptions options) {
  std::unique_ptr<AgentPool> pool(new AgentPool(std::move(options)));
  pool->stop_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  pool->ended_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE));
  if (!pool->stop_ || !pool->ended_)
    return fail(ErrorCode::machine, "cannot make an event: {}", errno_text(errno));
  return pool;
}

AgentPool::~AgentPool() {
  stop();
  for (auto& [agent, thread] : threads_) thread.join();
}

void AgentPool::stop() { signal(stop_); }

void AgentPool::start(AgentTurn turn, std::string brief, double seconds,
                      const std::vector<std::string>& words, const Environment& environment) {
  RunnerOptions runner;
  runner.environment = options_.environment;
  runner.supervisor = options_.supervisor;
  runner.logs = turn.logs;
  runner.also_watched = turn.talk;
  runner.cancel_fd = stop_.get();
  runner.input = std::move(brief);
  runner.disk_bytes = options_.disk_bytes;
  runner.disk_looks = DiskLooks::added_and_free;
  ++running_;
  // Its child dies with this thread, which lives until wait() has told of the turn.
  const int agent = turn.agent;
  threads_[agent] = std::thread([this, turn = std::move(turn), runner = std::move(runner), seconds,
                                 words, environment]() mutable {
    turn.ran = ProgramRunner(runner).run("agent", words.empty() ? options_.words : words,
                                         turn.folder, environment, seconds);
    const std::scoped_lock lock(mutex_);
    done_.push_back(std::move(turn));
    signal(ended_);
  });
}

std::optional<AgentTurn> AgentPool::take() {
  const std::scoped_lock lock(mutex_);
  if (done_.empty()) return std::nullopt;
  AgentTurn turn = std::move(done_.front());
  done_.pop_front();
  std::uint64_t taken = 0;
  [[maybe_unused]] const auto read = ::read(ended_.get(), &taken, sizeof taken);
  return turn;
}

Result<AgentTurn> AgentPool::wait(int cancel_fd) {
  for (;;) {
    if (auto turn = take()) {
      --running_;
      threads_.extract(turn->agent).mapped().join();
      return std::move(*turn);
    }
    pollfd fds[2] = {{ended_.get(), POLLIN, 0}, {cancel_fd, POLLIN, 0}};
    ::poll(fds, cancel_fd >= 0 ? 2 : 1, -1);
    if (cancel_fd >= 0 && (fds[1].revents & POLLIN) != 0)
      return fail(ErrorCode::interrupted, "stopped; the same command goes on");
  }
}

}  // namespace assay::lab
