#include "assay/sweep/worker_runs.h"

#include <map>
#include <random>
#include <span>
#include <sys/stat.h>
#include <vector>

#include "assay/base/fd.h"
#include "assay/device/cuda/shared_memory.h"
#include "assay/record/record.h"
#include "assay/sweep/card_problem.h"
#include "assay/sweep/code_copies.h"
#include "assay/sweep/worker_problem.h"

namespace assay::sweep {
namespace {

constexpr size_t kRepeated = 2;  // Exact and uniform inputs come first; the probes run once.

constexpr const char* kLetSignalsIn = "unblocked signals while it was timed";

}  // namespace

WorkerRuns::Method WorkerRuns::find_method(std::string_view what) {
  static const std::map<std::string_view, Method> kMethods = {
      {"load", &WorkerRuns::load},           {"share", &WorkerRuns::share},
      {"prove", &WorkerRuns::prove},         {"rotate", &WorkerRuns::rotate},
      {"open", &WorkerRuns::open},           {"round", &WorkerRuns::round},
      {"collect", &WorkerRuns::collect},     {"close", &WorkerRuns::close},
      {"unload", &WorkerRuns::unload},       {"intact", &WorkerRuns::intact},
      {"count", &WorkerRuns::count},         {"profile", &WorkerRuns::profile},
      {"block", &WorkerRuns::block},         {"trespasses", &WorkerRuns::trespasses},
      {"constants", &WorkerRuns::constants},
  };
  const auto found = kMethods.find(what);
  return found == kMethods.end() ? nullptr : found->second;
}

Result<Answer> WorkerRuns::load(Message& message) {
  problem_.reset();
  ASSAY_TRY(Problem problem, problem_from(message.json));
  ASSAY_TRY(const int64_t count, integer(message.json, "instances"));
  std::vector<std::vector<MappedFile>> instances;
  size_t next = 0;
  for (int64_t i = 0; i < count; ++i) {
    auto& instance = instances.emplace_back();
    for (const Operand& operand : problem.operands()) {
      if (operand.access == Access::write) {
        instance.emplace_back();
        continue;
      }
      if (next >= message.fds.size()) return fail(ErrorCode::internal, "operands are missing");
      ASSAY_TRY(auto mapped,
                MappedFile::map_read_only(message.fds[next++].get(), Seal::unchanging));
      instance.push_back(std::move(mapped));
    }
  }
  const auto seed = whole_or<uint64_t>(message.json, "seed", 1);
  if (card_ != nullptr) {
    ASSAY_TRY(problem_,
              CardProblem::create(std::move(problem), *card_, std::move(instances), seed));
  } else {
    ASSAY_TRY(problem_, WorkerProblem::create(std::move(problem), device_, threads_,
                                              std::move(instances), seed, pulses_));
  }
  problem_->watch_loads(loads_);
  return Answer{};
}

Result<ProblemRunner*> WorkerRuns::loaded() {
  if (!problem_) return fail(ErrorCode::internal, "no problem is loaded");
  return problem_.get();
}

// A word for the referee to find, if memory of the card can be shared with it.
Result<Answer> WorkerRuns::share(Message&) {
  if (card_ == nullptr) return fail(ErrorCode::unsupported, "no card, nothing to share");
  ASSAY_TRY(shared_word_, card_->allocate(cuda::kSharedPage, {.alignment = 256}));
  const uint64_t word = std::random_device{}() | uint64_t{1} << 40;
  // Not where it would be found by whoever forgets the offset.
  auto* at = static_cast<std::byte*>(shared_word_->data()) + cuda::kSharedPage / 2;
  ASSAY_TRY(card_->copy_in(at, std::as_bytes(std::span(&word, 1))));
  ASSAY_TRY(const auto shared, cuda::share(*card_->driver(), at, sizeof word));
  Answer answer;
  answer.json = {{"memory", to_json(shared)}, {"word", word}};
  return answer;
}

Result<Answer> WorkerRuns::prove(Message& message) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  const OwnMemory memory(device_);
  ASSAY_TRY(const auto who, find_(message.json));
  ASSAY_TRY(const Json* instances, member(message.json, "instances"));
  problem->hand_out_by_card(message.json.value("share", false));
  Answer answer;
  Json& launches = answer.json["launches"] = Json::array();
  for (const Json& index : *instances) {
    if (!index.is_number_unsigned()) return fail(ErrorCode::internal, "an instance is a number");
    ASSAY_TRY(auto proven, problem->prove(who.first, who.second, index.get<size_t>(),
                                          index.get<size_t>() < kRepeated));
    Json outputs = Json::array({to_json(std::move(proven.output), answer.fds)});
    if (proven.second) outputs.push_back(to_json(std::move(*proven.second), answer.fds));
    launches.push_back({{"ns", proven.launch_ns},
                        {"launches", proven.launches},
                        {"repeatable", proven.repeatable},
                        {"trespass", proven.trespass},
                        {"inputs_changed", proven.inputs_changed},
                        {"float_control_changed", proven.float_control_changed},
                        {"outputs", std::move(outputs)}});
  }
  add_facts(who.first, memory, answer);
  answer.json["left_processes"] = problem->has_left_processes();
  answer.json["busy_threads"] = !problem->at_rest();
  answer.json["armed"] = find_armed();
  return answer;
}

