#include "assay/compare/compare.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/compare/testing/results.h"

namespace assay {
namespace {

using stats::Word;
using testing::by_hand;
using testing::compared;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::no_records;
using testing::Recorded;
using testing::requiring;
using ::testing::SizeIs;

// --- exit codes, one by one --------------------------------------------------------------------

TEST(CompareTest, BySelfItClaimsNothingSoASlowerProviderIsARowAndExit0) {
  const Comparison comparison =
      compared(by_hand("cutlass", {{"p", 10}}), {by_hand("deepep", {{"p", 20}})});
  ASSERT_THAT(comparison.rows, SizeIs(1));
  EXPECT_NEAR(comparison.rows[0].competitors[0].speedup, 0.5, 1e-12);
  EXPECT_FALSE(comparison.rows[0].competitors[0].proven());
  EXPECT_THAT(comparison.claims, IsEmpty());
  EXPECT_EQ(exit_code(comparison), 0);
}

TEST(CompareTest, RequireIsHeldOrRefutedByBareRatiosBeyondTheMargin) {
  const ResultsFile baseline = by_hand("cutlass", {{"p", 10}});
  const auto claim = [&](double us) {
    return compared(baseline, {by_hand("mine", {{"p", us}})}, requiring("mine"));
  };
  EXPECT_EQ(exit_code(claim(9)), 0);
  EXPECT_EQ(claim(9).claims[0].state, ClaimState::held);
  EXPECT_EQ(exit_code(claim(9.95)), 1);  // Faster, but not by the margin.
  EXPECT_EQ(claim(9.95).claims[0].state, ClaimState::refuted);
  EXPECT_EQ(exit_code(claim(12)), 1);
  EXPECT_EQ(claim(12).claims[0].text, "mine beats cutlass on p by more than 1 %");
}

TEST(CompareTest, OneProblemOfSeveralRefutes) {
  const Comparison comparison =
      compared(by_hand("cutlass", {{"p", 10}, {"q", 10}}), {by_hand("mine", {{"p", 5}, {"q", 11}})},
               requiring("mine"));
  EXPECT_EQ(comparison.claims[0].state, ClaimState::held);
  EXPECT_EQ(comparison.claims[1].state, ClaimState::refuted);
  EXPECT_EQ(exit_code(comparison), 1);
}

TEST(CompareTest, UnderProvenBareNumbersDoNotCount) {
  const Comparison comparison = compared(by_hand("cutlass", {{"p", 10}}),
                                         {by_hand("mine", {{"p", 5}})}, requiring("mine", true));
  EXPECT_EQ(comparison.claims[0].state, ClaimState::unproven);
  EXPECT_THAT(comparison.claims[0].why, HasSubstr("without a record"));
  EXPECT_EQ(exit_code(comparison), 1);
}

TEST(CompareTest, SamplesProveAClaim) {
  Recorded recorded;
  recorded.record.problems.resize(1);  // m1_qkv, where mine is 10 % faster.
  const Comparison comparison = compared(recorded.file("openblas"), {recorded.file("mine")},
                                         requiring("mine", true), recorded.lookup());
  const Competitor& competitor = comparison.rows[0].competitors[0];
  ASSERT_TRUE(competitor.proven()) << competitor.why_unproven;
  EXPECT_EQ(competitor.verdict->word, Word::faster);
  EXPECT_NEAR(competitor.verdict->ratio, 1.1, 0.005);
  EXPECT_EQ(comparison.claims[0].state, ClaimState::held);
  EXPECT_EQ(exit_code(comparison), 0);
  EXPECT_THAT(comparison.disputes, IsEmpty());
}

TEST(CompareTest, TiesAndLossesWithSamplesAreRefuted) {
  const Recorded recorded;
  const Comparison comparison = compared(recorded.file("openblas"), {recorded.file("mine")},
                                         requiring("mine"), recorded.lookup());
  ASSERT_THAT(comparison.claims, SizeIs(3));
  EXPECT_EQ(comparison.claims[0].state, ClaimState::held);
  EXPECT_EQ(comparison.claims[1].state, ClaimState::refuted);
  EXPECT_EQ(comparison.claims[2].state, ClaimState::refuted);
  EXPECT_EQ(exit_code(comparison), 1);
}

TEST(CompareTest, UnsureWithSamplesIsUnprovenAndFailsARequirement) {
  Recorded recorded;
  recorded.record.problems.resize(1);
  recorded.record.problems[0].confirmations[0].processes.resize(4);
  Confirmation& confirmation = recorded.record.problems[0].confirmations[0];
  confirmation.conclusion =
      conclude(recorded.record.problems[0], confirmation, recorded.record.options);
  const Comparison comparison = compared(recorded.file("openblas"), {recorded.file("mine")},
                                         requiring("mine"), recorded.lookup());
  EXPECT_EQ(comparison.rows[0].competitors[0].verdict->word, Word::unsure);
  EXPECT_EQ(comparison.claims[0].state, ClaimState::unproven);
  EXPECT_EQ(exit_code(comparison), 1);
}

TEST(CompareTest, TheMarginOfCompareJudgesTheSamples) {
  Recorded recorded;
  recorded.record.problems.resize(1);
  CompareOptions options = requiring("mine");
  options.margin = 0.2;
  const Comparison comparison =
      compared(recorded.file("openblas"), {recorded.file("mine")}, options, recorded.lookup());
  EXPECT_EQ(comparison.rows[0].competitors[0].verdict->word, Word::slightly_faster);
  EXPECT_EQ(exit_code(comparison), 1);
}

TEST(CompareTest, AnAbsentFileIsMissing) {
  const Comparison comparison =
      compared(by_hand("cutlass", {{"p", 10}}), {{"nowhere/deepep_results.json", std::nullopt}},
               requiring("deepep"));
  EXPECT_THAT(comparison.missing, ElementsAre(HasSubstr("nowhere/deepep_results.json")));
  EXPECT_EQ(exit_code(comparison), 3);
  const auto without_baseline =
      compare({"absent.json", std::nullopt}, std::vector{by_hand("x", {{"p", 1}})}, no_records, {});
  EXPECT_EQ(without_baseline.error().code, ErrorCode::missing);
}

TEST(CompareTest, AProblemThatIsAbsentOrFailedIsMissingAndNamed) {
  const Comparison comparison = compared(by_hand("cutlass", {{"p", 10}, {"q", 10}, {"r", 10}}),
                                         {by_hand("deepep", {{"p", 9}, {"s", 1}}, {"q"})});
  ASSERT_THAT(comparison.missing, SizeIs(2));
  EXPECT_THAT(comparison.missing[0],
              HasSubstr("deepep has no result for q, and lists it under \"failed\""));
  EXPECT_THAT(comparison.missing[1], HasSubstr("no result for r"));
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("s is not in")));
  EXPECT_EQ(exit_code(comparison), 3);
}

