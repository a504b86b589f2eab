#include "assay/process/messages/runs.h"

#include "assay/base/clock.h"
#include "assay/process/messages/describe.h"
#include "assay/process/messages/describe_code.h"
#include "assay/process/messages/row.h"

namespace assay::measure {

inline Json write_value(const Condition& condition, RecordTag) { return to_json(condition); }

inline Status read_value(const JsonField& field, Condition& condition) {
  const auto read = condition_from_json(field.json());
  if (!read) return fail(in_field(field, read.error()));
  condition = *read;
  return {};
}

template <class A, archive::Is<EventCount> T>
void describe(A& archive, T& event) {
  archive("event", event.event, process::kName);
  archive("count", event.count, archive::Range{0, 1e18});
  archive("unavailable", event.unavailable, process::kSentence);
}

}  // namespace assay::measure

namespace assay::process {

extern template struct Codec<Init>;  // begin.cc has its description.

namespace {

// Longer than any limit of a call; sums of such numbers stay numbers.
constexpr double kMostNs = 1e5 * static_cast<double>(kNsPerSecond);
constexpr archive::Range kDuration{-kMostNs, kMostNs};
constexpr archive::Range kTimed{1, kMostNs};
constexpr archive::Range kLaunches{1, 1 << 30};

}  // namespace

template <class A, archive::Is<Load> T>
void describe(A& archive, T& load) {
  archive("problem", load.problem);
  archive("instances", load.instances);
  archive("seed", load.seed);
}

Status Load::check() const {
  size_t inputs = 0;
  for (const Operand& operand : problem->operands()) inputs += operand.access != Access::write;
  if (instances <= kMaxMessageFds && files.size() == instances * inputs) return {};
  return fail(ErrorCode::invalid_input, "{} operands of {} instances", files.size(), instances);
}

template <class A, archive::Is<ShareWord> T>
void describe(A&, T&) {}

template <class A, archive::Is<ShareWord::Answer> T>
void describe(A& archive, T& answer) {
  archive("memory", answer.memory);
  archive("word", answer.word);
}

template <class A, archive::Is<Prove> T>
void describe(A& archive, T& prove) {
  archive("kernel", prove.kernel);
  archive("instances", prove.instances);
  archive("share", prove.share);
}

template <class A, archive::Is<Prove::Answer::Launch> T>
void describe(A& archive, T& launch) {
  archive("ns", launch.ns, archive::Range{0, kMostNs});
  archive("launches", launch.launches, archive::Range{1, 2});
  archive("repeatable", launch.repeatable);
  archive("inputs_changed", launch.inputs_changed);
  archive("float_control_changed", launch.float_control_changed);
  archive("trespass", launch.trespass, kSentence);
  archive("outputs", launch.outputs, archive::at_most(2));
}

template <class A, archive::Is<Prove::Answer> T>
void describe(A& archive, T& answer) {
  archive("launches", answer.launches, archive::at_most(kMaxMessageFds));
  archive("left_processes", answer.left_processes);
  archive("busy_threads", answer.busy_threads);
  archive("armed", answer.armed, kSentence);
  archive("object", answer.object);
}

Status Prove::Answer::check() const {
  std::vector<const SentOutput*> outputs;
  for (const Launch& launch : launches) {
    if (launch.outputs.empty() || static_cast<size_t>(launch.launches) < launch.outputs.size())
      return fail(ErrorCode::invalid_input, "{} launches with {} outputs", launch.launches,
                  launch.outputs.size());
    for (const SentOutput& output : launch.outputs) outputs.push_back(&output);
  }
  return check_files(outputs, files);
}

Status Prove::check(const Answer& answer) const {
  if (answer.launches.size() == instances.size()) return {};
  return fail(ErrorCode::invalid_input, "launches on {} instances of {}", answer.launches.size(),
              instances.size());
}

template <class A, archive::Is<Rotate> T>
void describe(A& archive, T& rotate) {
  archive("condition", rotate.condition);
  archive("key", rotate.key);
  archive("users", rotate.users);
  archive("as_needed", rotate.as_needed);
}

template <class A, archive::Is<Rotate::Answer> T>
void describe(A& archive, T& answer) {
  archive("sets", answer.sets, archive::Range{0, 1 << 30});
  archive("cold_doubt", answer.cold_doubt, kSentence);
}

template <class A, archive::Is<Open> T>
void describe(A& archive, T& open) {
  archive("kernel", open.kernel);
}

template <class A, archive::Is<Open::Answer> T>
void describe(A& archive, T& answer) {
  archive("handle", answer.handle, kHandle);
  archive("left_processes", answer.left_processes);
  archive("armed", answer.armed, kSentence);
  archive("workspace_bytes", answer.workspace_bytes);
  archive("prepared_bytes", answer.prepared_bytes);
  archive("prepare_seconds", answer.prepare_seconds, archive::kNotNegative);
  archive("outputs", answer.outputs, kList);
  archive("launches", answer.launches, archive::at_most(4096));
  archive("object", answer.object);
}

template <class A, archive::Is<FindConstants> T>
void describe(A&, T&) {}

template <class A, archive::Is<FindConstants::Answer::Part> T>
void describe(A& archive, T& part) {
  archive("address", part.address);
  archive("bytes", part.bytes);
}

template <class A, archive::Is<FindConstants::Answer> T>
void describe(A& archive, T& answer) {
  archive("parts", answer.parts, archive::at_most(4096));
}

// So many can be looked at around each burst.
Status FindConstants::Answer::check() const {
  constexpr uint64_t kMostBytes = uint64_t{1} << 22;
  uint64_t all = 0;
  for (const Part& part : parts) {
    if (part.bytes > kMostBytes || part.address > UINT64_MAX - part.bytes)
      return fail(ErrorCode::invalid_input, "{} bytes of constants", part.bytes);
    all += part.bytes;
  }
  if (all <= kMostBytes) return {};
  return fail(ErrorCode::invalid_input, "{} bytes of constants", all);
}

template <class A, archive::Is<Round::Burst> T>
void describe(A& archive, T& burst) {
  archive("handle", burst.handle, archive::Range{kBareLinks, kHandle.max});
  archive("launches", burst.launches, kLaunches);
}

Json write_value(const Round::Burst& burst, RecordTag) { return write_row(burst); }
Status read_value(const JsonField& field, Round::Burst& burst) { return read_row(field, burst); }

template <class A, archive::Is<Round> T>
void describe(A& archive, T& round) {
  archive("bursts", round.bursts, kList);
  archive("seed", round.seed);
  archive("approach_ns", round.approach_ns, kDuration);
}

template <class A, archive::Is<Round::Answer::Timed> T>
void describe(A& archive, T& timed) {
  archive("ns", timed.ns, kTimed);
  archive("clean", timed.clean);
  archive("waited_ns", timed.waited_ns, kDuration);
  archive("launches", timed.launches, kLaunches);
  archive("taken_ns", timed.taken_ns, kDuration);
  archive("others_ahead_ns", timed.others_ahead_ns, kDuration);
  archive("others_since_ns", timed.others_since_ns, kDuration);
  archive("approach_ns", timed.approach_ns, kDuration);
}

Json write_value(const Round::Answer::Timed& timed, RecordTag) { return write_row(timed); }
Status read_value(const JsonField& field, Round::Answer::Timed& timed) {
  return read_row(field, timed);
}

namespace {

using End = Round::Answer::End;
constexpr std::pair<End, std::string_view> kEnds[] = {{End::launch_failed, "launch_failed"},
                                                      {End::late_work, "late_work"},
                                                      {End::left_processes, "left_processes"}};

}  // namespace

std::string_view to_string(End end) { return kEnds[static_cast<size_t>(end)].second; }

Status read_value(const JsonField& field, End& end) {
  ASSAY_TRY(const std::string text, field.as_string());
  for (const auto& [known, name] : kEnds) {
    if (name != text) continue;
    end = known;
    return {};
  }
  return fail(field.error(ErrorCode::invalid_input, "no round ends so"));
}

template <class A, archive::Is<Round::Answer::Ended> T>
void describe(A& archive, T& ended) {
  archive("how", ended.how);
  archive("handle", ended.handle, archive::Range{kBareLinks, kHandle.max});
  archive("why", ended.why, kSentence);
}

template <class A, archive::Is<Round::Answer> T>
void describe(A& archive, T& answer) {
  archive("bursts", answer.bursts, kList);
  archive("ended", answer.ended);
  archive("armed", answer.armed, kSentence);
}

Status Round::check(const Answer& answer) const {
  if (answer.bursts.size() > bursts.size() ||
      (answer.bursts.size() < bursts.size() && !answer.ended))
    return fail(ErrorCode::invalid_input, "{} bursts of {}", answer.bursts.size(), bursts.size());
  for (size_t i = 0; i < answer.bursts.size(); ++i)
    if (answer.bursts[i].launches > bursts[i].launches)
      return fail(ErrorCode::invalid_input, "a burst of {} launches, where {} were asked for",
                  answer.bursts[i].launches, bursts[i].launches);
  return {};
}

template <class A, archive::Is<RunBlock> T>
void describe(A& archive, T& block) {
  archive("handle", block.handle, kHandle);
  archive("seconds", block.seconds, archive::kNotNegative);
}

template <class A, archive::Is<RunBlock::Answer> T>
void describe(A& archive, T& answer) {
  archive("ns", answer.ns, kTimed);
  archive("launches", answer.launches, kLaunches);
}

template <class A, archive::Is<Collect> T>
void describe(A& archive, T& collect) {
  archive("handle", collect.handle, kHandle);
  archive("choice", collect.choice);
  archive("share", collect.share);
}

template <class A, archive::Is<Collect::Answer> T>
void describe(A& archive, T& answer) {
  archive("set", answer.set, archive::Range{0, 1 << 30});
  archive("launch", answer.launch);
  archive("output", answer.output);
}

Status Collect::Answer::check() const { return check_files({&output}, files); }

template <class A, archive::Is<FindTrespasses> T>
void describe(A& archive, T& find) {
  archive("handle", find.handle, kHandle);
}

template <class A, archive::Is<FindTrespasses::Answer> T>
void describe(A& archive, T& answer) {
  archive("trespass", answer.trespass, kSentence);
  archive("beside_inputs", answer.beside_inputs, kSentence);
}

template <class A, archive::Is<Count> T>
void describe(A& archive, T& count) {
  archive("handle", count.handle, kHandle);
  archive("launches", count.launches, kLaunches);
  archive("seed", count.seed);
}

template <class A, archive::Is<Count::Answer> T>
void describe(A& archive, T& answer) {
  archive("launches", answer.launches, archive::Range{1, 1e6});
  archive("clock_hz", answer.clock_hz, archive::Range{0, 1e18});
  archive("events", answer.events, archive::at_most(4096));
}

template <class A, archive::Is<ProfileLaunches> T>
void describe(A& archive, T& profile) {
  archive("handle", profile.handle, kHandle);
  archive("launches", profile.launches, kLaunches);
}

template <class A, archive::Is<LookAtInputs> T>
void describe(A&, T&) {}

template <class A, archive::Is<LookAtInputs::Answer> T>
void describe(A& archive, T& answer) {
  archive("intact", answer.intact);
  archive("trespass", answer.trespass, kSentence);
}

template <class A, archive::Is<Close> T>
void describe(A& archive, T& close) {
  archive("handles", close.handles, kHandle);
}

template <class A, archive::Is<Unload> T>
void describe(A&, T&) {}

template <class A, archive::Is<Unload::Answer> T>
void describe(A& archive, T& answer) {
  archive("code", answer.code, kList);
}

Json write_value(const ProfileScript& script, RecordTag) {
  return {{"init", Codec<Init>::write(script.init)},
          {"sources", script.sources},
          {"problem", write_value(script.problem, RecordTag{})},
          {"rotate", Codec<Rotate>::write(script.rotate)},
          {"open", Codec<Open>::write(script.open)},
          {"launches", script.launches}};
}

Status read_value(const JsonField& field, ProfileScript& script) {
  ASSAY_TRY(field.only_keys({"init", "sources", "problem", "rotate", "open", "launches"}));
  const auto take = [&](const char* key, auto& message) -> Status {
    ASSAY_TRY(const JsonField told, field.at(key));
    ASSAY_TRY(message, Codec<std::remove_cvref_t<decltype(message)>>::read(told.json()));
    return {};
  };
  ASSAY_TRY(take("init", script.init));
  ASSAY_TRY(take("rotate", script.rotate));
  ASSAY_TRY(take("open", script.open));
  ASSAY_TRY(const JsonField sources, field.at("sources"));
  ASSAY_TRY(script.sources, sources.as_string());
  ASSAY_TRY(const JsonField problem, field.at("problem"));
  ASSAY_TRY(read_value(problem, script.problem));
  ASSAY_TRY(const JsonField launches, field.at("launches"));
  ASSAY_TRY(const int64_t wanted, launches.as_int64(1, 1 << 20));
  script.launches = static_cast<int>(wanted);
  return {};
}

ASSAY_MESSAGE(ProfileScript);
ASSAY_MESSAGE(Load);
ASSAY_MESSAGE(ShareWord);
ASSAY_MESSAGE(ShareWord::Answer);
ASSAY_MESSAGE(Prove);
ASSAY_MESSAGE(Prove::Answer);
ASSAY_MESSAGE(Rotate);
ASSAY_MESSAGE(Rotate::Answer);
ASSAY_MESSAGE(Open);
ASSAY_MESSAGE(Open::Answer);
ASSAY_MESSAGE(FindConstants);
ASSAY_MESSAGE(FindConstants::Answer);
ASSAY_MESSAGE(Round);
ASSAY_MESSAGE(Round::Answer);
ASSAY_MESSAGE(RunBlock);
ASSAY_MESSAGE(RunBlock::Answer);
ASSAY_MESSAGE(Collect);
ASSAY_MESSAGE(Collect::Answer);
ASSAY_MESSAGE(FindTrespasses);
ASSAY_MESSAGE(FindTrespasses::Answer);
ASSAY_MESSAGE(Count);
ASSAY_MESSAGE(Count::Answer);
ASSAY_MESSAGE(ProfileLaunches);
ASSAY_MESSAGE(LookAtInputs);
ASSAY_MESSAGE(LookAtInputs::Answer);
ASSAY_MESSAGE(Close);
ASSAY_MESSAGE(Unload);
ASSAY_MESSAGE(Unload::Answer);

}  // namespace assay::process
