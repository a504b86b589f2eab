#include "assay/process/messages/begin.h"

#include "assay/process/messages/describe.h"
#include "assay/process/messages/describe_code.h"
#include "assay/record/describe_gpu_window.h"

namespace assay {

inline Status read_value(const JsonField& field, ProviderRole& role) {
  ASSAY_TRY(const std::string text, field.as_string());
  const auto parsed = parse_provider_role(text);
  if (!parsed) return fail(in_field(field, parsed.error()));
  role = *parsed;
  return {};
}

template <class A, archive::Is<Availability> T>
void describe(A& archive, T& availability) {
  archive("available", availability.available);
  archive("reason", availability.reason, process::kSentence);
  archive("version", availability.version, process::kSentence);
  archive("path", availability.path, process::kSentence);
  archive("details", availability.details);
  archive("remark", availability.remark, process::kSentence);
}

template <class A, archive::Is<Fingerprint> T>
void describe(A& archive, T& fingerprint) {
  archive("kind", fingerprint.kind, process::kName);
  archive("name", fingerprint.name, process::kName);
  archive("id", fingerprint.id, process::kName);
  archive("details", fingerprint.details);
}

template <class A, archive::Is<GuestProgram> T>
void describe(A& archive, T& program) {
  archive("argv", program.argv, process::kList);
  archive("input", program.input);
  archive("timeout", program.timeout_seconds, archive::kNotNegative);
  archive("memory", program.memory_bytes, archive::kNotNegative);
  archive("most_output", program.most_output);
}

}  // namespace assay

namespace assay::measure {

template <class A, archive::Is<TimerFacts> T>
void describe(A& archive, T& facts) {
  archive("tick_ns", facts.tick_ns, archive::kNotNegative);
  archive("read_ns", facts.read_ns, archive::kNotNegative);
  archive("empty_burst_ns", facts.empty_burst_ns, archive::kNotNegative);
}

// Without the load beside it, which the parent sees.
template <class A, archive::Is<Reading> T>
void describe(A& archive, T& reading) {
  archive("name", reading.ceiling.name, process::kName);
  archive("value", reading.ceiling.value, archive::kNotNegative);
  archive("largest", reading.largest, archive::kNotNegative);
  archive("unit", reading.ceiling.unit, process::kName);
  archive("threads", reading.ceiling.threads, archive::kNotNegative);
  archive("from", reading.ceiling.from, process::kName);
  archive("until", reading.ceiling.until, process::kName);
}

}  // namespace assay::measure

namespace assay {

// Its fields are those of whatever it is a part of.
template <class A, archive::Is<Venue> T>
void describe(A& archive, T& venue) {
  archive("device", venue.gpu);
  archive("cuda_driver", venue.cuda_driver);
  archive("threads", venue.threads, archive::kNotNegative);
}

}  // namespace assay

