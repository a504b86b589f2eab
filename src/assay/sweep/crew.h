#pragma once

// The processes of a sweep: one that discovers and builds, one that asks users' loaded code what it
// offers, one that proves and races, others that help it prove, the referee, and the confirming
// ones. Each is started when it is first needed and again after it died.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "assay/base/turns.h"
#include "assay/process/child_process.h"
#include "assay/process/messages/begin.h"
#include "assay/sweep/sweep.h"
#include "assay/sweep/venue_rules.h"
#include "assay/timing/site.h"

namespace assay::sweep {

// What processes of this request's device are told: their environment, and how a worker begins, but
// for what differs between workers. The sources' bytes are lent.
std::vector<std::string> worker_environment(const Request& request);
process::Init worker_init(const Request& request, const input::PackedSources& sources);

// How a child begins. Tests of stages have some that are no processes.
using StartChild = std::function<Result<std::unique_ptr<Child>>(const ChildOptions& options)>;
Result<std::unique_ptr<Child>> start_process(const ChildOptions& options);

class Crew final : public Processes {
 public:
  explicit Crew(const Request& request, StartChild start = &start_process)
      : request_(request), start_(std::move(start)) {}
  ~Crew();

  Result<Child*> builder();
  Result<Child*> runner();
  Result<Child*> referee() override;

  // In two steps, between which others may be started, the referee gets the GPU that the workers
  // use, and looks whether it can read their memory there: then it compares outputs on the GPU.
  // Where it cannot, it does so on the host.
  Status open_referees_gpu();
  Status show_gpu_to_referee();
  bool referee_sees_gpu() const override {
    return referees_gpu_ == RefereesGpu::seen && referee_ && referee_->alive();
  }

  // Who lists kernels: the builder, or a confined process where users' code says what there is. A
  // file that brings it down is an error (invalid_input) that says so.
  Result<Child*> discoverer();
  // Who makes the artifact of a family's kernel, likewise.
  Result<Child*> builder_of(const std::string& provider, const std::string& family);

  // The index-th process that proves kernels; the first is the runner. The others wander between
  // cores, since the runner is pinned to those that timing uses; of a GPU they are the confirming
  // ones, if there will be any.
  Result<Child*> prover(size_t index);

  // Of the first `provers` processes that prove, to run side by side while nothing is timed, and of
  // confirming ones of a GPU, which take seconds to reach it; others start when they are asked
  // for.
  std::vector<std::function<Status()>> starts(size_t provers);

  // The index-th confirming process of now: fresh, until all are dismissed for the next ones. What
  // was dismissed may take until a runner or a confirming process is asked for to be gone.
  Result<Child*> confirmer(size_t index);

  // What a user brought does not outlive its problem.
  Result<Child*> member(size_t company, size_t index) override;
  void freeze_guest() override {
    if (guest_) (void)guest_->park();
  }
  void dismiss_confirmers();
  // So many can be set up side by side: on as many cores as each is pinned to, or for a GPU on
  // half of the machine's, where each needs bytes_each of the device's memory. At least 1.
  size_t confirmers_at_once(double bytes_each) const;

  // Tasks that talk to different workers (base/turns.h).
  Status side_by_side(const std::vector<std::function<Status()>>& tasks) {
    return turns_.run(tasks);
  }

  // What users brought, for workers: the same for each, whatever becomes of their files.
  Result<const input::PackedSources*> sources();

  // The last one, once builder() or runner() was called.
  const process::Init::Answer& facts() const override { return facts_; }
  bool has_native_guests() const override { return native_guests_; }

  // Called with what holds for each new process that candidates will run in.
  void on_confined(std::function<Status(const process::Confinement&)> call) {
    on_confined_ = std::move(call);
  }

  void learn_code(std::vector<process::RanCode> ran) override { code_ = std::move(ran); }

  // Stops everything; what is needed again starts again.
  void dismiss();

 private:
  struct WorkerKind {
    bool confined = true, pinned = true;
    // The code that ran in a process before. Not where users' code may come: of pages that are a
    // file's no more nobody sees that they were changed and changed back (code_pages.h).
    bool copies_code = false;
    double kept_share = 0;  // Of the machine's memory: kept from one problem to the next.
  };
  Result<std::unique_ptr<Child>> start_worker(const WorkerKind& kind);
  Result<Child*> worker_at(std::vector<std::unique_ptr<Child>>& workers, size_t index,
                           const WorkerKind& kind);
  bool confirmers_prove() const {
    return request_.effort.confirm && rules_of(request_.venue).confirmers_prove;
  }
  size_t most_confirmers() const;
  Result<Child*> guest();
  Status bring(Child& worker, size_t file);

  const Request& request_;
  std::optional<input::PackedSources> sources_;
  StartChild start_;
  std::function<Status(const process::Confinement&)> on_confined_;
  process::Init::Answer facts_;
  bool native_guests_ = true;
  std::vector<process::RanCode> code_;
  Turns turns_;  // Outlives the processes that its tasks started.
  // The guest loads what runs when it is loaded, and no other kernel runs there.
  std::unique_ptr<Child> builder_, guest_, runner_, referee_;
  enum class RefereesGpu { none, opened, seen, unseen } referees_gpu_ = RefereesGpu::none;
  std::vector<std::unique_ptr<Child>> provers_, confirmers_, leaving_;
  std::map<size_t, std::vector<std::unique_ptr<Child>>> guests_;  // Of companies.
};

}  // namespace assay::sweep