TEST(CompareTest, SwappedOperandsAreNamed) {
  const Comparison by_name = compared(by_hand("cutlass", {{"up_m4_n512_k64", 10}}),
                                      {by_hand("mine", {{"up_m512_n4_k64", 9}})});
  EXPECT_THAT(by_name.missing,
              ElementsAre(HasSubstr("up_m512_n4_k64 has its sizes with m and n swapped")));
  const Comparison all_moved = compared(by_hand("cutlass", {{"up_m4_n512_k64", 10}}),
                                        {by_hand("mine", {{"up_m64_n4_k512", 9}})});
  EXPECT_THAT(all_moved.missing, ElementsAre(HasSubstr("with m, n and k in another order")));
  ResultsFile base = by_hand("cutlass", {{"up", 10}}), other = by_hand("mine", {{"up", 9}});
  const auto set = [](ResultsFile& file, std::int64_t m, std::int64_t n) {
    ProviderResult& result = file.results->results[0];
    result.m = m, result.n = n, result.k = 64;
  };
  set(base, 4, 512), set(other, 512, 4);
  EXPECT_THAT(compared(base, {other}).missing, ElementsAre(HasSubstr("with m and n swapped")));
  set(other, 8, 256);
  EXPECT_THAT(compared(base, {other}).missing, ElementsAre(Not(HasSubstr("swapped"))));
}

TEST(CompareTest, ARecordThatIsNamedAndNotThereIsMissing) {
  const Recorded recorded;
  const Comparison comparison = compared(recorded.file("openblas"), {recorded.file("mine")});
  EXPECT_THAT(comparison.missing, Contains(HasSubstr("record.json is not there")));
  EXPECT_EQ(exit_code(comparison), 3);
}

TEST(CompareTest, RecordedEnvironmentsThatDifferAreStale) {
  const Recorded recorded;
  ResultsFile mine = recorded.file("mine");
  mine.results->environment->libraries[0].version = "0.3.29";
  const Comparison comparison = compared(recorded.file("openblas"), {mine}, {}, recorded.lookup());
  EXPECT_THAT(comparison.stale, ElementsAre(HasSubstr("0.3.29")));
  EXPECT_EQ(exit_code(comparison), 3);
}

