#include "assay/compare/recompute.h"

#include <algorithm>
#include <functional>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "assay/record/testing/sample_record.h"
#include "testing/assay_program.h"

namespace assay {
namespace {

using stats::Word;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RecomputeTest, ARecordWithoutProblemsHoldsNothing) {
  RunRecord record = testing::make_record({});
  EXPECT_THAT(recompute(record), Contains(Field(&Difference::what, "problems")));
}

TEST(RecomputeTest, ARecordSaysWhatItsSamplesSay) {
  EXPECT_THAT(recompute(testing::make_record()), IsEmpty());
}

TEST(RecomputeTest, AfterARoundTripToo) {
  const auto document = parse_json_document(record_text(testing::make_record()), "record.json");
  const auto record = read_record(*document);
  ASSERT_TRUE(record.has_value());
  EXPECT_THAT(recompute(*record), IsEmpty());
}

TEST(RecomputeTest, EveryEditedWordIsFound) {
  const auto sentences = [](const RunRecord& record) {
    std::string all;
    for (const Difference& difference : recompute(record)) all += difference.sentence() + "\n";
    return all;
  };
  RunRecord record = testing::make_record();
  record.problems[1].confirmations[0].conclusion.headline->verdict.word = Word::faster;
  EXPECT_THAT(sentences(record), HasSubstr("m4_up: headline"));
  record = testing::make_record();
  record.problems[2].confirmations[0].conclusion.winner = testing::id_of("mine", "skinny");
  EXPECT_THAT(sentences(record), HasSubstr("m64_down: winner: the record says 'mine/skinny'"));
  record = testing::make_record();
  record.problems[0].confirmations[0].conclusion.against_stock.pop_back();
  EXPECT_THAT(sentences(record), HasSubstr("the record says 'nothing'"));
  record = testing::make_record();
  record.problems[0].confirmations[0].processes[2].seed[0] = 'f';
  EXPECT_THAT(sentences(record), HasSubstr("seed of process 3"));
  record = testing::make_record();
  record.options.margin = 0.2;  // Under another margin "faster" was not earned.
  EXPECT_THAT(sentences(record), HasSubstr("'faster"));
  record = testing::make_record();
  record.problems[0].confirmations[0].conclusion.times[0].median_us = 1;
  EXPECT_THAT(sentences(record), HasSubstr("time of"));
  record = testing::make_record();
  KernelOutcome& winner =
      *std::ranges::find(record.problems[0].kernels,
                         record.problems[0].confirmations[0].conclusion.winner, &KernelOutcome::id);
  winner.proof->checks[0].wrong = 3;
  EXPECT_THAT(sentences(record), HasSubstr("proof of " + winner.label()));
  winner.proof->right = false;
  EXPECT_THAT(sentences(record), HasSubstr("was proven and timed: the record says 'yes'"));
  winner.proof.reset();
  EXPECT_THAT(sentences(record), HasSubstr("was proven and timed: the record says 'yes'"));
}

// Not a word, but what the words are about.
TEST(RecomputeTest, EveryEditOfWhatIsClaimedIsFound) {
  using Edit = std::function<void(RunRecord&)>;
  const auto run = [](void (*edit)(RunRecord&)) { return Edit(edit); };
  const auto proof = [](void (*edit)(ProofSummary&)) {
    return Edit([edit](RunRecord& record) { edit(*record.problems[0].kernels[1].proof); });
  };
  const auto check = [](void (*edit)(ProofCheck&)) {
    return Edit([edit](RunRecord& record) {
      for (ProofCheck& one : record.problems[0].kernels[1].proof->checks) edit(one);
    });
  };
  const auto meta = [](const char* key, bool value) {
    return Edit([=](RunRecord& record) {
      KernelOutcome& kernel = record.problems[0].kernels[1];
      Json json = kernel.metadata.json();
      json[key] = value;
      kernel.metadata = MetadataJson(json);
    });
  };
  const auto first = [](void (*edit)(ProblemRecord&)) {
    return Edit([edit](RunRecord& record) { edit(record.problems[0]); });
  };
  const auto kernel = [](void (*edit)(KernelOutcome&)) {
    return Edit([edit](RunRecord& record) { edit(record.problems[0].kernels[0]); });
  };
  const auto concluded = [](void (*edit)(Conclusion&)) {
    return Edit(
        [edit](RunRecord& record) { edit(record.problems[0].confirmations[0].conclusion); });
  };
  const std::pair<Edit, const char*> edits[] = {
      {first([](auto& problem) { problem.name = "other"; }), "name: the record says 'other'"},
      {first([](auto& problem) { problem.key += "x"; }), "key: the record says"},
      {first([](auto& problem) { problem.problem["n"] = 2048; }), "flops: the record says"},
      {first([](auto& problem) { problem.problem["n"] = -1; }), "problem: the record says"},
      {first([](auto& problem) { problem.flops *= 10; }), "the evidence says '4194304'"},
      {first([](auto& problem) { problem.bytes *= 10; }), "bytes: the record says"},
      {first([](auto& problem) { problem.weight = 7; }), "weight: the record says '7'"},
      {first([](auto& problem) { problem.role = "prefill"; }), "role: the record says 'prefill'"},
      {first([](auto& problem) { problem.condition.cache = "warm"; }), "evidence_hash"},
      {first([](auto& problem) { problem.condition.cache = "hot"; }), "condition.cache"},
      {first([](auto& problem) { problem.condition.launch = "graph"; }), "evidence_hash"},
      {first([](auto& problem) { problem.race_class.preparation = "none"; }), "evidence_hash"},
      {first([](auto& problem) { problem.confirmations.clear(); }),
       "confirmations: the record says 'nothing'"},
      {first([](auto& problem) { problem.no_winner = "x"; }), "no_winner: the record says 'x'"},
      {kernel([](auto& one) { one.name = "other"; }), "name of mine/other: the record says"},
      {kernel([](auto& one) { one.provider = "mkl"; }), "provider of mkl/skinny: the record says"},
      {kernel([](auto& one) { one.artifact_hash = "0"; }), "evidence_hash"},
      {kernel([](auto& one) {
         Json json = one.metadata.json();
         json["design"]["tile_m"] = 16;
         one.metadata = MetadataJson(json);
       }),
       "metadata of mine/skinny: the record says"},
      {kernel([](auto& one) {
         Json json = one.metadata.json();
         json.erase("id");
         json["design"]["tile_m"] = 16;
         one.metadata = MetadataJson(json);
       }),
       "id of mine/skinny: the record says"},
      {kernel([](auto& one) { one.proof->checks.clear(); }),
       "proof of mine/skinny: the record says 'yes', the evidence says 'no'"},
      {kernel([](auto& one) { one.proof->checks[0].elements = 0; }),
       "the record says '0', the evidence says '4096'"},
      {kernel([](auto& one) { one.proof->bitwise_repeatable = false; }),
       "findings of mine/skinny: the record says 'nothing', the evidence says 'nondeterministic'"},
      {kernel([](auto& one) { one.proof.reset(); }),
       "proof of mine/skinny: the record says 'none', the evidence says 'right: it was timed'"},
      {proof([](auto& made) {
         made.right = false;
         made.checks[0].wrong = 5;
         made.checks[0].first_wrong = "out[0,0,0]";
       }),
       "proof of openblas/gemm: the record says 'wrong'"},
      {proof([](auto& made) { made.checks.resize(1); }),
       "inputs in the proof of openblas/gemm: the record says 'no exact, cancellation"},
      {proof([](auto& made) { made.launches = 0; }), "launches in the proof of openblas/gemm"},
      {proof([](auto& made) { made.method = "by eye"; }), "method in the proof of openblas/gemm"},
      {proof([](auto& made) { made.mean_error = 0; }), "mean error in the proof"},
      {proof([](auto& made) { made.smallest_visible = 0; }), "smallest visible error in the"},
      {check([](auto& one) { one.compared = 0; }), "'0', the evidence says '1 to 4096'"},
      {check([](auto& one) { one.compared = 5000; }), "'5000', the evidence says '1 to 4096'"},
      {check([](auto& one) { one.method.clear(); }), "one of the operation's"},
      {check([](auto& one) { one.method = "some elements against float64"; }), "some elements"},
      {check([](auto& one) { one.input.clear(); }), "a kind of inputs"},
      {check([](auto& one) { one.smallest_visible = 1e300; }), "smallest_visible in the proof of"},
      {check([](auto& one) { one.mean_error = 0.4; }), "at most the largest, 0.31"},
      {proof([](auto& made) { made.error_bound = ErrorBound::normwise; }),
       "error bound of openblas/gemm: the record says 'normwise', the evidence says 'elementwise'"},
      {check([](auto& one) { one.method += ", normwise"; }),
       "elementwise: the kernel promises that"},
      {check([](auto& one) {
         one.method =
             "left out: normwise kernels add blocks up, where NaN spreads and the largest "
             "integers are rounded";
         one.compared = 0;
       }),
       "the evidence says 'a comparison'"},
      {check([](auto& one) { one.max_error = 1.5; }), "at most 1: nothing is wrong"},
      {check([](auto& one) { one.first_wrong = "out[0,0,0]"; }), "0 are wrong"},
      {meta("prepares", true), "prepared_bytes of openblas/gemm: the record says '0'"},
      {kernel([](auto& one) { one.prepared_bytes = 64; }), "prepares of mine/skinny"},
      {first([](auto& problem) { problem.race->dropped = 1; }), "dropped in the race"},
      {first([](auto& problem) { problem.race->rounds = 11; }), "at most 11"},
      {first([](auto& problem) { problem.race->spoiled_rounds = 13; }), "at most 12"},
      {kernel([](auto& one) { one.race->clean_rounds = 13; }), "clean rounds of mine/skinny"},
      {kernel([](auto& one) { one.race->median_us = 0; }), "median_us of mine/skinny"},
      {kernel([](auto& one) { one.race->reason = "slow"; }), "reason of mine/skinny"},
      {kernel([](auto& one) { one.race->dropped_after = 6; }), "rounds of mine/skinny"},
      {first([](auto& problem) { problem.confirmations[0].rounds = 39; }),
       "rounds of a confirmation: the record says '39', the evidence says '40'"},
      {first([](auto& problem) { problem.confirmations.push_back(problem.confirmations[0]); }),
       "each once"},
      {run([](auto& record) { record.kind = "zzz"; }), "kind: the record says 'zzz'"},
      {run([](auto& record) { record.kind = "run"; }), "m1_qkv was confirmed, as no run is"},
      {run([](auto& record) { record.trust = TrustGrade::confined_native; }),
       "unconfined_native: its reason is that of this grade"},
      {first([](auto& problem) { problem.ceiling_share = 0.9; }), "ceiling_share of m1_qkv"},
      {first([](auto& problem) {
         problem.ceiling = "read";
         problem.ceiling_value = 1.2e10;
         problem.ceiling_share = 0.99;
       }),
       "ceiling_share of m1_qkv"},
      {first([](auto& problem) { problem.confirmations[0].earlier = 3; }), "against"},
      {kernel([](auto& one) {
         one.findings.push_back({"nondeterministic", "bits differ"});
       }),
       "that launches of mine/skinny differ in bits"},
      {kernel([](auto& one) {
         one.proof->wide_lines = {4096, 15.8};
       }),
       "proof of mine/skinny: the record says 'yes', the evidence says 'no'"},
      {run([](auto& record) { ++record.totals.trials; }), "totals.trials: the record says '10'"},
      {run([](auto& record) { record.totals.proven = 0; }), "totals.proven"},
      {run([](auto& record) { ++record.totals.wrong; }), "totals.wrong"},
      {run([](auto& record) { ++record.totals.crashed; }), "totals.crashed"},
      {run([](auto& record) { record.totals.refused = 0; }), "totals.refused"},
      {run([](auto& record) { ++record.totals.left_out; }), "totals.left_out"},
      {run([](auto& record) { record.trust = TrustGrade::device_code; }),
       "less: its device is no GPU"},
      {run([](auto& record) {
         record.trust = TrustGrade::device_code;
         record.environment.device.kind = "gpu";
         record.problems[0].kernels[0].role = KernelRole::user;
       }),
       "less: mine/skinny is host code"},
      {concluded([](auto& made) { made.evidence_hash.clear(); }),
       "evidence_hash: the record says 'nothing'"},
      {concluded([](auto& made) { made.times.clear(); }), "time of mine/skinny: the record says"},
      {concluded([](auto& made) { made.times.pop_back(); }), "the record says 'nothing'"},
      {concluded([](auto& made) { made.headline->verdict.margin = 0.5; }), "margin 0.5, 7"},
      {concluded([](auto& made) { made.headline->verdict.processes = 99; }), "99 processes"},
      {concluded([](auto& made) { made.headline->verdict.smallest_detectable = 1e-9; }),
       "smallest difference 1e-09"},
      {concluded([](auto& made) { made.headline->verdict.reason = "because"; }), ", because"}};
  for (const auto& [edit, part] : edits) {
    RunRecord record = testing::make_record();
    edit(record);
    std::string all;
    for (const Difference& difference : recompute(record)) all += difference.sentence() + "\n";
    EXPECT_THAT(all, HasSubstr(part));
  }
}

// Words that were changed since, and fields that were added: earlier records are as true as ever.
TEST(RecomputeTest, EarlierRecordsRecompute) {
  for (const char* file : {"h200/decode/record_clear_cache.json.zst", "h100/record_quack.json.zst",
                           "emerald_rapids/record_f32_m128.json.zst"}) {
    SCOPED_TRACE(file);
    const auto record = load_record(testing::AssayProgram::source(std::string("results/") + file));
    ASSERT_TRUE(record) << record.error().message;
    EXPECT_THAT(recompute(*record), IsEmpty());
  }
}

// The hash that a file holds is of the file, so that what this program knows nothing of counts.
TEST(RecomputeTest, AHashOfEarlierFieldsIsHeldAgainstTheFile) {
  RunRecord good = testing::make_record();
  Json head = head_json(good);
  head["field_of_another_version"] = 1;
  Json file = head;
  for (ProblemRecord& problem : good.problems) {
    problem.evidence_hash.clear();
    Json own = to_json(problem);
    own["another"] = "x";
    own["evidence_hash"] = hash_of_evidence(head, own);
    file["problems"].push_back(own);
  }
  const auto read = [](const Json& json) {
    return read_record(*parse_json_document(json.dump(), "record.json"));
  };
  const auto as_written = read(file);
  ASSERT_TRUE(as_written) << as_written.error().message;
  EXPECT_THAT(recompute(*as_written), IsEmpty());
  file["problems"][0]["another"] = "y";
  EXPECT_THAT(recompute(*read(file)),
              Contains(Field(&Difference::what, "evidence_hash of the whole problem")));
}

// What a confirmation's own hash leaves out: it comes later, or is of the whole run.
TEST(RecomputeTest, TheHashOfAFinishedProblemCoversTheWholeRecord) {
  RunRecord good = testing::make_record();
  for (ProblemRecord& problem : good.problems)
    problem.evidence_hash = hash_of_evidence(good, problem);
  EXPECT_THAT(recompute(good), IsEmpty());
  const auto again = read_record(*parse_json_document(record_text(good), "record.json"));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_THAT(recompute(*again), IsEmpty());
  const std::function<void(RunRecord&)> edits[] = {
      [](RunRecord& record) { record.options.threads = 2; },
      [](RunRecord& record) { record.options.suite = "other"; },
      [](RunRecord& record) { record.command_line.emplace_back("--margin"); },
      [](RunRecord& record) {
        record.findings.push_back({"clock", "drifted"});
      },
      [](RunRecord& record) { record.trust_reason += " "; },
      [](RunRecord& record) {
        record.problems[0].findings.push_back({"x", "y"});
      },
      [](RunRecord& record) { record.problems[0].evidence_hash.clear(); },
      [](RunRecord& record) {
        Json facts = {{"flags", {"-ffast-math"}}};
        record.problems[0].kernels[0].artifact_facts = CompactJson(facts);
      },
      [](RunRecord& record) {
        Json metadata = record.problems[0].kernels[0].metadata.json();
        metadata["deterministic"] = false;
        record.problems[0].kernels[0].metadata = MetadataJson(metadata);
      }};
  for (const auto& edit : edits) {
    RunRecord record = good;
    edit(record);
    EXPECT_THAT(recompute(record),
                Contains(Field(&Difference::what, "evidence_hash of the whole problem")))
        << &edit - edits;
  }
}

// A race of one disturbed round has no time of a kernel that is confirmed all the same.
TEST(RecomputeTest, AKernelWithoutACleanRoundSaysWhy) {
  RunRecord record = testing::make_record();
  RaceSummary& race = *record.problems[0].kernels[0].race;
  race.clean_rounds = 0;
  race.median_us = 0;
  race.reason = "no clean round of 12: others had its cores meanwhile";
  EXPECT_THAT(recompute(record), IsEmpty());
}

// Whether it may differ from launch to launch is in no hash of it.
TEST(RecomputeTest, WhatAKernelDeclaresIsInWhatWasFound) {
  RunRecord record = testing::make_record();
  KernelOutcome& kernel = record.problems[0].kernels[1];
  kernel.proof->bitwise_repeatable = false;
  kernel.findings = {{"nondeterministic", "two launches on the same inputs differ in some bits"}};
  EXPECT_THAT(recompute(record), IsEmpty());
  kernel.findings[0].sentence = "two launches on the same inputs differ, as it declares";
  EXPECT_THAT(recompute(record),
              Contains(Field(&Difference::what, "deterministic of openblas/gemm")));
}

// Blocks of two kernels at their own clocks, and what is said of them.
TEST(RecomputeTest, EveryEditOfOwnClocksIsFound) {
  RunRecord good = testing::make_record();
  ProblemRecord& problem = good.problems[0];
  const std::string mine = problem.kernels[0].id, other = problem.kernels[1].id;
  const ClockBlock fast{mine, 1000, 1, 500, 1500, 1}, slow{other, 500, 1, 600, 1400, 1};
  problem.own_clock = OwnClock{mine, other, {fast, slow, slow, fast}};
  const std::string sentence = fmt::format(
      "at the power cap {} is 2.000 x as fast as {} alone, at its own clock, 1.100 x "
      "in turns; 500 against 1200 mJ a launch",
      problem.kernels[0].label(), problem.kernels[1].label());
  problem.findings.push_back({"own_clock", sentence});
  good.findings.push_back({"own_clock", problem.name + ": " + sentence});
  EXPECT_THAT(recompute(good), IsEmpty());
  using Edit = void (*)(RunRecord&);
  const Edit edits[] = {
      [](RunRecord& record) { record.findings.clear(); },
      [](RunRecord& record) { record.findings.back().sentence += "!"; },
      [](RunRecord& record) { record.problems[0].findings.clear(); },
      [](RunRecord& record) { record.problems[0].findings.back().sentence = "9 x as fast"; },
      [](RunRecord& record) { record.problems[0].own_clock.reset(); },
      [](RunRecord& record) { record.problems[0].own_clock->blocks.clear(); },
      [](RunRecord& record) { record.problems[0].own_clock->blocks.pop_back(); },
      [](RunRecord& record) { record.problems[0].own_clock->blocks[1].id = "ffff"; },
      [](RunRecord& record) { record.problems[0].own_clock->blocks[0].seconds *= 2; },
      [](RunRecord& record) { record.problems[0].own_clock->blocks[0].joules *= 2; },
      [](RunRecord& record) {
        OwnClock& clock = *record.problems[0].own_clock;
        std::swap(clock.candidate, clock.other);
      }};
  for (const Edit& edit : edits) {
    RunRecord record = good;
    edit(record);
    EXPECT_THAT(recompute(record), ::testing::Not(IsEmpty())) << &edit - edits;
  }
}

// They have a hash of the samples alone.
TEST(RecomputeTest, EarlierRecordsSayTheirWordsAgain) {
  RunRecord record = testing::make_record();
  for (ProblemRecord& problem : record.problems) {
    Conclusion& made = problem.confirmations[0].conclusion;
    made.evidence_hash.clear();
    made.samples_hash = hash_samples(problem.confirmations[0]);
  }
  EXPECT_THAT(recompute(record), IsEmpty());
  record.problems[0].confirmations[0].processes[0].kernels[0].burst_ns[0] += 1;
  EXPECT_THAT(recompute(record), Contains(Field(&Difference::what, "samples_hash")));
}

TEST(RecomputeTest, ARunThatConfirmsNothingClaimsNothing) {
  RunRecord record = testing::make_record();
  for (ProblemRecord& problem : record.problems) {
    problem.confirmations.clear();
    problem.ceiling.clear();
    problem.ceiling_share = problem.ceiling_value = 0;
  }
  record.kind = "run";
  EXPECT_THAT(recompute(record), IsEmpty());
}

}  // namespace
}  // namespace assay
