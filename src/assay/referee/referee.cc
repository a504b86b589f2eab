#include "assay/referee/referee.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/fd.h"
#include "assay/base/hash.h"
#include "assay/base/parallel.h"
#include "assay/base/random.h"
#include "assay/device/cuda/selection.h"
#include "assay/op/outputs.h"
#include "assay/op/proof_seeds.h"
#include "assay/op/proof_words.h"
#include "assay/process/confine.h"
#include "assay/process/descriptors.h"
#include "assay/process/messages.h"
#include "assay/referee/gpu.h"

namespace assay::sweep {
namespace {

// Owns what decides: the secret seeds, pristine inputs, references, comparison. It never maps
// candidate code, and hands out inputs in files that nobody can change, this process included.
class Referee {
 public:
  Result<process::Done> answer(const process::OpenGpu& asked) {
    ASSAY_TRY(auto device, cuda::open_pinned(asked.cuda_driver, asked.device));
    ASSAY_TRY(gpu_, RefereeGpu::open(std::move(device)));
    return process::Done{};
  }

  // Whether memory that a worker shares is what it should be.
  Result<process::Done> answer(const process::ViewWord& asked) {
    if (!gpu_) return fail(ErrorCode::unsupported, "this referee has no GPU");
    uint64_t seen = 0;
    if (asked.memory.bytes != sizeof seen)
      return fail(ErrorCode::internal, "a word of another length");
    ASSAY_TRY(const auto copy, gpu_->fetch(asked.memory));
    ASSAY_TRY(gpu_->read(copy->data(), std::as_writable_bytes(std::span(&seen, 1))));
    if (seen != asked.word)
      return fail(ErrorCode::unsupported, "shared memory of the GPU reads as something else");
    return process::Done{};
  }

  Result<process::Commit::Answer> answer(const process::Commit&) {
    ASSAY_TRY(const SecretSeed seed, secret_seed());
    seeds_.push_back(seed);
    return process::Commit::Answer{seeds_.size() - 1, sha256_hex(std::as_bytes(std::span(seed)))};
  }

  Result<process::Reveal::Answer> answer(const process::Reveal& asked) {
    ASSAY_TRY(const SecretSeed* seed, seed_of(asked.seed));
    return process::Reveal::Answer{to_hex(*seed)};
  }

  Result<process::ChooseKinds::Answer> answer(const process::ChooseKinds& asked) {
    const Problem& problem = *asked.problem;
    ASSAY_TRY(const Operation* operation, find_operation(problem.operation()));
    const auto kinds = operation->useful_kinds(problem, asked.bound);
    return process::ChooseKinds::Answer{{kinds.begin(), kinds.end()}};
  }

  // Side by side: nothing is timed meanwhile.
  Result<process::MadeInstances> answer(const process::MakeInstances& asked) {
    const Problem& problem = *asked.problem;
    ASSAY_TRY(const SecretSeed* seed, seed_of(asked.seed));
    ASSAY_TRY(const Operation* operation, find_operation(problem.operation()));
    std::vector<Result<Made>> made(asked.kinds.size());
    for_each_parallel(asked.kinds.size(), [&](size_t i) {
      const InputKind kind = asked.kinds[i];
      auto derived = seed_from(*seed, fmt::format("{} {}", problem.signature(), to_string(kind)));
      const auto before = std::ranges::count(asked.kinds.begin(), asked.kinds.begin() + i, kind);
      if (std::ranges::count(asked.kinds, kind) > 1) derived = seed_of_one(derived, before);
      made[i] = with_files(operation->make_instance(problem, kind, derived));
      // What the GPU compares needs no reference of ours.
      if (const auto* instance = made[i] ? calculated(*made[i]->instance) : nullptr;
          instance != nullptr && !gpu_)
        if (Status status = instance->prepare_check(); !status)
          made[i] = fail(std::move(status).error());
    });
    process::MadeInstances answer;
    for (Result<Made>& each : made) {
      if (!each) return fail(std::move(each).error());
      keep(std::move(*each), *seed, answer);
    }
    return answer;
  }

  // Side by side, too.
  Result<process::MadeInstances> answer(const process::Derive& asked) {
    struct Wanted {
      const Instance* base = nullptr;
      const SecretSeed* seed = nullptr;
    };
    std::vector<Wanted> wanted;
    for (const auto& one : asked.wanted) {
      ASSAY_TRY(const Kept* base, find(one.instance));
      ASSAY_TRY(const SecretSeed* seed, seed_of(one.seed));
      wanted.push_back({base->instance.get(), seed});
    }
    std::vector<Result<Made>> made(wanted.size());
    for_each_parallel(wanted.size(), [&](size_t i) {
      const Instance& base = *wanted[i].base;
      made[i] = with_files(base.derive(seed_from(*wanted[i].seed, base.problem().signature())));
    });
    process::MadeInstances answer;
    for (size_t i = 0; i < made.size(); ++i) {
      if (!made[i]) return fail(std::move(made[i]).error());
      keep(std::move(*made[i]), *wanted[i].seed, answer);
    }
    return answer;
  }

  // What the GPU needs to compare outputs of these instances. What fails is said by a check.
  Result<process::Done> answer(const process::PrepareChecks& asked) {
    for (const int64_t id : asked.instances) {
      ASSAY_TRY(const Kept* kept, find(id));
      if (const auto* own = calculated(*kept->instance); own != nullptr && gpu_)
        (void)own->prepare_check_on(*gpu_);
    }
    return process::Done{};
  }