void WorkerRuns::add_facts(const Kernel& kernel, const OwnMemory& memory, Answer& answer) const {
  int64_t handed_out = 0;  // Outputs in memory files, on their way.
  for (const UniqueFd& file : answer.fds) {
    struct stat facts {};
    if (::fstat(file.get(), &facts) == 0) handed_out += facts.st_blocks * 512;
  }
  answer.json["own_memory_bytes"] = memory.grown(handed_out);
  Json& found = answer.json["loaded"] = Json::array();
  for (const Finding& finding : loads_.findings_of(owner_of(kernel.metadata())))
    found.push_back({{"code", finding.code}, {"sentence", finding.sentence}});
}

Result<Answer> WorkerRuns::rotate(Message& message) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  ASSAY_TRY(const Json* json, member(message.json, "condition"));
  ASSAY_TRY(const auto condition, measure::condition_from_json(*json));
  const Json key = message.json.value("key", Json());
  if (!key.is_number_unsigned()) return fail(ErrorCode::internal, "operand sets without a key");
  ASSAY_TRY(problem->make_rotation(condition, key.get<uint64_t>()));
  if (message.json.value("users", false)) problem->cool_copies();
  if (message.json.value("as_needed", false)) problem->pack_as_needed();
  Answer answer;
  answer.json["sets"] = problem->sets();
  answer.json["cold_doubt"] = problem->cold_doubt();
  return answer;
}

Result<Answer> WorkerRuns::open(Message& message) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  const OwnMemory memory(device_);
  ASSAY_TRY(const auto who, find_(message.json));
  ASSAY_TRY(const auto opened, problem->open(who.first, who.second));
  Answer answer;
  answer.json = {{"handle", opened.handle},
                 {"left_processes", problem->has_left_processes()},
                 {"armed", find_armed()},
                 {"workspace_bytes", opened.workspace_bytes},
                 {"prepared_bytes", opened.prepared_bytes},
                 {"prepare_seconds", opened.prepare_seconds},
                 {"outputs", opened.outputs},
                 {"launches", Json::array()}};
  for (const CardLaunch& launch : opened.launches)
    answer.json["launches"].push_back(to_json(launch));
  add_facts(who.first, memory, answer);
  return answer;
}

Result<Answer> WorkerRuns::constants(Message&) {
  ASSAY_TRY(const ProblemRunner* problem, loaded());
  ConstantBytes constants = problem->constants();
  constants.push_back(bytes_of(problem_));
  Answer answer;
  answer.json["parts"] = to_json(std::move(constants));
  return answer;
}

