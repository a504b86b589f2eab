#include "assay/sweep/instances.h"

#include <iterator>

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

Status Instances::keep(Message answer, const std::vector<std::string>& kinds) {
  ASSAY_TRY(const Json* ids, member(answer.json, "instances"));
  ASSAY_TRY(const Json* keys, member(answer.json, "sets_keys"));
  if (!ids->is_array() || ids->size() != kinds.size() || keys->size() != kinds.size() ||
      answer.fds.size() % kinds.size() != 0)
    return fail(ErrorCode::internal, "not every kind of input was made");
  const size_t each = answer.fds.size() / kinds.size();
  auto next = std::make_move_iterator(answer.fds.begin());
  for (size_t i = 0; i < kinds.size(); ++i) {
    Made made;
    made.id = (*ids)[i].is_number_integer() ? (*ids)[i].get<int64_t>() : -1;
    made.sets_key = (*keys)[i].get<uint64_t>();
    made.kind = kinds[i];
    made.inputs.assign(next, next + static_cast<ptrdiff_t>(each));
    next += static_cast<ptrdiff_t>(each);
    made_.push_back(std::move(made));
  }
  return {};
}

Status Instances::make_all_kinds(ErrorBound bound) {
  ASSAY_TRY(Child * referee, station_.crew.referee());
  Json message = station_.message("kinds");
  message["error"] = to_string(bound);
  ASSAY_TRY(const Message answer, ask(*referee, message, kLoadSeconds, "choosing inputs"));
  ASSAY_TRY(const Json* kinds, member(answer.json, "kinds"));
  std::vector<std::string> names;
  for (const Json& kind : *kinds) names.push_back(kind.get<std::string>());
  station_.observer.on_stage("reference", 0, names.size(), "all of them at once");
  return make(names);
}

Status Instances::make(const std::vector<std::string>& kinds) {
  ASSAY_TRY(Child * referee, station_.crew.referee());
  Json message = station_.message("instances");
  message["kinds"] = kinds;
  message["seed"] = seed_;
  ASSAY_TRY(Message made,
            ask(*referee, message, kReferenceSeconds, "making inputs and their reference"));
  return keep(std::move(made), kinds);
}

Status Instances::make(InputKind kind) { return make({std::string(to_string(kind))}); }

Status Instances::derive(Crew& crew, std::span<const Derivation> wanted) {
  ASSAY_TRY(Child * referee, crew.referee());
  Json message = {{"do", "derive"}, {"wanted", Json::array()}};
  for (const Derivation& one : wanted)
    message["wanted"].push_back(
        {{"instance", one.base->made_.front().id}, {"seed", one.made->seed_}});
  ASSAY_TRY(Message answer, ask(*referee, message, kReferenceSeconds, "deriving inputs"));
  ASSAY_TRY(const Json* ids, member(answer.json, "instances"));
  ASSAY_TRY(const Json* inputs, member(answer.json, "inputs"));
  ASSAY_TRY(const Json* keys, member(answer.json, "sets_keys"));
  size_t next = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    Made made;
    made.id = ids->at(i).get<int64_t>();
    made.sets_key = keys->at(i).get<uint64_t>();
    made.kind = wanted[i].base->made_.front().kind;
    for (auto left = inputs->at(i).get<size_t>(); left > 0 && next < answer.fds.size(); --left)
      made.inputs.push_back(std::move(answer.fds[next++]));
    wanted[i].made->made_.push_back(std::move(made));
  }
  return {};
}

void Instances::close_files() {
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

Status Instances::prepare_checks() const {
  ASSAY_TRY(Child * referee, station_.crew.referee());
  Json message = {{"do", "prepare"}, {"instances", Json::array()}};
  for (const Made& made : made_) message["instances"].push_back(made.id);
  return ask(*referee, message, kReferenceSeconds, "working out references")
      .map([](const Message&) {});
}

Result<Check> Instances::check(size_t index, const SeenOutput& output,
                               const std::optional<Timed>& timed, ErrorBound bound) const {
  ASSAY_TRY(Child * referee, station_.crew.referee());
  const std::span<const int> fds(&output.fd, output.fd >= 0 ? 1 : 0);
  Json message = {{"do", "check"},
                  {"instance", made_[index].id},
                  {"output", output.json},
                  {"error", to_string(bound)}};
  if (timed) message["timed"] = {{"set", timed->set}, {"launch", timed->launch}};
  ASSAY_TRY(const Message answer,
            ask(*referee, message, kReferenceSeconds, "comparing an output", fds));
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
