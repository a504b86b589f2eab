#include "assay/sweep/instances.h"

#include <nlohmann/json.hpp>

#include "assay/sweep/protocol.h"

namespace assay::sweep {
namespace {
// A float64 reference of the largest problem that a CPU suite holds takes seconds, not minutes.
constexpr double kReferenceSeconds = 600;
constexpr double kLoadSeconds = 120;
}  // namespace

Status Instances::commit() {
  ASSAY_TRY(Child * referee, station_.crew.referee());
  ASSAY_TRY(const Message answer,
            ask(*referee, {{"do", "commit"}}, kLoadSeconds, "committing to a seed"));
  ASSAY_TRY(seed_, integer(answer.json, "seed"));
  ASSAY_TRY(commitment_, text(answer.json, "commitment"));
  return station_.journal.add_commitment(station_.problem.name(), commitment_);
}

Status Instances::keep(Message answer, std::string kind) {
  Made made;
  ASSAY_TRY(made.id, integer(answer.json, "instance"));
  made.kind = std::move(kind);
  made.inputs = std::move(answer.fds);
  made_.push_back(std::move(made));
  return {};
}

Status Instances::make_all_kinds() {
  ASSAY_TRY(Child * referee, station_.crew.referee());
  ASSAY_TRY(const Message answer,
            ask(*referee, station_.message("kinds"), kLoadSeconds, "choosing inputs"));
  ASSAY_TRY(const Json* kinds, member(answer.json, "kinds"));
  for (const Json& kind : *kinds) {
    Json message = station_.message("instance");
    message["kind"] = kind;
    message["seed"] = seed_;
    station_.observer.on_stage("reference", made_.size() + 1, kinds->size(),
                               kind.get<std::string>());
    ASSAY_TRY(Message made,
              ask(*referee, message, kReferenceSeconds, "making inputs and their reference"));
    ASSAY_TRY(keep(std::move(made), kind.get<std::string>()));
  }
  return {};
}

Status Instances::make(InputKind kind) {
  ASSAY_TRY(Child * referee, station_.crew.referee());
  Json message = station_.message("instance");
  message["kind"] = to_string(kind);
  message["seed"] = seed_;
  ASSAY_TRY(Message made,
            ask(*referee, message, kReferenceSeconds, "making inputs and their reference"));
  return keep(std::move(made), std::string(to_string(kind)));
}

Status Instances::derive_from(const Instances& base, size_t index) {
  ASSAY_TRY(Child * referee, station_.crew.referee());
  ASSAY_TRY(Message made,
            ask(*referee, {{"do", "derive"}, {"instance", base.made_[index].id}, {"seed", seed_}},
                kReferenceSeconds, "deriving inputs"));
  return keep(std::move(made), base.made_[index].kind);
}

void Instances::close_copies() {
  for (Made& made : made_) made.inputs.clear();
}

Status Instances::load_into(Child& worker, uint64_t seed) const {
  Json message = station_.message("load");
  message["instances"] = made_.size();
  message["seed"] = seed;
  std::vector<int> fds;
  for (const Made& made : made_)
    for (const UniqueFd& input : made.inputs) fds.push_back(input.get());
  return ask(worker, message, kLoadSeconds, "loading operands", fds).map([](const Message&) {});
}

Result<Check> Instances::check(size_t index, int output_fd, uint64_t variation) const {
  ASSAY_TRY(Child * referee, station_.crew.referee());
  const int fds[] = {output_fd};
  ASSAY_TRY(
      const Message answer,
      ask(*referee, {{"do", "check"}, {"instance", made_[index].id}, {"variation", variation}},
          kReferenceSeconds, "comparing an output with its reference", fds));
  ASSAY_TRY(const Json* check, member(answer.json, "check"));
  return check_from_json(*check);
}

Result<std::string> Instances::reveal() const {
  ASSAY_TRY(Child * referee, station_.crew.referee());
  ASSAY_TRY(const Message answer,
            ask(*referee, {{"do", "reveal"}, {"seed", seed_}}, kLoadSeconds, "publishing a seed"));
  return text(answer.json, "seed");
}

Status Instances::drop() {
  ASSAY_TRY(Child * referee, station_.crew.referee());
  for (const Made& made : made_)
    ASSAY_TRY(
        ask(*referee, {{"do", "drop"}, {"instance", made.id}}, kLoadSeconds, "dropping inputs")
            .map([](const Message&) {}));
  made_.clear();
  return {};
}

}  // namespace assay::sweep
