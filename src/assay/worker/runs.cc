#include "assay/worker/runs.h"

#include <random>
#include <span>
#include <sys/stat.h>
#include <vector>

#include "assay/base/fd.h"
#include "assay/device/cuda/shared_memory.h"
#include "assay/worker/code_copies.h"
#include "assay/worker/cpu/problem.h"
#include "assay/worker/gpu/problem.h"

namespace assay::sweep {
namespace {

constexpr size_t kRepeated = 2;  // Exact and uniform inputs come first; the probes run once.

constexpr const char* kLetSignalsIn = "unblocked signals while it was timed";

process::SentOutput send(HandedOut output, process::Files& files) {
  if (output.gpu) return {.gpu = output.gpu};
  files.add(std::move(output.file));
  return {.file = static_cast<uint32_t>(files.size() - 1)};
}

}  // namespace

Result<process::Done> WorkerRuns::answer(process::Load asked) {
  problem_.reset();
  const Problem& problem = *asked.problem;
  std::vector<std::vector<MappedFile>> instances(asked.instances);
  size_t next = 0;
  for (auto& instance : instances) {
    for (const Operand& operand : problem.operands()) {
      if (operand.access == Access::write) {
        instance.emplace_back();
        continue;
      }
      ASSAY_TRY(auto mapped, MappedFile::map_read_only(asked.files[next++], Seal::unchanging));
      instance.push_back(std::move(mapped));
    }
  }
  if (gpu_ != nullptr) {
    ASSAY_TRY(problem_, GpuProblem::create(problem, *gpu_, std::move(instances), asked.seed));
  } else {
    ASSAY_TRY(problem_, WorkerProblem::create(problem, device_, threads_, std::move(instances),
                                              asked.seed, pulses_));
  }
  problem_->watch_loads(loads_);
  return process::Done{};
}

Result<ProblemRunner*> WorkerRuns::loaded() {
  if (!problem_) return fail(ErrorCode::internal, "no problem is loaded");
  return problem_.get();
}

// A word for the referee to find, if memory of the GPU can be shared with it.
Result<process::ShareWord::Answer> WorkerRuns::answer(const process::ShareWord&) {
  if (gpu_ == nullptr) return fail(ErrorCode::unsupported, "no GPU, nothing to share");
  ASSAY_TRY(shared_word_, gpu_->allocate(cuda::kSharedPage, {.alignment = 256}));
  const uint64_t word = std::random_device{}() | uint64_t{1} << 40;
  // Not where it would be found by whoever forgets the offset.
  auto* at = static_cast<std::byte*>(shared_word_->data()) + cuda::kSharedPage / 2;
  ASSAY_TRY(gpu_->copy_in(at, std::as_bytes(std::span(&word, 1))));
  ASSAY_TRY(const auto shared, cuda::share(*gpu_->driver(), at, sizeof word));
  return process::ShareWord::Answer{shared, word};
}

Result<process::Prove::Answer> WorkerRuns::answer(const process::Prove& asked) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  const OwnMemory memory(device_);
  ASSAY_TRY(const auto who, find_(asked.kernel));
  problem->hand_out_by_gpu(asked.share);
  process::Prove::Answer answer;
  for (const uint64_t instance : asked.instances) {
    ASSAY_TRY(auto proven, problem->prove(who.first, who.second, instance, instance < kRepeated));
    auto& launch = answer.launches.emplace_back();
    launch.ns = proven.launch_ns;
    launch.launches = proven.launches;
    launch.repeatable = proven.repeatable;
    launch.trespass = std::move(proven.trespass);
    launch.inputs_changed = proven.inputs_changed;
    launch.float_control_changed = proven.float_control_changed;
    launch.outputs.push_back(send(std::move(proven.output), answer.files));
    if (proven.second) launch.outputs.push_back(send(std::move(*proven.second), answer.files));
  }
  answer.object = facts_of(who.first, memory, answer.files);
  answer.left_processes = problem->has_left_processes();
  answer.busy_threads = !problem->at_rest();
  answer.armed = find_armed();
  return answer;
}

process::ObjectFacts WorkerRuns::facts_of(const Kernel& kernel, const OwnMemory& memory,
                                          const process::Files& handed_out) const {
  int64_t outputs = 0;  // In memory files, on their way.
  for (const int file : handed_out.numbers()) {
    struct stat facts {};
    if (::fstat(file, &facts) == 0) outputs += facts.st_blocks * 512;
  }
  return {memory.grown(outputs), loads_.findings_of(owner_of(kernel.metadata()))};
}

