#pragma once

// A backend in a shared object (assay_backend.h), which runs in a child behind a supervisor. What
// goes wrong there ends its requests, and starts another child; never the server.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "assay/base/json.h"
#include "assay/serve/backend.h"
#include "assay/serve/child_link.h"
#include "assay/serve/child_program.h"
#include "assay/serve/restarts.h"

namespace assay::serve {

struct PluginOptions {
  std::string library;       // A path.
  std::string model;         // As clients call it.
  std::string folder;        // Of the case's workspace, where the child runs; empty: here.
  std::string model_folder;  // Of the model's files; empty: there are none.
  std::vector<std::string> environment;
  double ready_seconds = 600;              // From its start to the end of its loading.
  double step_seconds = 30;                // Without an event, while there are jobs: it hangs.
  std::string program = "/proc/self/exe";  // Answers to the roles of child and supervisor.
};

class PluginBackend final : public Backend {
 public:
  // `gave_up` is called once, when the child would not stay up.
  static Result<std::unique_ptr<PluginBackend>> create(PluginOptions options,
                                                       std::shared_ptr<const Vocabulary> vocabulary,
                                                       std::function<void()> gave_up);
  ~PluginBackend() override;

  int wake_fd() const { return wake_.get(); }  // Can be read when poll() has something to do.
  const std::string& failure() const { return failure_; }

  Status load() override;
  Capabilities capabilities() const override { return capabilities_; }
  Load current_load() const override { return {static_cast<int>(jobs_.size()), 0}; }
  std::optional<std::string> unavailable() const override;
  const Vocabulary& vocabulary() const override { return *vocabulary_; }
  int room() const override { return capabilities_.jobs - static_cast<int>(jobs_.size()); }
  JobId submit(Job job, std::int64_t now_ns) override;
  void cancel(JobId job, std::int64_t now_ns) override;
  void hold(JobId job, bool held) override;
  void poll(std::int64_t now_ns, std::vector<Event>& events) override;
  std::optional<std::int64_t> next_ns() const override;

 private:
  enum class State { starting, ready, waiting, given_up };
  struct Running {
    int max_tokens = 0, made = 0;
    bool held = false, finished = false;
    std::deque<Event> kept;  // While it is held.
  };

  PluginBackend(PluginOptions options, std::shared_ptr<const Vocabulary> vocabulary,
                std::function<void()> gave_up, UniqueFd wake);
  Status start(std::int64_t now_ns);
  void take(const Json& message, std::int64_t now_ns);
  void take_events(const Json& message);
  std::optional<Event> read_event(const Json& json, std::int64_t at_ns);
  void give(Running& running, Event event);
  void release();
  void wrong(std::string sentence);
  void end(std::int64_t now_ns, std::string_view why);
  void look(std::int64_t now_ns);

  PluginOptions options_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::function<void()> gave_up_;
  UniqueFd wake_;
  Capabilities capabilities_;
  State state_ = State::waiting;
  Restarts restarts_;
  ChildProgram program_;
  std::unique_ptr<ChildLink> link_;
  bool linked_ = false;  // More may come from the child.
  std::string wrong_;    // Why the child must end.
  std::string ending_, failure_;
  std::int64_t started_ns_ = 0, heard_ns_ = 0;
  JobId last_ = 0;
  std::unordered_map<JobId, Running> jobs_;
  std::unordered_set<JobId> cancelled_;  // Of which events may still come.
  std::vector<Event> out_;
};

}  // namespace assay::serve
