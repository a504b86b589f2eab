#include "assay/sweep/stages/race_result.h"

#include <map>

#include <nlohmann/json.hpp>

namespace assay::sweep {
namespace {

Json to_json(const RaceResult& race) {
  return {{"record", assay::to_json(race.record)},
          {"finalists", race.finalists},
          {"leader", race.leader},
          {"candidate", race.candidate},
          {"baseline", race.baseline},
          {"spread", race.spread},
          {"round_ns", race.round_ns},
          {"timed_seconds", race.timed_seconds},
          {"cold_doubt", race.cold_doubt}};
}

Result<RaceResult> read_race_result(const JsonField& field) {
  RaceResult race;
  ASSAY_TRY(const JsonField record, field.at("record"));
  ASSAY_TRY(race.record, read_race_record(record));
  ASSAY_TRY(const JsonField list, field.at("finalists"));
  ASSAY_TRY(const auto finalists, list.items());
  for (const JsonField& finalist : finalists) {
    ASSAY_TRY(race.finalists.emplace_back(), finalist.as_string());
  }
  const auto read_text = [&](const char* key, std::string& into) -> Status {
    ASSAY_TRY(const JsonField text, field.at(key));
    ASSAY_TRY(into, text.as_string());
    return {};
  };
  ASSAY_TRY(read_text("leader", race.leader));
  ASSAY_TRY(read_text("candidate", race.candidate));
  ASSAY_TRY(read_text("baseline", race.baseline));
  ASSAY_TRY(read_text("cold_doubt", race.cold_doubt));
  const auto read_number = [&](const char* key, double& into) -> Status {
    ASSAY_TRY(const JsonField number, field.at(key));
    ASSAY_TRY(into, number.as_double(0));
    return {};
  };
  ASSAY_TRY(read_number("spread", race.spread));
  ASSAY_TRY(read_number("round_ns", race.round_ns));
  ASSAY_TRY(read_number("timed_seconds", race.timed_seconds));
  return race;
}

}  // namespace

Status keep_race(Journal& journal, const std::string& problem, const Field& field,
                 const RaceResult& race) {
  std::vector<Journal::Raced> kernels;
  for (const Candidate& candidate : field.candidates)
    if (candidate.proven)
      kernels.push_back({candidate.outcome, candidate.launch_ns, candidate.launches});
  return journal.add_race(problem, kernels, to_json(race));
}

void put_in_front(RaceResult& race, const std::string& id, bool may_be_candidate) {
  std::erase(race.finalists, id);
  race.finalists.insert(race.finalists.begin(), id);
  race.leader = id;
  if (may_be_candidate) race.candidate = id;
}

Result<std::optional<RaceResult>> take_over_race(const Journal& journal, const std::string& problem,
                                                 Field& field) {
  ASSAY_TRY(auto kept, journal.race(problem));
  if (!kept) return std::optional<RaceResult>();
  std::map<std::string, Candidate*> proven;
  for (Candidate& candidate : field.candidates)
    if (candidate.proven) proven.emplace(candidate.outcome.id, &candidate);
  // All of it or nothing: places are against one another.
  for (const Journal::Raced& kernel : kept->kernels) {
    const auto found = proven.find(kernel.outcome.id);
    if (found == proven.end() ||
        found->second->outcome.artifact_hash != kernel.outcome.artifact_hash)
      return std::optional<RaceResult>();
  }
  for (Journal::Raced& kernel : kept->kernels) {
    Candidate& candidate = *proven.at(kernel.outcome.id);
    candidate.take_over(std::move(kernel.outcome), kernel.launch_ns);
    candidate.launches = kernel.launches;
  }
  const JsonField line(kept->line);
  ASSAY_TRY(const JsonField result, line.at("result"));
  ASSAY_TRY(RaceResult race, read_race_result(result));
  return std::optional(std::move(race));
}

}  // namespace assay::sweep
