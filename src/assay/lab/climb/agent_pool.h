#pragma once

// Agents at work, side by side, each in a folder of its own and each in a thread of its own.

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "assay/base/fd.h"
#include "assay/lab/evaluate/program_runner.h"
#include "assay/lab/files/tree.h"

namespace assay::lab {

// One turn of one agent.
struct AgentTurn {
  int agent = 0;                 // From 0.
  std::filesystem::path folder;  // The case's copy that it changes.
  std::filesystem::path talk;    // Its brief and its note.
  std::filesystem::path logs;    // Beside them: the agent has no business there.
  Tree before;                   // What the folder held.
  std::string incumbent;         // The id of the best state when it began.
  Result<ProgramRun> ran = ProgramRun();
};

struct AgentPoolOptions {
  std::vector<std::string> words;        // The agent's command.
  std::vector<std::string> environment;  // "NAME=value", exactly these.
  std::string supervisor = "/proc/self/exe";
  std::uint64_t disk_bytes = 0;  // That a turn may add to the disk; 0: no limit.
};

class AgentPool {
 public:
  static Result<std::unique_ptr<AgentPool>> create(AgentPoolOptions options);
  ~AgentPool();  // Ends all of them.

  // `words`: of this turn, where they are not the pool's.
  void start(AgentTurn turn, std::string brief, double seconds,
             const std::vector<std::string>& words, const Environment& environment);
  // The first that has ended. interrupted where `cancel_fd` becomes readable before.
  Result<AgentTurn> wait(int cancel_fd);
  // Ends all that are at work; wait() still tells of each.
  void stop();
  size_t running() const { return running_; }  // Not told by wait() yet.

 private:
  explicit AgentPool(AgentPoolOptions options) : options_(std::move(options)) {}
  std::optional<AgentTurn> take();

  AgentPoolOptions options_;
  UniqueFd stop_, ended_;  // Events.
  std::mutex mutex_;
  std::deque<AgentTurn> done_;
  std::map<int, std::thread> threads_;  // By agent.
  size_t running_ = 0;
};

}  // namespace assay::lab