Result<Answer> WorkerRuns::round(Message& message) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  ASSAY_TRY(const Json* bursts, member(message.json, "bursts"));
  ASSAY_TRY(const int64_t seed, integer(message.json, "seed"));
  Answer answer;
  Json& samples = answer.json["bursts"] = Json::array();
  for (const Json& burst : *bursts) {
    if (!burst.is_array() || burst.size() != 2)
      return fail(ErrorCode::internal, "a burst is a handle and launches");
    auto sample =
        problem->burst(burst[0].get<int>(), burst[1].get<int>(), static_cast<uint64_t>(seed));
    if (!sample && sample.error().code == ErrorCode::device_lost) return fail(sample.error());
    if (!sample) {
      answer.json["failed"] = {{"handle", burst[0]}, {"message", sample.error().message}};
      return answer;
    }
    if (problem->has_left_processes()) {
      answer.json["left_processes"] = burst[0];
      return answer;
    }
    if (sample->let_signals_in) {
      answer.json["late"] = {{"handle", burst[0]}, {"work", kLetSignalsIn}};
      return answer;
    }
    samples.push_back({sample->ns, sample->clean ? 1 : 0, sample->waited_ns, sample->launches,
                       sample->taken_ns, sample->others_ahead_ns, sample->others_since_ns});
  }
  answer.json["armed"] = find_armed();
  return answer;
}

Result<Answer> WorkerRuns::block(Message& message) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  ASSAY_TRY(const int64_t handle, integer(message.json, "handle"));
  ASSAY_TRY(const auto ran,
            problem->block(static_cast<int>(handle), number_or(message.json, "seconds", 1)));
  Answer answer;
  answer.json = {{"ns", ran.ns}, {"launches", ran.launches}};
  return answer;
}

Result<Answer> WorkerRuns::count(Message& message) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  ASSAY_TRY(const int64_t handle, integer(message.json, "handle"));
  ASSAY_TRY(const int64_t launches, integer(message.json, "launches"));
  ASSAY_TRY(const int64_t seed, integer(message.json, "seed"));
  ASSAY_TRY(const auto counted, problem->count(static_cast<int>(handle), static_cast<int>(launches),
                                               static_cast<uint64_t>(seed)));
  Answer answer;
  answer.json = {{"launches", counted.launches}, {"clock_hz", counted.clock_hz}};
  Json& events = answer.json["events"] = Json::array();
  for (const measure::EventCount& event : counted.events)
    events.push_back(
        {{"event", event.event}, {"count", event.count}, {"unavailable", event.unavailable}});
  return answer;
}

Result<Answer> WorkerRuns::profile(Message& message) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  ASSAY_TRY(const int64_t handle, integer(message.json, "handle"));
  ASSAY_TRY(const int64_t launches, integer(message.json, "launches"));
  ASSAY_TRY(problem->profile(static_cast<int>(handle), static_cast<int>(launches)));
  return Answer{};
}

Result<Answer> WorkerRuns::collect(Message& message) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  ASSAY_TRY(const int64_t handle, integer(message.json, "handle"));
  ASSAY_TRY(const int64_t choice, integer(message.json, "choice"));
  problem->hand_out_by_card(message.json.value("share", false));
  ASSAY_TRY(auto output,
            problem->timed_output(static_cast<int>(handle), static_cast<uint64_t>(choice)));
  Answer answer;
  answer.json["set"] = output.set;
  answer.json["launch"] = output.launch;
  answer.json["output"] = to_json(std::move(output.output), answer.fds);
  return answer;
}

Result<Answer> WorkerRuns::trespasses(Message& message) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  ASSAY_TRY(const int64_t handle, integer(message.json, "handle"));
  Answer answer;
  answer.json["trespass"] = problem->find_trespass(static_cast<int>(handle));
  answer.json["trespass_beside_inputs"] = problem->find_trespass_beside_inputs();
  return answer;
}

Result<Answer> WorkerRuns::close(Message& message) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  ASSAY_TRY(const Json* handles, member(message.json, "handles"));
  for (const Json& handle : *handles)
    if (handle.is_number_integer()) problem->close(handle.get<int>());
  return Answer{};
}

Result<Answer> WorkerRuns::intact(Message&) {
  ASSAY_TRY(ProblemRunner * problem, loaded());
  Answer answer;
  answer.json["intact"] = problem->inputs_intact();
  answer.json["trespass"] = problem->find_trespass_beside_inputs();
  return answer;
}

Result<Answer> WorkerRuns::unload(Message&) {
  problem_.reset();
  Answer answer;
  answer.json["code"] = code_that_ran();
  return answer;
}

}  // namespace assay::sweep