TEST(CompareTest, AKernelThatIsNotTheRecordedOneIsStale) {
  const Recorded recorded;
  ResultsFile mine = recorded.file("mine");
  mine.results->results[0].kernel_hash = "another";
  const Comparison comparison = compared(recorded.file("openblas"), {mine}, {}, recorded.lookup());
  EXPECT_THAT(comparison.stale, ElementsAre(HasSubstr("hashes")));
  EXPECT_EQ(exit_code(comparison), 3);
}

TEST(CompareTest, FilesByHandHaveNoEnvironmentAndAreUnprovenNotStale) {
  Recorded recorded;
  recorded.record.problems.resize(1);
  const Comparison comparison = compared(
      recorded.file("openblas"), {by_hand("deepep", {{"m1_qkv", 9}})}, {}, recorded.lookup());
  EXPECT_THAT(comparison.stale, IsEmpty());
  EXPECT_FALSE(comparison.rows[0].competitors[0].proven());
  EXPECT_EQ(exit_code(comparison), 0);
}

TEST(CompareTest, RequireCurrentAlsoAsksThisMachine) {
  const Recorded recorded;
  CompareOptions options;
  options.current = testing::make_environment();
  EXPECT_EQ(exit_code(compared(recorded.file("openblas"), {recorded.file("mine")}, options,
                               recorded.lookup())),
            0);
  options.current->device.id = "cpu-elsewhere";
  const Comparison comparison =
      compared(recorded.file("openblas"), {recorded.file("mine")}, options, recorded.lookup());
  EXPECT_THAT(comparison.stale, SizeIs(2));
  EXPECT_EQ(exit_code(comparison), 3);
}

TEST(CompareTest, ExpectWithinAllowsSoMuchAndNoMore) {
  CompareOptions options;
  options.requirements.expect_within = {{"triton", 0.05}};
  const ResultsFile baseline = by_hand("cutlass", {{"p", 9.5}});
  EXPECT_EQ(exit_code(compared(baseline, {by_hand("triton", {{"p", 9.6}})}, options)), 0);
  EXPECT_EQ(exit_code(compared(baseline, {by_hand("triton", {{"p", 10}})}, options)), 0);
  EXPECT_EQ(exit_code(compared(baseline, {by_hand("triton", {{"p", 10.1}})}, options)), 1);
  options.requirements.proven = true;
  EXPECT_EQ(exit_code(compared(baseline, {by_hand("triton", {{"p", 9.6}})}, options)), 1);

  const Recorded recorded;  // On m64_down mine is 5 % behind, within 10 but not within 2.
  options.requirements.expect_within = {{"mine", 0.1}};
  EXPECT_EQ(exit_code(compared(recorded.file("openblas"), {recorded.file("mine")}, options,
                               recorded.lookup())),
            0);
  options.requirements.expect_within = {{"mine", 0.02}};
  EXPECT_EQ(exit_code(compared(recorded.file("openblas"), {recorded.file("mine")}, options,
                               recorded.lookup())),
            1);
}

Previous previous_of(const Json& json) {
  const auto document = parse_json_document(dump_pretty(json), "old.json");
  const auto previous = read_previous(*document);
  EXPECT_TRUE(previous.has_value()) << previous.error().message;
  return *previous;
}

TEST(CompareTest, AgainstPreviousFindsARegressionOfTheSpeedUp) {
  const Recorded before;
  const Comparison old =
      compared(before.file("openblas"), {before.file("mine")}, {}, before.lookup());
  CompareOptions options;
  options.requirements.previous = previous_of(to_json(old));
  EXPECT_EQ(
      exit_code(compared(before.file("openblas"), {before.file("mine")}, options, before.lookup())),
      0);

  Recorded now;
  now.record.problems[0] =
      testing::make_problem("m1_qkv", {{"mine", "skinny", KernelRole::ours, 10 / 1.06, 64},
                                       {"openblas", "gemm", KernelRole::stock, 10, 0}});
  const Comparison comparison =
      compared(now.file("openblas"), {now.file("mine")}, options, now.lookup());
  EXPECT_EQ(comparison.claims[0].state, ClaimState::refuted) << comparison.claims[0].why;
  EXPECT_EQ(exit_code(comparison), 1);
}