  Result<process::CheckOutput::Answer> answer(const process::CheckOutput& asked) {
    ASSAY_TRY(const Kept* kept, find(asked.instance));
    const Instance& instance = *kept->instance;
    InputSeeds seeds;
    if (asked.timed) {
      seeds = {.set = set_seed(kept->sets_key, asked.timed->set), .launch = asked.timed->launch};
      if (!seeds.renewed()) return fail(ErrorCode::internal, "a timed launch has a seed");
    }
    const size_t bytes = OutputPlaces::of(instance.problem()).bytes;
    Result<Check> check = asked.output.gpu
                              ? check_gpu(instance, *asked.output.gpu, bytes, seeds, asked.bound)
                              : check_file(instance, asked.files[0], bytes, seeds, asked.bound);
    if (!check) return fail(std::move(check).error());
    return process::CheckOutput::Answer{std::move(*check)};
  }

  Result<process::Done> answer(const process::Drop& asked) {
    instances_.erase(asked.instance);
    return process::Done{};
  }

 private:
  Result<const SecretSeed*> seed_of(uint64_t index) {
    if (index >= seeds_.size()) return fail(ErrorCode::internal, "no seed {}", index);
    return &seeds_[index];
  }

  // An instance, by what the operand sets for timing get their numbers (op/renewal.h), and the
  // sealed files of its inputs that a worker gets.
  struct Kept {
    std::unique_ptr<Instance> instance;
    uint64_t sets_key = 0;
  };
  struct Made {
    std::unique_ptr<Instance> instance;
    std::vector<UniqueFd> files;
  };
  static Result<Made> with_files(Result<std::unique_ptr<Instance>> instance) {
    if (!instance) return fail(std::move(instance).error());
    Made made{std::move(*instance), {}};
    const auto operands = made.instance->problem().operands();
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].access == Access::write) continue;
      ASSAY_TRY(auto file, made.instance->input_file(i));
      made.files.push_back(std::move(file));
    }
    return made;
  }

  void keep(Made made, const SecretSeed& seed, process::MadeInstances& answer) {
    const uint64_t sets_key = seed_from(seed, fmt::format("operand sets {}", next_));
    answer.instances.push_back({next_, sets_key, made.files.size()});
    for (UniqueFd& file : made.files) answer.files.add(std::move(file));
    instances_[next_++] = {std::move(made.instance), sets_key};
  }

  Result<const Kept*> find(int64_t id) {
    const auto found = instances_.find(id);
    if (found == instances_.end()) return fail(ErrorCode::internal, "no instance {}", id);
    return &found->second;
  }

  static Status check_size(size_t got, size_t expected) {
    if (got == expected) return {};
    return fail(ErrorCode::failed, "the output has {} bytes, expected {}", got, expected);
  }

  static Result<Check> check_file(const Instance& instance, int file, size_t bytes,
                                  const InputSeeds& seeds, ErrorBound bound) {
    ASSAY_TRY(auto output, MappedFile::map_read_only(file, Seal::fixed_size));
    ASSAY_TRY(check_size(output.size(), bytes));
    // Copied out before it is looked at: whoever made it may still be able to write to it.
    const std::vector<std::byte> copy(output.bytes().begin(), output.bytes().end());
    return check_bytes(instance, copy, seeds, bound);
  }

  static Result<Check> check_bytes(const Instance& instance, std::span<const std::byte> output,
                                   const InputSeeds& seeds, ErrorBound bound) {
    if (const auto* own = calculated(instance); own != nullptr && !seeds.renewed())
      ASSAY_TRY(own->prepare_check());
    return instance.check(output, seeds, bound);
  }

  // A copy likewise.
  Result<Check> check_gpu(const Instance& instance, const cuda::SharedMemory& shared, size_t bytes,
                          const InputSeeds& seeds, ErrorBound bound) {
    if (!gpu_) return fail(ErrorCode::internal, "this referee has no GPU");
    ASSAY_TRY(check_size(shared.bytes, bytes));
    ASSAY_TRY(const auto copy, gpu_->fetch(shared));
    if (const auto* own = calculated(instance)) {
      auto check = own->check_on(*gpu_, copy->data(), seeds, bound);
      const bool host_can = !check && (check.error().code == ErrorCode::machine ||
                                       check.error().code == ErrorCode::unsupported);
      if (check && check->compared > 0) check->method += kOnTheGpu;
      if (!host_can) return check;
    }
    std::vector<std::byte> host(bytes);
    ASSAY_TRY(gpu_->read(copy->data(), host));
    return check_bytes(instance, host, seeds, bound);
  }

  // Null where it cannot leave its comparisons to a GPU.
  static const CalculatedInstance* calculated(const Instance& instance) {
    return instance.calculated();
  }

  std::unique_ptr<RefereeGpu> gpu_;  // Outlives what instances keep there.
  std::vector<SecretSeed> seeds_;
  std::map<int64_t, Kept> instances_;
  int64_t next_ = 0;
};

}  // namespace

Status referee_main() {
  hide_memory();
  MessageChannel channel{UniqueFd(process::kChannelFd)};
  Referee referee;
  process::serve(channel, [&](process::ReadRequest request) {
    return process::RefereeRequests::answer(referee, std::move(request));
  });
  return {};
}

}  // namespace assay::sweep