Result<process::Rotate::Answer> WorkerRuns::answer(const process::Rotate& asked) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  ASSAY_TRY(problem->make_rotation(asked.condition, asked.key));
  if (asked.users) problem->cool_copies();
  if (asked.as_needed) problem->pack_as_needed();
  return process::Rotate::Answer{problem->sets(), problem->cold_doubt()};
}

Result<process::Open::Answer> WorkerRuns::answer(const process::Open& asked) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  const OwnMemory memory(device_);
  ASSAY_TRY(const auto who, find_(asked.kernel));
  ASSAY_TRY(auto opened, problem->open(who.first, who.second));
  return process::Open::Answer{.handle = opened.handle,
                               .left_processes = problem->has_left_processes(),
                               .armed = find_armed(),
                               .workspace_bytes = opened.workspace_bytes,
                               .prepared_bytes = opened.prepared_bytes,
                               .prepare_seconds = opened.prepare_seconds,
                               .outputs = std::move(opened.outputs),
                               .launches = std::move(opened.launches),
                               .object = facts_of(who.first, memory)};
}

Result<process::FindConstants::Answer> WorkerRuns::answer(const process::FindConstants&) {
  ASSAY_TRY(const ProblemRunner* problem, loaded());
  ConstantBytes constants = problem->constants();
  constants.push_back(bytes_of(problem_));
  return process::FindConstants::Answer{parts_of(std::move(constants))};
}

Result<process::Round::Answer> WorkerRuns::answer(const process::Round& asked) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  using End = process::Round::Answer::End;
  process::Round::Answer answer;
  answer.bursts.reserve(asked.bursts.size());
  problem->approach_for(asked.approach_ns);
  for (const auto& burst : asked.bursts) {
    const auto sample = problem->burst(burst.handle, burst.launches, asked.seed);
    if (!sample && sample.error().code == ErrorCode::device_lost) return fail(sample.error());
    if (!sample) {
      answer.ended = {End::launch_failed, burst.handle, sample.error().message};
      return answer;
    }
    if (problem->has_left_processes()) {
      answer.ended = {End::left_processes, burst.handle, ""};
      return answer;
    }
    if (sample->let_signals_in) {
      answer.ended = {End::late_work, burst.handle, kLetSignalsIn};
      return answer;
    }
    answer.bursts.push_back({sample->ns, sample->clean, sample->waited_ns, sample->launches,
                             sample->taken_ns, sample->others_ahead_ns, sample->others_since_ns,
                             sample->approach_ns});
  }
  answer.armed = find_armed();
  return answer;
}

Result<process::RunBlock::Answer> WorkerRuns::answer(const process::RunBlock& asked) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  ASSAY_TRY(const auto ran, problem->block(asked.handle, asked.seconds));
  return process::RunBlock::Answer{ran.ns, ran.launches};
}

Result<process::Count::Answer> WorkerRuns::answer(const process::Count& asked) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  ASSAY_TRY(auto counted, problem->count(asked.handle, asked.launches, asked.seed));
  return process::Count::Answer{counted.launches, counted.clock_hz, std::move(counted.events)};
}

Result<process::Done> WorkerRuns::answer(const process::ProfileLaunches& asked) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  ASSAY_TRY(problem->profile(asked.handle, asked.launches));
  return process::Done{};
}

Result<process::Collect::Answer> WorkerRuns::answer(const process::Collect& asked) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  problem->hand_out_by_gpu(asked.share);
  ASSAY_TRY(auto output, problem->timed_output(asked.handle, asked.choice));
  process::Collect::Answer answer{.set = output.set, .launch = output.launch};
  answer.output = send(std::move(output.output), answer.files);
  return answer;
}

Result<process::FindTrespasses::Answer> WorkerRuns::answer(const process::FindTrespasses& asked) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  return process::FindTrespasses::Answer{problem->find_trespass(asked.handle),
                                         problem->find_trespass_beside_inputs()};
}

Result<process::Done> WorkerRuns::answer(const process::Close& asked) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  for (const int handle : asked.handles) problem->close(handle);
  return process::Done{};
}

Result<process::LookAtInputs::Answer> WorkerRuns::answer(const process::LookAtInputs&) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  return process::LookAtInputs::Answer{problem->inputs_intact(),
                                       problem->find_trespass_beside_inputs()};
}

Result<process::Unload::Answer> WorkerRuns::answer(const process::Unload&) {
  problem_.reset();
  return process::Unload::Answer{code_that_ran()};
}

}  // namespace assay::sweep