namespace assay::process {

template <class A, archive::Is<AskedProvider> T>
void describe(A& archive, T& provider) {
  archive("name", provider.name);
  archive("as", provider.as);
  archive("settings", provider.settings);
}

template <class A, archive::Is<Init> T>
void describe(A& archive, T& init) {
  describe(archive, init.venue);
  archive("pin", init.pin);
  archive("kept_share", init.kept_share, archive::Range{0, 1});
  archive("confine", init.confine);
  archive("pulses", init.pulses);
  archive("counts", init.counts);
  archive("watch", init.watch);
  archive("parent", init.parent);
  archive("providers", init.providers);
  archive("kernels", init.kernels);
  archive("cache", init.cache);
  archive("folder", init.folder);
  archive("cxx", init.cxx);
  archive("compile_timeout", init.compile_timeout_seconds, archive::kNotNegative);
  archive("compile_memory", init.compile_memory_bytes, archive::kNotNegative);
  archive("code", init.code);
}

Status Init::check() const {
  if (files.size() <= 1) return {};
  return fail(ErrorCode::invalid_input, "{} files of what users brought", files.size());
}

template <class A, archive::Is<Confinement> T>
void describe(A& archive, T& confinement) {
  archive("wanted", confinement.wanted);
  archive("other_user", confinement.other_user);
  archive("own_namespaces", confinement.own_namespaces);
  archive("shared", confinement.shared, kSentence);
  archive("gaps", confinement.gaps, kSentence);
  archive("native_guests", confinement.native_guests);
}

template <class A, archive::Is<Init::Answer::Offered> T>
void describe(A& archive, T& offered) {
  archive("name", offered.name, kName);
  archive("role", offered.role);
  archive("availability", offered.availability);
}

template <class A, archive::Is<Init::Answer::Waiting> T>
void describe(A& archive, T& waiting) {
  archive("file", waiting.file);
  archive("provider", waiting.provider, kName);
  archive("family", waiting.family, kName);
}

template <class A, archive::Is<Init::Answer> T>
void describe(A& archive, T& answer) {
  archive("fingerprint", answer.fingerprint);
  archive("target", answer.target, kName);
  archive("threads", answer.threads, archive::Range{1, 1 << 20});
  archive("last_level_cache_bytes", answer.last_level_cache_bytes, archive::kNotNegative);
  archive("memory_bytes", answer.memory_bytes, archive::kNotNegative);
  archive("providers", answer.providers, kList);
  archive("waiting", answer.waiting, kList);
  archive("confinement", answer.confinement);
}

template <class A, archive::Is<Bring> T>
void describe(A& archive, T& bring) {
  archive("file", bring.file);
}

template <class A, archive::Is<Guest> T>
void describe(A& archive, T& guest) {
  archive("program", guest.program);
}

template <class A, archive::Is<Guest::Answer> T>
void describe(A& archive, T& answer) {
  archive("code", answer.code);
  archive("signal", answer.signal, archive::kNotNegative);
  archive("timed_out", answer.timed_out);
  archive("truncated", answer.truncated);
  archive("out", answer.out);
  archive("err", answer.err);
}

template <class A, archive::Is<Manners> T>
void describe(A&, T&) {}

template <class A, archive::Is<Manners::Answer> T>
void describe(A& archive, T& answer) {
  archive("faults", answer.faults, kSentence);
}

template <class A, archive::Is<Conform> T>
void describe(A& archive, T& conform) {
  archive("check", conform.check_name, kName);
  archive("problem", conform.problem);
}

template <class A, archive::Is<Conform::Answer> T>
void describe(A& archive, T& answer) {
  archive("faults", answer.faults, kSentence);
  archive("looked_at", answer.looked_at, archive::Range{0, 0x1p40});
  archive("ran", answer.ran, kList);
  archive("refusals", answer.refusals);
}

template <class A, archive::Is<MeasureTimer> T>
void describe(A&, T&) {}

template <class A, archive::Is<MeasureTimer::Answer> T>
void describe(A& archive, T& answer) {
  archive("facts", answer.facts);
}

template <class A, archive::Is<MeasureCeilings> T>
void describe(A&, T&) {}

template <class A, archive::Is<MeasureCeilings::Answer> T>
void describe(A& archive, T& answer) {
  archive("readings", answer.readings, archive::Range{.min = 0, .most = 4096});
}

template <class A, archive::Is<ReadGpuWindow> T>
void describe(A&, T&) {}

template <class A, archive::Is<ReadGpuWindow::Answer> T>
void describe(A& archive, T& answer) {
  archive("window", answer.window);
}

ASSAY_MESSAGE(Done);
ASSAY_MESSAGE(Init);
ASSAY_MESSAGE(Init::Answer);
ASSAY_MESSAGE(Bring);
ASSAY_MESSAGE(Guest);
ASSAY_MESSAGE(Guest::Answer);
ASSAY_MESSAGE(Manners);
ASSAY_MESSAGE(Manners::Answer);
ASSAY_MESSAGE(Conform);
ASSAY_MESSAGE(Conform::Answer);
ASSAY_MESSAGE(MeasureTimer);
ASSAY_MESSAGE(MeasureTimer::Answer);
ASSAY_MESSAGE(MeasureCeilings);
ASSAY_MESSAGE(MeasureCeilings::Answer);
ASSAY_MESSAGE(ReadGpuWindow);
ASSAY_MESSAGE(ReadGpuWindow::Answer);

}  // namespace assay::process
