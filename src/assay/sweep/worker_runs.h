#pragma once

// What a worker is asked of the problem that it has loaded: to launch kernels on its operands, and
// to time them.

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "assay/device/cuda/cuda_device.h"
#include "assay/sweep/armed_code.h"
#include "assay/sweep/own_memory.h"
#include "assay/sweep/problem_runner.h"
#include "assay/sweep/protocol.h"

namespace assay::sweep {

class WorkerRuns {
 public:
  // The kernel that a message names, and its compiled form.
  using Find = std::function<Result<std::pair<Kernel, Artifact>>(const Json& message)>;

  // card: the device, where it is one; else null.
  // armed: before any kernel was loaded.
  // pulses: who is told of each burst's moments on cores.
  WorkerRuns(Device& device, cuda::CudaDevice* card, int threads, Find find, const ArmedCode& armed,
             LoadWatch& loads, const PulseSender& pulses)
      : device_(device),
        card_(card),
        threads_(threads),
        find_(std::move(find)),
        armed_(armed),
        loads_(loads),
        pulses_(pulses) {}

  using Method = Result<Answer> (WorkerRuns::*)(Message&);
  static Method find_method(std::string_view what);  // Null where there is none of that name.

 private:
  Result<Answer> load(Message& message);
  Result<Answer> share(Message& message);
  Result<Answer> prove(Message& message);
  Result<Answer> rotate(Message& message);
  Result<Answer> open(Message& message);
  Result<Answer> constants(Message& message);
  Result<Answer> round(Message& message);
  Result<Answer> block(Message& message);
  Result<Answer> count(Message& message);
  Result<Answer> profile(Message& message);
  Result<Answer> collect(Message& message);
  Result<Answer> trespasses(Message& message);
  Result<Answer> close(Message& message);
  Result<Answer> intact(Message& message);
  Result<Answer> unload(Message& message);
  Result<ProblemRunner*> loaded();
  // What its object did when it was loaded, and what memory it holds.
  void add_facts(const Kernel& kernel, const OwnMemory& memory, Answer& answer) const;
  // What kernels have armed in this process, where they run in it.
  std::string find_armed() const { return card_ == nullptr ? armed_.find_more() : std::string(); }

  Device& device_;
  cuda::CudaDevice* card_;
  int threads_;
  Find find_;
  const ArmedCode& armed_;
  LoadWatch& loads_;
  PulseSender pulses_;
  std::unique_ptr<Buffer> shared_word_;
  std::unique_ptr<ProblemRunner> problem_;
};

}  // namespace assay::sweep