TEST(CompareTest, AgainstPreviousResultsComparesTimesAndSaysSo) {
  CompareOptions options;
  options.requirements.previous = previous_of(to_json(*by_hand("mine", {{"p", 10}}).results));
  const ResultsFile baseline = by_hand("cutlass", {{"p", 10}});
  const Comparison same = compared(baseline, {by_hand("mine", {{"p", 10.05}})}, options);
  EXPECT_EQ(exit_code(same), 0);
  EXPECT_THAT(same.claims[0].why, HasSubstr("two runs"));
  EXPECT_EQ(exit_code(compared(baseline, {by_hand("mine", {{"p", 11}})}, options)), 1);
  options.requirements.previous = previous_of(to_json(*by_hand("mine", {{"gone", 10}}).results));
  EXPECT_EQ(exit_code(compared(baseline, {by_hand("mine", {{"p", 10}})}, options)), 3);
}

TEST(CompareTest, UpstreamComparisonFilesServeAsPrevious) {
  CompareOptions options;
  options.requirements.previous =
      previous_of({{"p",
                    {{"baseline_provider", "cutlass"},
                     {"baseline_tflops", 1.0},
                     {"competitors", {{{"provider", "mine"}, {"speedup_vs_cutlass", 1.2}}}}}}});
  const Comparison comparison =
      compared(by_hand("cutlass", {{"p", 10}}), {by_hand("mine", {{"p", 9.5}})}, options);
  EXPECT_EQ(comparison.claims[0].state, ClaimState::refuted);
  EXPECT_EQ(exit_code(comparison), 1);
}

TEST(CompareTest, MistakesOfTheCommandLineAreInvalidInput) {
  const ResultsFile baseline = by_hand("cutlass", {{"p", 10}});
  const std::vector others = {by_hand("triton", {{"p", 9}})};
  const auto error = [&](const std::vector<ResultsFile>& files, const CompareOptions& options) {
    const auto comparison = compare(baseline, files, no_records, options);
    return comparison ? Error{ErrorCode::internal, "no error"} : comparison.error();
  };
  EXPECT_THAT(error(others, requiring("tritn")).message, HasSubstr("did you mean 'triton'"));
  EXPECT_EQ(error(others, requiring("tritn")).code, ErrorCode::invalid_input);
  EXPECT_EQ(error({}, {}).code, ErrorCode::invalid_input);
  EXPECT_EQ(error({others[0], others[0]}, {}).code, ErrorCode::invalid_input);
  CompareOptions options;
  options.margin = 0;
  EXPECT_EQ(error(others, options).code, ErrorCode::invalid_input);
  options.margin = 0.01;
  options.requirements.expect_within = {{"triton", 5}};
  EXPECT_EQ(error(others, options).code, ErrorCode::invalid_input);
}

// --- evidence ----------------------------------------------------------------------------------

TEST(CompareTest, KernelsOfDifferentRecordsWereNeverRaced) {
  const Recorded one;
  Recorded other;
  other.record.id = "another";
  const RecordLookup lookup = [&](const std::string& results,
                                  const std::string&) -> Result<const RunRecord*> {
    return results.starts_with("mine") ? &other.record : &one.record;
  };
  const Comparison comparison = compared(one.file("openblas"), {other.file("mine")}, {}, lookup);
  EXPECT_FALSE(comparison.rows[0].competitors[0].proven());
  EXPECT_THAT(comparison.rows[0].competitors[0].why_unproven, HasSubstr("not raced against"));
}

TEST(CompareTest, AKernelThatWasOnlyRacedIsUnproven) {
  Recorded recorded;
  recorded.record.problems.resize(1);
  ProblemRecord& problem = recorded.record.problems[0];
  problem.kernels.push_back(testing::make_outcome({"blis", "gemm", KernelRole::stock, 12}));
  const Comparison comparison =
      compared(recorded.file("openblas"), {recorded.file("blis")}, {}, recorded.lookup());
  EXPECT_THAT(comparison.rows[0].competitors[0].why_unproven, HasSubstr("not among the kernels"));
  EXPECT_EQ(exit_code(comparison), 0);
}

TEST(CompareTest, ATamperedSampleDisputesTheRecord) {
  Recorded recorded;
  recorded.record.problems.resize(1);
  const ResultsFile baseline = recorded.file("openblas"), mine = recorded.file("mine");
  Confirmation& confirmation = recorded.record.problems[0].confirmations[0];
  confirmation.processes[0].kernels[0].burst_ns[0] -= 1;
  const Comparison slight = compared(baseline, {mine}, {}, recorded.lookup());
  EXPECT_THAT(slight.disputes, Contains(HasSubstr("evidence_hash")));
  EXPECT_EQ(exit_code(slight), 1);

  for (ProcessSamples& process : confirmation.processes) {
    for (std::int64_t& ns : process.kernels[0].burst_ns) ns = ns * 12 / 10;
  }
  const Comparison gross = compared(baseline, {mine}, {}, recorded.lookup());
  EXPECT_EQ(gross.rows[0].competitors[0].verdict->word, Word::slower);
  EXPECT_THAT(gross.disputes, Contains(HasSubstr("'faster")));
  EXPECT_EQ(exit_code(gross), 1);
}

