#pragma once

// The fields of samples, verdicts and conclusions. Private to record/.

#include <cmath>
#include <set>

#include "assay/base/archive.h"
#include "assay/base/archive_schema.h"
#include "assay/base/text.h"
#include "assay/record/confirm.h"
#include "assay/record/describe_outcome.h"

namespace assay {

// Values of spoiled rounds alone, in their order, as one entry per round.
inline Result<std::vector<std::int64_t>> by_round(const JsonField& field,
                                                  const std::vector<std::int64_t>& values,
                                                  const std::vector<std::int64_t>& spoiled,
                                                  std::size_t rounds) {
  std::vector<std::int64_t> all;
  if (values.empty()) return all;
  if (values.size() != spoiled.size())
    return fail(field.error(ErrorCode::invalid_input,
                            fmt::format("processor times of {} spoiled rounds, where {} are",
                                        values.size(), spoiled.size())));
  all.assign(rounds, 0);
  for (std::size_t i = 0; i < spoiled.size(); ++i)
    all[static_cast<std::size_t>(spoiled[i])] = values[i];
  return all;
}

// `spoiled` lists the rounds that are not clean: most are, and a list of ones helps nobody.
inline Json write_value(const KernelSamples& samples, RecordTag) {
  Json spoiled = Json::array();
  for (std::size_t i = 0; i < samples.clean.size(); ++i) {
    if (samples.clean[i] == 0) spoiled.push_back(i);
  }
  const auto of_spoiled = [&](const std::vector<std::int64_t>& values) {
    Json list = Json::array();
    for (std::size_t i = 0; i < std::min(values.size(), samples.clean.size()); ++i)
      if (samples.clean[i] == 0) list.push_back(values[i]);
    return list;
  };
  Json json = {{"id", samples.id},
               {"launches", samples.launches},
               {"burst_ns", samples.burst_ns},
               {"spoiled", std::move(spoiled)}};
  // Absent where there is none: what is written of other samples, and its hash, stay as they were.
  if (!samples.outside_ns.empty()) json["outside_ns"] = samples.outside_ns;
  if (!samples.beside_ns.empty()) json["beside_ns"] = samples.beside_ns;
  if (!samples.ran_least_ns.empty()) {
    json["spoiled_ran_least_ns"] = of_spoiled(samples.ran_least_ns);
    json["spoiled_ran_most_ns"] = of_spoiled(samples.ran_most_ns);
  }
  if (samples.process != 0) json["process"] = samples.process;
  return json;
}

// As they are stored, of spoiled rounds alone.
struct SpoiledRounds {
  std::vector<std::int64_t> rounds, ran_least_ns, ran_most_ns;
};

template <class A>
void read_fields(A& a, KernelSamples& samples, SpoiledRounds& spoiled) {
  a.required("id", samples.id);
  a.required("launches", samples.launches, archive::kPositive);
  a.required("burst_ns", samples.burst_ns, archive::kNotNegative);
  a.required("spoiled", spoiled.rounds, archive::kNotNegative);
  a("outside_ns", samples.outside_ns, archive::kNotNegative);
  a("beside_ns", samples.beside_ns, archive::kNotNegative);
  a("spoiled_ran_least_ns", spoiled.ran_least_ns, archive::kNotNegative);
  a("spoiled_ran_most_ns", spoiled.ran_most_ns, archive::kNotNegative);
  a("process", samples.process, archive::kNotNegative);
}

inline Json schema_value(SchemaOf<KernelSamples>, SchemaTypes& types) {
  SchemaWriter writer(types);
  KernelSamples samples;
  SpoiledRounds spoiled;
  read_fields(writer, samples, spoiled);
  return writer.take();
}

inline Status read_value(const JsonField& field, KernelSamples& samples) {
  SpoiledRounds stored;
  RecordReader reader(field);
  read_fields(reader, samples, stored);
  ASSAY_TRY(reader.status());
  const auto& [spoiled, least, most] = stored;
  for (const auto& [name, bursts] :
       {std::pair("outside_ns", &samples.outside_ns), std::pair("beside_ns", &samples.beside_ns)})
    if (!bursts->empty() && bursts->size() != samples.burst_ns.size())
      return fail(field.error(ErrorCode::invalid_input,
                              fmt::format("{} has {} bursts, burst_ns has {}", name, bursts->size(),
                                          samples.burst_ns.size())));
  samples.clean.assign(samples.burst_ns.size(), 1);
  for (const std::int64_t round : spoiled) {
    if (round >= std::ssize(samples.clean)) {
      return fail(field.error(ErrorCode::invalid_input,
                              fmt::format("spoiled names round {} of {}; rounds count from 0",
                                          round, samples.clean.size())));
    }
    samples.clean[static_cast<std::size_t>(round)] = 0;
  }
  ASSAY_TRY(samples.ran_least_ns, by_round(field, least, spoiled, samples.clean.size()));
  ASSAY_TRY(samples.ran_most_ns, by_round(field, most, spoiled, samples.clean.size()));
  if (samples.ran_least_ns.size() != samples.ran_most_ns.size())
    return fail(field.error(ErrorCode::invalid_input,
                            "spoiled_ran_least_ns and spoiled_ran_most_ns go together"));
  return {};
}

template <class A, archive::Is<ProcessSamples> T>
void describe(A& a, T& samples) {
  a("seed_commitment", samples.seed_commitment);
  a("seed", samples.seed);
  a("placements", samples.placements, archive::kNotNegative);
  a.required("placement", samples.placement, archive::kNotNegative);
  a("order", samples.order, archive::kNotNegative);
  a.required("kernels", samples.kernels);
  // Absent where there is none: what is written of other samples, and its hash, stay as they were.
  if constexpr (std::is_const_v<T>) {
    if (samples.bare_links) a("bare_links", samples.bare_links);
    if (!samples.alone.empty()) a("alone", samples.alone);
  } else {
    a("bare_links", samples.bare_links);
    a("alone", samples.alone);
  }
}

inline Status check_process(const JsonField& field, const ProcessSamples& samples) {
  const auto bad = [&](std::string sentence) {
    return fail(field.error(ErrorCode::invalid_input, sentence));
  };
  if (samples.bare_links && samples.bare_links->burst_ns.size() != samples.rounds())
    return bad(fmt::format("bare_links has {} bursts, placement has {} rounds",
                           samples.bare_links->burst_ns.size(), samples.rounds()));
  std::set<std::string_view> ids;
  for (const KernelSamples& kernel : samples.kernels) {
    if (!ids.insert(kernel.id).second) {
      return bad(fmt::format("kernel {} is there twice", sanitize(kernel.id, 80)));
    }
    if (kernel.burst_ns.size() != samples.rounds()) {
      return bad(
          fmt::format("kernel {} has {} bursts, placement has {} rounds; both are one "
                      "entry per round",
                      sanitize(kernel.id, 80), kernel.burst_ns.size(), samples.rounds()));
    }
  }
  for (const int placement : samples.placement) {
    if (samples.placements > 0 && placement >= samples.placements) {
      return bad(
          fmt::format("placement {} of {}; they count from 0", placement, samples.placements));
    }
  }
  if (!samples.order.empty() && samples.order.size() != samples.rounds()) {
    return bad(
        fmt::format("order has {} entries for {} rounds", samples.order.size(), samples.rounds()));
  }
  for (const std::vector<int>& order : samples.order) {
    for (const int index : order) {
      if (index >= std::ssize(samples.kernels)) {
        return bad(fmt::format("order names kernel {} of {}; they count from 0", index,
                               samples.kernels.size()));
      }
    }
  }
  return {};
}

inline Status read_value(const JsonField& field, ProcessSamples& samples) {
  RecordReader reader(field);
  describe(reader, samples);
  ASSAY_TRY(reader.status());
  return check_process(field, samples);
}

// An interval that reaches to infinity is written as null: JSON has no infinity.
inline Json write_value(const stats::Verdict& verdict, RecordTag) {
  const auto finite = [](double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
  };
  return {{"word", std::string(stats::to_string(verdict.word))},
          {"ratio", finite(verdict.ratio)},
          {"low", finite(verdict.low)},
          {"high", finite(verdict.high)},
          {"margin", finite(verdict.margin)},
          {"systematic", finite(verdict.systematic)},
          {"smallest_detectable", finite(verdict.smallest_detectable)},
          {"processes", verdict.processes},
          {"reason", verdict.reason}};
}

// Those beside its word.
template <class A>
void read_fields(A& a, stats::Verdict& verdict) {
  a("ratio", verdict.ratio, archive::kNotNegative);
  a("low", verdict.low, archive::kNotNegative);
  a("high", verdict.high, archive::kNotNegative);
  a("margin", verdict.margin, archive::kNotNegative);
  a("systematic", verdict.systematic, archive::kNotNegative);
  a("smallest_detectable", verdict.smallest_detectable, archive::kNotNegative);
  a("processes", verdict.processes, archive::kNotNegative);
  a("reason", verdict.reason);
}

// Of a verdict, and of one that also names its two kernels.
inline Json verdict_schema(SchemaWriter& writer) {
  stats::Verdict verdict;
  read_fields(writer, verdict);
  Json schema = writer.take();
  schema["properties"]["word"] = enum_schema<stats::Word>(stats::parse_word);
  schema["required"].push_back("word");
  return schema;
}

inline Json schema_value(SchemaOf<stats::Verdict>, SchemaTypes& types) {
  SchemaWriter writer(types);
  return verdict_schema(writer);
}

inline Status read_value(const JsonField& field, stats::Verdict& verdict) {
  ASSAY_TRY(const JsonField word_field, field.at("word"));
  ASSAY_TRY(const std::string text, word_field.as_string());
  const Result<stats::Word> word = stats::parse_word(text);
  if (!word) return fail(in_field(word_field, word.error()));
  verdict.word = *word;
  verdict.high = std::numeric_limits<double>::infinity();
  verdict.smallest_detectable = std::numeric_limits<double>::infinity();
  RecordReader reader(field);
  read_fields(reader, verdict);
  ASSAY_TRY(reader.status());
  if (verdict.low > verdict.high) {
    return fail(field.error(ErrorCode::invalid_input,
                            fmt::format("low {} lies above high {}", verdict.low, verdict.high)));
  }
  return {};
}

inline Json write_value(const PairVerdict& pair, RecordTag) {
  Json json = write_value(pair.verdict, RecordTag{});
  json["candidate"] = pair.candidate;
  json["other"] = pair.other;
  return json;
}

template <class A>
void read_names(A& a, PairVerdict& pair) {
  a.required("candidate", pair.candidate);
  a.required("other", pair.other);
}

inline Json schema_value(SchemaOf<PairVerdict>, SchemaTypes& types) {
  SchemaWriter writer(types);
  PairVerdict pair;
  read_names(writer, pair);
  return verdict_schema(writer);
}

inline Status read_value(const JsonField& field, PairVerdict& pair) {
  RecordReader reader(field);
  read_names(reader, pair);
  ASSAY_TRY(reader.status());
  return read_value(field, pair.verdict);
}

template <class A, archive::Is<Conclusion::Time> T>
void describe(A& a, T& time) {
  a.required("id", time.id);
  a.required("median_us", time.median_us, archive::kNotNegative);
  // Absent where it is not so: earlier records stay as they were.
  if constexpr (std::is_const_v<T>) {
    if (time.is_disturbed) a("is_disturbed", time.is_disturbed);
  } else {
    a("is_disturbed", time.is_disturbed);
  }
}

template <class A, archive::Is<Conclusion> T>
void describe(A& a, T& conclusion) {
  a("against_leader", conclusion.against_leader);
  a("against_stock", conclusion.against_stock);
  a("winner", conclusion.winner);
  a("tied", conclusion.tied);
  a("unclear", conclusion.unclear);
  a("ahead", conclusion.ahead);
  a("headline", conclusion.headline);
  a("times", conclusion.times);
  a("evidence_hash", conclusion.evidence_hash);
  if constexpr (std::is_const_v<T>) {
    if (!conclusion.samples_hash.empty()) a("samples_hash", conclusion.samples_hash);
  } else {
    a("samples_hash", conclusion.samples_hash);
  }
}

template <class A, archive::Is<Confirmation> T>
void describe(A& a, T& confirmation) {
  a.required("finalists", confirmation.finalists);
  a.required("leader", confirmation.leader);
  a.required("candidate", confirmation.candidate);
  a("baseline", confirmation.baseline);
  a("rounds", confirmation.rounds, archive::kNotNegative);
  a("wanted_rounds", confirmation.wanted_rounds, archive::kNotNegative);
  a("earlier", confirmation.earlier, archive::kNotNegative);
  a.required("processes", confirmation.processes);
  a.required("conclusion", confirmation.conclusion);
}

}  // namespace assay
