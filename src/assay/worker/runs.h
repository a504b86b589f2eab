#pragma once

// What a worker is asked of the problem that it has loaded: to launch kernels on its operands, and
// to time them.

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "assay/device/cuda/cuda_device.h"
#include "assay/process/messages.h"
#include "assay/worker/armed_code.h"
#include "assay/worker/own_memory.h"
#include "assay/worker/problem_runner.h"

namespace assay::sweep {

class WorkerRuns {
 public:
  // The kernel that is asked for, and its compiled form.
  using Find =
      std::function<Result<std::pair<Kernel, Artifact>>(const process::BuiltKernel& kernel)>;

  // GPU: the device, where it is one; else null.
  // armed: before any kernel was loaded.
  // pulses: who is told of each burst's moments on cores.
  WorkerRuns(Device& device, cuda::CudaDevice* gpu, int threads, Find find, const ArmedCode& armed,
             LoadWatch& loads, const PulseSender& pulses)
      : device_(device),
        gpu_(gpu),
        threads_(threads),
        find_(std::move(find)),
        armed_(armed),
        loads_(loads),
        pulses_(pulses) {}

  Result<process::Load::Answer> answer(process::Load asked);
  Result<process::ShareWord::Answer> answer(const process::ShareWord& asked);
  Result<process::Prove::Answer> answer(const process::Prove& asked);
  Result<process::Rotate::Answer> answer(const process::Rotate& asked);
  Result<process::Open::Answer> answer(const process::Open& asked);
  Result<process::FindConstants::Answer> answer(const process::FindConstants& asked);
  Result<process::Round::Answer> answer(const process::Round& asked);
  Result<process::RunBlock::Answer> answer(const process::RunBlock& asked);
  Result<process::Count::Answer> answer(const process::Count& asked);
  Result<process::ProfileLaunches::Answer> answer(const process::ProfileLaunches& asked);
  Result<process::Collect::Answer> answer(const process::Collect& asked);
  Result<process::FindTrespasses::Answer> answer(const process::FindTrespasses& asked);
  Result<process::Close::Answer> answer(const process::Close& asked);
  Result<process::LookAtInputs::Answer> answer(const process::LookAtInputs& asked);
  Result<process::Unload::Answer> answer(const process::Unload& asked);

 private:
  Result<ProblemRunner*> loaded();
  // What its object did when it was loaded, and what memory it holds.
  process::ObjectFacts facts_of(const Kernel& kernel, const OwnMemory& memory,
                                const process::Files& handed_out = {}) const;
  // What kernels have armed in this process, where they run in it.
  std::string find_armed() const { return gpu_ == nullptr ? armed_.find_more() : std::string(); }

  Device& device_;
  cuda::CudaDevice* gpu_;
  int threads_;
  Find find_;
  const ArmedCode& armed_;
  LoadWatch& loads_;
  PulseSender pulses_;
  std::unique_ptr<Buffer> shared_word_;
  std::unique_ptr<ProblemRunner> problem_;
};

}  // namespace assay::sweep
