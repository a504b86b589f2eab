#pragma once

// One problem inside a worker that owns a GPU: the host's story (worker/cpu/problem.h) in device
// memory, timed between events behind a gate. worker/gpu/problem.cc proves, worker/gpu/bursts.cc
// times.

#include <memory>
#include <span>
#include <vector>

#include "assay/base/fd.h"
#include "assay/device/cuda/cuda_device.h"
#include "assay/op/operation.h"
#include "assay/op/outputs.h"
#include "assay/process/gpu/renewal.h"
#include "assay/process/set_turns.h"
#include "assay/worker/gpu/arena.h"
#include "assay/worker/gpu/chain.h"
#include "assay/worker/gpu/digest.h"
#include "assay/worker/problem_runner.h"

namespace assay::sweep {

class GpuProblem final : public ProblemRunner {
 public:
  // As WorkerProblem::create.
  static Result<std::unique_ptr<GpuProblem>> create(Problem problem, cuda::CudaDevice& device,
                                                    std::vector<std::vector<MappedFile>> instances,
                                                    uint64_t seed);
  ~GpuProblem() override;

  void hand_out_by_gpu(bool by_gpu) override;
  Result<ProvenLaunch> prove(const Kernel& kernel, const Artifact& artifact, size_t instance,
                             bool repeat) override;
  Status make_rotation(const measure::Condition& condition, uint64_t key) override;
  int sets() const override { return static_cast<int>(sets_.size()); }
  const std::string& cold_doubt() const override { return cold_doubt_; }
  Result<Opened> open(const Kernel& kernel, const Artifact& artifact) override;
  void close(int handle) override;
  bool at_rest() override { return true; }  // Device code runs when it is launched.
  Result<TimedBurst> burst(int handle, int launches, uint64_t round_seed) override;
  Result<measure::Burst> block(int handle, double seconds) override;
  Result<Counted> count(int, int, uint64_t) override {
    return fail(ErrorCode::unsupported, "a GPU's counters are not read");
  }
  Status profile(int handle, int launches) override;
  Result<TimedOutput> timed_output(int handle, uint64_t choice) override;
  bool inputs_intact() override;
  std::string find_trespass(int handle) override;
  std::string find_trespass_beside_inputs() override;

 private:
  struct InputSet {
    GpuArena arena;
    std::vector<size_t> index;     // By operand: buffer in the arena, or none for outputs.
    std::vector<MappedFile> host;  // By operand: what is in it,
    std::vector<uint64_t> digest;  // and its digest.
  };
  struct Set {
    std::vector<void*> data;  // By operand; null for outputs.
    void* staged = nullptr;   // In a chain: what a producer copies to the first varied operand.
    uint64_t launch = 0;      // Seed of what varies, when it was last launched.
    std::vector<uint64_t> digest;  // By operand, of constants that lie here.
  };
  struct Rotation {
    int places = 0;  // Of shared operands: sets have them in turn.
    int sets = 0;    // A multiple of it.
  };
  struct OpenKernel;

  GpuProblem(Problem problem, const Operation& operation, cuda::CudaDevice& device, uint64_t seed);
  uint64_t next_seed();
  Status fill(const GpuArena::Piece& piece, uint64_t seed);
  Result<std::vector<std::byte>> read(const GpuArena::Piece& piece);
  Result<HandedOut> hand_out(const GpuArena::Piece& piece);
  Result<bool> holds(const void* data, std::span<const std::byte> expected);
  // Whose numbers a set has, where sets take places in turn; and what its launch is made from.
  size_t numbers_of(size_t set) const {
    return problem_.has_constant() || is_alone() ? set % places_ : set;
  }
  InputSeeds seeds_of(size_t set, uint64_t launch) const {
    return {.set = set_seed(key_, numbers_of(set)), .launch = launch};
  }
  Status renew(void* to, size_t operand, const InputSeeds& seeds);
  Status renew(size_t set, uint64_t launch);
  Result<bool> is_renewed(const void* data, size_t operand, const InputSeeds& seeds);
  std::vector<size_t> choose_sets(int launches, size_t outputs);
  Status freshen(size_t set, OpenKernel* kernel);
  Status freshen(const std::vector<size_t>& order, OpenKernel* kernel);
  // Puts the inputs of outputs that are also read to where a launch finds them. from: by operand.
  Status give(std::span<void* const> from, const GpuArena::Piece& output);
  Status launch_late(Plan& plan, InputSet& inputs, std::span<void* const> given,
                     const GpuArena::Piece& output, double launch_ns);
  // Warm launches share their activations: where no producer writes them between, a burst is one
  // launch, behind a lead-in on others.
  bool is_alone() const {
    return condition_.cache == measure::Cache::warm &&
           condition_.spacing != measure::Spacing::chain;
  }
  bool is_shared(size_t operand) const;
  Rotation plan_rotation() const;
  Status lay_out_sets(const Rotation& rotation);
  Status fill_sets();
  Result<std::string> probe_cold();
  Status begin_chain();
  Status clear_cache();
  Status enqueue_link(size_t s, OpenKernel* kernel, const GpuArena::Piece& output);
  Result<OpenKernel*> opened(int handle) const;
  Status enqueue(size_t s, OpenKernel* kernel, bool first);

  Problem problem_;
  const Operation& operation_;
  cuda::CudaDevice& device_;
  uint64_t seed_;
  uint64_t seeds_used_ = 0;
  OutputPlaces outputs_;  // What a launch writes is one piece.
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<cuda::Gate> gate_;
  std::unique_ptr<cuda::Event> start_, end_;
  std::unique_ptr<GpuDigest> digest_;
  std::unique_ptr<GpuZones> zones_;
  std::unique_ptr<GpuRenewal> renewal_;  // Null where the host must make numbers.
  std::vector<InputSet> instances_;
  bool by_gpu_ = false;
  std::vector<std::unique_ptr<Buffer>> handed_out_;  // Of proofs; until they are judged.
  measure::Condition condition_;
  std::unique_ptr<GpuArena> rotation_;
  std::vector<Set> sets_;
  size_t places_ = 0;
  std::unique_ptr<SetTurns> turns_;  // Of places.
  std::unique_ptr<GpuChain> chain_;
  std::unique_ptr<GpuArena> bare_outputs_;  // What bare links read.
  std::unique_ptr<Buffer> elsewhere_;       // What is read to have nothing else in the cache.
  std::vector<std::byte> made_;             // Scratch, where the host makes numbers.
  uint64_t key_ = 0;                        // Of the sets' numbers.
  uint64_t last_seed_ = 0;                  // Of what varies in memory that sets share.
  bool launched_ = false;
  std::string cold_doubt_;
  std::vector<std::unique_ptr<OpenKernel>> open_;
};

}  // namespace assay::sweep
