#pragma once

// A backend of seeded text at stated times: what load generators and clients are tested against.

#include <deque>
#include <memory>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "assay/base/random.h"
#include "assay/serve/backend.h"
#include "assay/serve/mock_text.h"

namespace assay::serve {

struct MockOptions {
  double ttft_ms = 0, ttft_std_ms = 0;  // From the moment that a job has a slot to its first token.
  double itl_ms = 0, itl_std_ms = 0;    // From token to token.
  int output_tokens = 128;              // Where the request lets the model end.
  double output_tokens_std = 0;
  std::uint64_t seed = 0;
  // Shares of jobs, 0 to 1, that meet a fault, at a place of their output that the seed draws.
  double error_rate = 0;
  double stall_rate = 0;       // Nothing more comes.
  double disconnect_rate = 0;  // The connection is cut.
  double miscount_rate = 0;    // Usage is told one token too many.
  int slots = 1024;            // Jobs that run at a time; others wait.
  int queue = 4096;            // Jobs that may wait.
  int context = 32768;
};

class MockBackend final : public Backend {
 public:
  explicit MockBackend(const MockOptions& options,
                       std::shared_ptr<const Vocabulary> vocabulary = mock_vocabulary())
      : options_(options), vocabulary_(std::move(vocabulary)) {}

  Status load() override { return {}; }
  Capabilities capabilities() const override;
  Load current_load() const override;
  const Vocabulary& vocabulary() const override { return *vocabulary_; }
  int room() const override;
  JobId submit(Job job, std::int64_t now_ns) override;
  void cancel(JobId job, std::int64_t now_ns) override;
  void hold(JobId job, bool held) override;
  void poll(std::int64_t now_ns, std::vector<Event>& events) override;
  std::optional<std::int64_t> next_ns() const override;

 private:
  enum class Fault { none, error, stall, cut };
  struct Running {
    JobId id = 0;
    MockText text{0, 0};
    CounterRandom times;
    int alternatives = -1;
    bool whole = false;
    int tokens = 0;  // That it will make.
    int made = 0;
    Finish finish = Finish::stop;  // With the last of them.
    Fault fault = Fault::none;
    int fault_at = 0;  // Before so many were made.
    int miscounted = 0;
    std::int64_t due_ns = 0;
    bool held = false;
    bool waits = false;  // Its token is due, and it is held.
    bool started = false;
  };
  struct Due {
    std::int64_t at_ns;
    JobId job;
    bool operator>(const Due& other) const {
      return at_ns != other.at_ns ? at_ns > other.at_ns : job > other.job;
    }
  };

  Running plan(const Job& job);
  void draw_fault(Running& running, const CounterRandom& random) const;
  std::int64_t delay_ns(const Running& running, double mean_ms, double std_ms) const;
  void start(Running& running, std::int64_t now_ns);
  void start_waiting(std::int64_t now_ns);
  void remove(JobId job, std::int64_t now_ns);
  Event make_event(Running& running);
  bool make_due(Running& running, std::int64_t now_ns, std::vector<Event>& events);
  void give_token(Running& running, Event& event);

  MockOptions options_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  JobId last_ = 0;
  int running_ = 0;
  std::unordered_map<JobId, Running> jobs_;
  std::deque<JobId> waiting_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<Due> later_;
};

}  // namespace assay::serve
