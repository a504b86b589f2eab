#pragma once

// Inputs of one problem as the referee made them: handed to workers as sealed files, judged by the
// referee alone.

#include <optional>
#include <string>
#include <vector>

#include "assay/base/fd.h"
#include "assay/op/operation.h"
#include "assay/process/messages.h"
#include "assay/timing/site.h"

namespace assay::sweep {

// An output that a worker handed out: a file of whoever holds it, or memory of the GPU.
struct SeenOutput {
  std::optional<cuda::SharedMemory> gpu;
  int fd = -1;
};
SeenOutput seen_output(const process::SentOutput& output, const process::Files& files);

class Instances {
 public:
  explicit Instances(const Site& site) : site_(site) {}

  // Commits to a new secret seed, which is kept (Site::commit) before any candidate sees an input.
  Status commit();
  // The kinds that say something about the problem's kernels, of those that promise that bound,
  // too.
  Result<std::vector<InputKind>> choose_kinds(ErrorBound bound) const;
  // One instance of each; commit() comes first.
  Status make(const std::vector<InputKind>& kinds);
  Status make(InputKind kind);
  // Each gets another instance by permuting the first of its base, under its own seed. Of
  // those of one run.
  struct Derivation {
    Instances* made = nullptr;
    const Instances* base = nullptr;
  };
  static Status derive(Processes& processes, std::span<const Derivation> wanted);

  // Closes the files for workers: what is left is there for derive().
  void close_files();

  Status load_into(Child& worker, uint64_t seed) const;
  // By which operand sets for timing get their numbers (op/renewal.h): of the first instance.
  uint64_t sets_key() const { return made_.front().sets_key; }
  // The referee works out on its GPU what outputs will be compared with.
  Status prepare_checks() const;
  // timed: of which operands and which launch of theirs it is the output; nothing: of the inputs
  // as they were made.
  using Timed = process::CheckOutput::Timed;
  Result<Check> check(size_t index, const SeenOutput& output, const std::optional<Timed>& timed,
                      ErrorBound bound) const;
  Result<std::string> reveal() const;  // Hex.
  Status drop();                       // The referee forgets them.

  const Problem& problem() const { return site_.problem; }
  size_t count() const { return made_.size(); }
  InputKind kind(size_t index) const { return made_[index].kind; }
  const std::string& commitment() const { return commitment_; }

 private:
  struct Made {
    int64_t id = 0;
    uint64_t sets_key = 0;
    InputKind kind = InputKind::uniform;
    std::vector<UniqueFd> inputs;
  };
  // kinds: of each, in their order.
  void keep(process::MadeInstances::Made made, InputKind kind,
            std::vector<UniqueFd>::iterator& next);

  const Site& site_;
  uint64_t seed_ = 0;
  std::string commitment_;
  std::vector<Made> made_;
};

}  // namespace assay::sweep
