#include "assay/process/messages/referee.h"

#include "assay/process/messages/describe.h"

namespace assay {

inline Status read_value(const JsonField& field, InputKind& kind) {
  ASSAY_TRY(const std::string text, field.as_string());
  const auto found = find_input_kind(text);
  if (!found) return fail(field.error(ErrorCode::invalid_input, "no kind of input is called so"));
  kind = *found;
  return {};
}

template <class A, archive::Is<MeanSquare> T>
void describe(A& archive, T& mean) {
  archive("elements", mean.elements, archive::kNotNegative);
  process::describe_or_infinite(archive, "sum", mean.sum);
}

// Without `untouched`, which the referee never looks for.
template <class A, archive::Is<Check> T>
void describe(A& archive, T& check) {
  archive("right", check.right);
  archive("method", check.method, process::kSentence);
  archive("elements", check.elements, archive::kNotNegative);
  archive("compared", check.compared, archive::kNotNegative);
  archive("wrong", check.wrong, archive::kNotNegative);
  process::describe_or_infinite(archive, "max_error", check.max_error);
  process::describe_or_infinite(archive, "mean_error", check.mean_error);
  archive("ordinary_lines", check.ordinary_lines);
  archive("wide_lines", check.wide_lines);
  archive("smallest_visible", check.smallest_visible, archive::kNotNegative);
  archive("first_wrong", check.first_wrong, process::kSentence);
  archive("operand", check.operand);
  archive("within_normwise", check.within_normwise);
}

}  // namespace assay

namespace assay::process {

template <class A, archive::Is<OpenGpu> T>
void describe(A& archive, T& open) {
  archive("device", open.device);
  archive("cuda_driver", open.cuda_driver);
}

template <class A, archive::Is<ViewWord> T>
void describe(A& archive, T& view) {
  archive("memory", view.memory);
  archive("word", view.word);
}

template <class A, archive::Is<Commit> T>
void describe(A&, T&) {}

template <class A, archive::Is<Commit::Answer> T>
void describe(A& archive, T& answer) {
  archive("seed", answer.seed);
  archive("commitment", answer.commitment, kName);
}

template <class A, archive::Is<ChooseKinds> T>
void describe(A& archive, T& choose) {
  archive("problem", choose.problem);
  archive("bound", choose.bound);
}

template <class A, archive::Is<ChooseKinds::Answer> T>
void describe(A& archive, T& answer) {
  archive("kinds", answer.kinds, archive::at_most(4096));
}

template <class A, archive::Is<MadeInstances::Made> T>
void describe(A& archive, T& made) {
  archive("id", made.id, archive::kNotNegative);
  archive("sets_key", made.sets_key);
  archive("inputs", made.inputs, archive::Range{0, double{kMaxMessageFds}});
}

template <class A, archive::Is<MadeInstances> T>
void describe(A& archive, T& answer) {
  archive("instances", answer.instances, archive::at_most(4096));
}

Status MadeInstances::check() const {
  uint64_t inputs = 0;
  for (const Made& made : instances) inputs += made.inputs;
  if (inputs == files.size()) return {};
  return fail(ErrorCode::invalid_input, "{} inputs, and {} files", inputs, files.size());
}

template <class A, archive::Is<MakeInstances> T>
void describe(A& archive, T& make) {
  archive("problem", make.problem);
  archive("kinds", make.kinds);
  archive("seed", make.seed);
}

Status MakeInstances::check(const Answer& answer) const {
  if (answer.instances.size() == kinds.size()) return {};
  return fail(ErrorCode::invalid_input, "not every kind of input was made");
}

template <class A, archive::Is<Derive::Wanted> T>
void describe(A& archive, T& wanted) {
  archive("instance", wanted.instance, archive::kNotNegative);
  archive("seed", wanted.seed);
}

template <class A, archive::Is<Derive> T>
void describe(A& archive, T& derive) {
  archive("wanted", derive.wanted);
}

Status Derive::check(const Answer& answer) const {
  if (answer.instances.size() == wanted.size()) return {};
  return fail(ErrorCode::invalid_input, "not every instance was derived");
}

template <class A, archive::Is<PrepareChecks> T>
void describe(A& archive, T& prepare) {
  archive("instances", prepare.instances, archive::kNotNegative);
}

template <class A, archive::Is<CheckOutput::Timed> T>
void describe(A& archive, T& timed) {
  archive("set", timed.set);
  archive("launch", timed.launch);
}

template <class A, archive::Is<CheckOutput> T>
void describe(A& archive, T& check) {
  archive("instance", check.instance, archive::kNotNegative);
  archive("bound", check.bound);
  archive("timed", check.timed);
  archive("output", check.output);
}

Status CheckOutput::check() const { return check_files({&output}, files); }

template <class A, archive::Is<CheckOutput::Answer> T>
void describe(A& archive, T& answer) {
  archive("check", answer.check);
}

template <class A, archive::Is<Reveal> T>
void describe(A& archive, T& reveal) {
  archive("seed", reveal.seed);
}

template <class A, archive::Is<Reveal::Answer> T>
void describe(A& archive, T& answer) {
  archive("seed", answer.seed, kName);
}

template <class A, archive::Is<Drop> T>
void describe(A& archive, T& drop) {
  archive("instance", drop.instance, archive::kNotNegative);
}

ASSAY_MESSAGE(OpenGpu);
ASSAY_MESSAGE(ViewWord);
ASSAY_MESSAGE(Commit);
ASSAY_MESSAGE(Commit::Answer);
ASSAY_MESSAGE(ChooseKinds);
ASSAY_MESSAGE(ChooseKinds::Answer);
ASSAY_MESSAGE(MadeInstances);
ASSAY_MESSAGE(MakeInstances);
ASSAY_MESSAGE(Derive);
ASSAY_MESSAGE(PrepareChecks);
ASSAY_MESSAGE(CheckOutput);
ASSAY_MESSAGE(CheckOutput::Answer);
ASSAY_MESSAGE(Reveal);
ASSAY_MESSAGE(Reveal::Answer);
ASSAY_MESSAGE(Drop);

}  // namespace assay::process