TEST(CompareTest, ATamperedNumberInTheFileIsNoted) {
  const Recorded recorded;
  ResultsFile mine = recorded.file("mine");
  mine.results->results[0].runtime_ms /= 2;
  const Comparison comparison = compared(recorded.file("openblas"), {mine}, {}, recorded.lookup());
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("its record")));
  EXPECT_EQ(comparison.rows[0].competitors[0].verdict->word, Word::faster);
  EXPECT_NEAR(comparison.rows[0].competitors[0].ratio(), 1.1, 0.005);
}

// --- files -------------------------------------------------------------------------------------

TEST(CompareTest, ReadsFilesAndRecordsFromDiskRelativeToTheResults) {
  const auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder.has_value());
  ASSERT_TRUE(make_directories(folder->file("runs/one")).has_value());
  const RunRecord record = testing::make_record();
  ASSERT_TRUE(write_record(folder->file("runs/one/record.json"), record).has_value());
  for (const char* provider : {"openblas", "mine"}) {
    ASSERT_TRUE(
        write_provider_results(folder->file(std::string(provider) + "_results.json"),
                               testing::results_of(record, provider, "runs/one/record.json"))
            .has_value());
  }
  const auto baseline = load_results_file(folder->file("openblas_results.json"));
  const auto mine = load_results_file(folder->file("mine_results.json"));
  ASSERT_TRUE(baseline && mine);
  RecordFiles files;
  const auto comparison = compare(*baseline, std::vector{*mine}, files.lookup(), {});
  ASSERT_TRUE(comparison.has_value()) << comparison.error().message;
  EXPECT_TRUE(comparison->rows[0].competitors[0].proven());
  EXPECT_EQ(exit_code(*comparison), 0);

  // A record that is there and broken is the user's to repair.
  std::ofstream(folder->file("runs/one/record.json")) << "{";
  RecordFiles again;
  const auto broken = compare(*baseline, std::vector{*mine}, again.lookup(), {});
  EXPECT_EQ(broken.error().code, ErrorCode::invalid_input);

  EXPECT_FALSE(load_results_file(folder->file("absent.json"))->results.has_value());
  std::ofstream(folder->file("bad.json")) << "{\"provider\": 3}";
  EXPECT_EQ(load_results_file(folder->file("bad.json")).error().code, ErrorCode::invalid_input);
  std::ofstream(folder->file("r.csv")) << "Operation,m,n,k,Runtime\nkern,10,10,10,1\n";
  const auto csv = load_results_file(folder->file("r.csv"));
  ASSERT_TRUE(csv.has_value());
  EXPECT_EQ(csv->results->provider, "cutlass");
  EXPECT_EQ(load_previous(folder->file("absent.json")).error().code, ErrorCode::missing);
}

TEST(CompareTest, TheJsonHasTheDocumentedSchema) {
  const Comparison comparison =
      compared(by_hand("cutlass", {{"p", 10}}), {by_hand("deepep", {{"p", 8}})});
  const Json json = to_json(comparison);
  ASSERT_EQ(json.size(), 1u);
  const Json& entry = json["p"];
  EXPECT_EQ(entry["baseline_provider"], "cutlass");
  EXPECT_EQ(entry["baseline_kernel"], "cutlass_kernel");
  EXPECT_NEAR(entry["baseline_runtime_ms"].get<double>(), 0.01, 1e-12);
  EXPECT_EQ(entry["baseline"]["provider"], "cutlass");
  const Json& competitor = entry["competitors"][0];
  EXPECT_NEAR(competitor["speedup_vs_cutlass"].get<double>(), 1.25, 1e-12);
  EXPECT_NEAR(competitor["speedup"].get<double>(), 1.25, 1e-12);
  EXPECT_EQ(competitor["proven"], false);
  EXPECT_TRUE(competitor["verdict"].is_null());
  EXPECT_EQ(summary_json(comparison)["exit_code"], 0);

  const Recorded recorded;
  const Json proven =
      to_json(compared(recorded.file("openblas"), {recorded.file("mine")}, {}, recorded.lookup()));
  const Json& verdict = proven["m1_qkv"]["competitors"][0]["verdict"];
  EXPECT_EQ(verdict["word"], "faster");
  EXPECT_LT(verdict["low"], verdict["high"]);
}

}  // namespace
}  // namespace assay
