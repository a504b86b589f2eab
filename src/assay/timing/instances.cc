#include "assay/timing/instances.h"

#include <utility>

namespace assay::sweep {
namespace {
// A float64 reference of the largest problem that a CPU suite holds takes seconds, not minutes.
constexpr double kReferenceSeconds = 600;
constexpr double kLoadSeconds = 120;
}  // namespace

SeenOutput seen_output(const process::SentOutput& output, const process::Files& files) {
  return {output.gpu, output.file ? files[*output.file] : -1};
}

Status Instances::commit() {
  ASSAY_TRY(Child * referee, site_.processes.referee());
  ASSAY_TRY(auto answer, ask(*referee, process::Commit{}, kLoadSeconds, "committing to a seed"));
  seed_ = answer.seed;
  commitment_ = std::move(answer.commitment);
  return site_.commit(commitment_);
}

void Instances::keep(process::MadeInstances::Made told, InputKind kind,
                     std::vector<UniqueFd>::iterator& next) {
  Made& made = made_.emplace_back(Made{told.id, told.sets_key, kind, {}});
  for (uint64_t left = told.inputs; left > 0; --left) made.inputs.push_back(std::move(*next++));
}

Result<std::vector<InputKind>> Instances::choose_kinds(ErrorBound bound) const {
  ASSAY_TRY(Child * referee, site_.processes.referee());
  ASSAY_TRY(auto chosen, ask(*referee, process::ChooseKinds{site_.problem, bound}, kLoadSeconds,
                             "choosing inputs"));
  return std::move(chosen.kinds);
}

Status Instances::make(const std::vector<InputKind>& kinds) {
  ASSAY_TRY(Child * referee, site_.processes.referee());
  ASSAY_TRY(auto answer, ask(*referee, process::MakeInstances{site_.problem, kinds, seed_},
                             kReferenceSeconds, "making inputs and their reference"));
  auto files = answer.files.take();
  auto next = files.begin();
  for (size_t i = 0; i < kinds.size(); ++i) keep(answer.instances[i], kinds[i], next);
  return {};
}

Status Instances::make(InputKind kind) { return make(std::vector<InputKind>{kind}); }

Status Instances::derive(Processes& processes, std::span<const Derivation> wanted) {
  ASSAY_TRY(Child * referee, processes.referee());
  process::Derive asked;
  for (const Derivation& one : wanted)
    asked.wanted.push_back({one.base->made_.front().id, one.made->seed_});
  ASSAY_TRY(auto answer, ask(*referee, asked, kReferenceSeconds, "deriving inputs"));
  auto files = answer.files.take();
  auto next = files.begin();
  for (size_t i = 0; i < wanted.size(); ++i)
    wanted[i].made->keep(answer.instances[i], wanted[i].base->made_.front().kind, next);
  return {};
}

void Instances::close_files() {
  for (Made& made : made_) made.inputs.clear();
}

Status Instances::load_into(Child& worker, uint64_t seed) const {
  process::Load load{.problem = site_.problem, .instances = made_.size(), .seed = seed};
  for (const Made& made : made_)
    for (const UniqueFd& input : made.inputs) load.files.lend(input.get());
  return ask(worker, load, kLoadSeconds, "loading operands").map([](const process::Done&) {});
}

Status Instances::prepare_checks() const {
  ASSAY_TRY(Child * referee, site_.processes.referee());
  process::PrepareChecks prepare;
  for (const Made& made : made_) prepare.instances.push_back(made.id);
  return ask(*referee, prepare, kReferenceSeconds, "working out references")
      .map([](const process::Done&) {});
}

Result<Check> Instances::check(size_t index, const SeenOutput& output,
                               const std::optional<Timed>& timed, ErrorBound bound) const {
  ASSAY_TRY(Child * referee, site_.processes.referee());
  process::CheckOutput asked{.instance = made_[index].id, .bound = bound, .timed = timed};
  if (output.gpu) {
    asked.output.gpu = output.gpu;
  } else {
    asked.output.file = 0;
    asked.files.lend(output.fd);
  }
  ASSAY_TRY(auto answer, ask(*referee, asked, kReferenceSeconds, "comparing an output"));
  return std::move(answer.check);
}

Result<std::string> Instances::reveal() const {
  ASSAY_TRY(Child * referee, site_.processes.referee());
  ASSAY_TRY(auto answer, ask(*referee, process::Reveal{seed_}, kLoadSeconds, "publishing a seed"));
  return std::move(answer.seed);
}

Status Instances::drop() {
  ASSAY_TRY(Child * referee, site_.processes.referee());
  for (const Made& made : made_)
    ASSAY_TRY(ask(*referee, process::Drop{made.id}, kLoadSeconds, "dropping inputs")
                  .map([](const process::Done&) {}));
  made_.clear();
  return {};
}

}  // namespace assay::sweep
