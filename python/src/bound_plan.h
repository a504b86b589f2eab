#pragma once

// A plan together with all that it needs while it lives: arrays, workspace, device.

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array.h"
#include "assay/kernel/kernel.h"
#include "assay/select/tuned_table.h"
#include "gemm_arrays.h"

namespace assay::python {

class BoundPlan {
 public:
  // Checks that the kernel takes the problem, compiles it and packs what is constant. `arrays` are
  // those that the problem was made of, out among them.
  static std::shared_ptr<BoundPlan> make(const Kernel& kernel, const Problem& problem,
                                         std::vector<Array> arrays, int threads);

  // What the table chooses for the problem on this device.
  static std::shared_ptr<BoundPlan> choose(const TunedTable& table, const Problem& problem,
                                           std::vector<Array> arrays,
                                           std::shared_ptr<Device> device);

  // Both are refused while another thread is launching this plan. Called without the interpreter.
  void launch();
  // Same sizes, strides and types; the old arrays are let go of.
  void rebind(const Problem& problem, std::vector<Array> arrays);

  const KernelMetadata& kernel() const { return metadata_; }
  const Problem& problem() const { return problem_; }
  Plan& plan() { return tuned_ ? tuned_->plan() : plan_; }
  // By which rule a table chose it; empty where no table did.
  std::string choice() const { return tuned_ ? tuned_->reason() : ""; }
  // What the table says besides.
  std::vector<std::string> notes() const {
    return tuned_ ? tuned_->notes() : std::vector<std::string>();
  }
  int threads() const { return device_->threads(); }

 private:
  BoundPlan(KernelMetadata metadata, Problem problem, std::vector<Array> arrays,
            std::shared_ptr<Device> device)
      : metadata_(std::move(metadata)),
        problem_(std::move(problem)),
        arrays_(std::move(arrays)),
        device_(std::move(device)) {}

  KernelMetadata metadata_;
  Problem problem_;
  std::vector<Array> arrays_;
  std::shared_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Buffer> workspace_;
  Plan plan_;
  std::optional<TunedPlan> tuned_;  // Then plan_ is empty.
  std::atomic<bool> busy_{false};
};

// Of `kernel`, for a problem on this machine; empty: it takes it.
Refusals refusals_of(const Kernel& kernel, const Problem& problem);

}  // namespace assay::python
