#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/text.h"
#include "assay/compare/compare.h"
#include "assay/record/bounds.h"
#include "assay/record/testing/sample_record.h"
#include "assay/report/compare_report.h"
#include "assay/report/sweep_report.h"
#include "assay/report/words.h"

namespace assay::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

SweepReportOptions with_path() {
  SweepReportOptions options;
  options.record_path = "runs/0412-decode/record.json";
  options.next = "assay export --winner m1_qkv";
  return options;
}

RunRecord decode_record() { return assay::testing::make_record(); }

int widest_line(const std::string& text) {
  int widest = 0;
  for (const std::string_view line : split(text, '\n')) {
    widest = std::max(widest, display_width(line));
  }
  return widest;
}

TEST(SweepReportTest, TheTableInEightyColumns) {
  EXPECT_EQ(sweep_text(decode_record(), with_path()),
            R"(  role           kernel           us      rate  of ceiling
m1_qkv  faster than best stock 1.10 [1.10 1.10]
  winner         mine/skinny    9.09  233 GB/s  68 % read
  stock          openblas/gemm  10.0  212 GB/s  62 % read
m4_up  same as best stock 1.00 [1.00 1.00] (0.1 %)
  candidate      mine/skinny    10.0  212 GB/s  68 % read
  winner, stock  openblas/gemm  10.0  212 GB/s  68 % read
m64_down  slower than best stock 0.95 [0.95 0.95]
  candidate      mine/skinny    10.5  201 GB/s  65 % read
  winner, stock  openblas/gemm  10.0  212 GB/s  68 % read

(%): the smallest difference that this run could have shown
tie m4_up: openblas/gemm 10.0 us, mine/skinny 10.0 us
condition cold_weights, back_to_back, plain; preparation allowed, dependent
  launch forbidden; margin 1 %
trust unconfined_native: native code ran in the process that timed it
3 shapes, 9 kernels proven, 0 wrong, 9 refused, 38 s timed   (--why)
record runs/0412-decode/record.json     next: assay export --winner m1_qkv
)");
}

TEST(SweepReportTest, MoreThanACeilingIsNeverShown) {
  RunRecord record = decode_record();
  record.problems[0].ceiling_share = 1.31;
  const std::string text = sweep_text(record);
  EXPECT_THAT(text, HasSubstr(">= 100 % read, partly cached"));
  EXPECT_THAT(text, Not(HasSubstr("131 %")));
}

TEST(SweepReportTest, OfLongNamesWhatDiffersIsShownOnATerminal) {
  RunRecord record = decode_record();
  std::vector<KernelOutcome>& kernels = record.problems[0].kernels;
  kernels[0].name = "rows_avx512_7x48_k256_n1024_ahead0";
  KernelOutcome other = kernels[0];
  other.id = "another";
  other.name = "rows_avx512_6x32_k256_n0_ahead0";
  kernels.push_back(other);
  EXPECT_THAT(sweep_text(record, with_path()),
              HasSubstr("  winner         mine/rows..7x48_n1024 "));
  SweepReportOptions wide = with_path();
  wide.style.width = 160;
  EXPECT_THAT(sweep_text(record, wide), HasSubstr("mine/rows_avx512_7x48_k256_n1024_ahead0"));
}

TEST(SweepReportTest, WhereNoTerminalIsNamesGoOnBelow) {
  RunRecord record = decode_record();
  record.problems[0].kernels[0].name =
      "kernel_" + std::string(30, 'a') + "_" + std::string(30, 'b');
  SweepReportOptions options = with_path();
  options.style.cuts = false;
  const std::string text = sweep_text(record, options);
  EXPECT_THAT(text, Not(HasSubstr("..")));
  EXPECT_THAT(text, HasSubstr("\n                 " + std::string(30, 'b') + "\n"));
  EXPECT_LE(widest_line(text), 80);
}

TEST(SweepReportTest, AWideTerminalShowsAllInOneLineAndAThirdDecimal) {
  SweepReportOptions options = with_path();
  options.style.width = 160;
  EXPECT_THAT(
      sweep_text(decode_record(), options),
      HasSubstr(R"(shape     role           kernel           us      rate  of ceiling   err  verdict
m1_qkv    winner         mine/skinny    9.09  233 GB/s  68 % read   0.31  faster than best stock 1.100 [1.099 1.101]
          stock          openblas/gemm  10.0  212 GB/s  62 % read   0.31
m4_up     candidate      mine/skinny    10.0  212 GB/s  68 % read   0.31  same as best stock 1.000 [0.999 1.001] (0.1 %)
)"));
}

TEST(SweepReportTest, NothingIsWiderThanTheTerminal) {
  RunRecord record = decode_record();
  for (ProblemRecord& problem : record.problems) {
    problem.name += "_with_a_name_that_goes_on_and_on_and_on_m16384_n16384_k8192";
    for (KernelOutcome& kernel : problem.kernels) {
      kernel.name += "_128x256x64_行列_cluster2x1_stages4_pingpong_tma_epilogue";
      kernel.ending = ending::Timed{};
    }
    problem.kernels.push_back(problem.kernels.back());
    problem.kernels.back().id = "crashed";
    problem.kernels.back().ending = ending::Crash{11, 0, "verify", ""};
  }
  SweepReportOptions options;
  options.why = true;
  for (int width = 80; width <= 200; width += 8) {
    options.style.width = width;
    EXPECT_LE(widest_line(sweep_text(record, options)), width);
  }
}

TEST(SweepReportTest, ColourOnlyIfAsked) {
  SweepReportOptions options = with_path();
  EXPECT_THAT(sweep_text(decode_record(), options), Not(HasSubstr("\x1b")));
  const std::string plain = sweep_text(decode_record(), options);
  options.style.colour = true;
  std::string text = sweep_text(decode_record(), options);
  EXPECT_THAT(text, HasSubstr("\x1b[32mfaster\x1b[0m"));
  EXPECT_THAT(text, HasSubstr("\x1b[31mslower\x1b[0m"));
  // Without the escapes it is the same text.
  for (const char* escape : {"\x1b[32m", "\x1b[31m", "\x1b[33m", "\x1b[2m", "\x1b[0m"}) {
    for (std::size_t at; (at = text.find(escape)) != std::string::npos;) {
      text.erase(at, std::string_view(escape).size());
    }
  }
  EXPECT_EQ(text, plain);
}

TEST(SweepReportTest, AProblemWithoutAWinnerSaysWhy) {
  RunRecord record = decode_record();
  record.problems[1].confirmations.clear();
  record.problems[1].no_winner = "2 kernels were wrong, 1 crashed";
  const std::string text = sweep_text(record);
  EXPECT_THAT(text, HasSubstr("\nm4_up\n  winner         none"));
  EXPECT_THAT(text, HasSubstr("m4_up: 2 kernels were wrong, 1 crashed"));
}

TEST(SweepReportTest, StockAgainstItsDefaultSaysSo) {
  const RunRecord record = assay::testing::make_record(
      {assay::testing::make_problem("p", {{"onednn", "matmul", KernelRole::stock, 9},
                                          {"onednn", "sgemm", KernelRole::stock, 10}})});
  ProblemRecord problem = record.problems[0];
  Confirmation& confirmation = problem.confirmations[0];
  confirmation.baseline = assay::testing::id_of("onednn", "sgemm");
  confirmation.conclusion = conclude(problem, confirmation, {});
  const std::string text = sweep_text(assay::testing::make_record({problem}));
  EXPECT_THAT(text, HasSubstr("p  faster than default 1.11"));
  EXPECT_THAT(text, HasSubstr("\n  default  onednn/sgemm "));
}

// A row never sets one kernel's name and time beside the ratio of another.
TEST(SweepReportTest, AVerdictOfAnotherKernelThanTheWinnerHasItsOwnRow) {
  ProblemRecord problem =
      assay::testing::make_problem("m16", {{"mine", "first", KernelRole::ours, 9},
                                           {"mine", "second", KernelRole::ours, 8},
                                           {"openblas", "gemm", KernelRole::stock, 10}});
  Confirmation& confirmation = problem.confirmations[0];
  confirmation.leader = assay::testing::id_of("mine", "second");
  confirmation.conclusion = conclude(problem, confirmation, {});
  const RunRecord record = assay::testing::make_record({problem});
  SweepReportOptions wide;
  wide.style.width = 160;
  const std::string text = sweep_text(record, wide);
  EXPECT_THAT(text, HasSubstr("candidate  mine/first "));
  EXPECT_THAT(text, HasSubstr("winner     mine/second "));
  EXPECT_THAT(sweep_csv(record), HasSubstr(",mine/second,behind,mine/first,9.0"));
}

TEST(SweepReportTest, AnUnsureRowSaysWhy) {
  RunRecord record = decode_record();
  Confirmation& confirmation = record.problems[0].confirmations[0];
  confirmation.processes.resize(3);
  confirmation.conclusion = conclude(record.problems[0], confirmation, record.options);
  EXPECT_THAT(sweep_text(record), HasSubstr("\nunsure m1_qkv: "));
}

TEST(SweepReportTest, WeightsGiveTheModelsTime) {
  RunRecord record = decode_record();
  EXPECT_THAT(sweep_text(record), Not(HasSubstr("model:")));
  record.problems[0].weight = 32;
  EXPECT_THAT(sweep_text(record),
              HasSubstr("model: decode, m 4: default 340 us, best stock 340 us, best 311 us"));
}

// By tie-break the default wins, though another was a little faster.
TEST(SweepReportTest, AModelsBestTimeIsNoLongerThanThatOfItsBestStockKernels) {
  ProblemRecord problem =
      assay::testing::make_problem("m4", {{"cublaslt", "default", KernelRole::stock, 10},
                                          {"cublaslt", "other", KernelRole::stock, 9.95}});
  problem.weight = 20;
  problem.confirmations[0].conclusion.winner = assay::testing::id_of("cublaslt", "default");
  EXPECT_THAT(sweep_text(assay::testing::make_record({problem})),
              HasSubstr("default 200 us, best stock 199 us, best 199 us"));
}

TEST(SweepReportTest, WhatARankerChoseAlikeIsSaidOnce) {
  RunRecord record = decode_record();
  for (ProblemRecord& problem : record.problems) {
    RankingRecord& ranking = problem.ranking.emplace();
    ranking.ranker = "roofline";
    ranking.costly = 58;
    ranking.rankers = {{.name = "roofline", .scored = 48}};
  }
  const std::string chose = "roofline ordered all 58 kernels that cost much to compile";
  EXPECT_THAT(sweep_text(record, {.style = {.width = 300}}),
              HasSubstr("\nranking " + chose +
                        ", for each of 3 shapes; 3 winners are kernels that it could not score\n"));
  ProblemRecord& last = record.problems.back();
  const std::string winner = last.winner()->id;
  std::ranges::find(last.kernels, winner, &KernelOutcome::id)->ranks["roofline"] = 3;
  EXPECT_THAT(sweep_text(record, {.style = {.width = 300}}),
              HasSubstr(", for each of 3 shapes; the winner is its number 3 of 48 for m64_down; 2 "
                        "winners are kernels that it could not score\n"));
  // What was chosen in another way has a line of its own.
  last.ranking->not_built = 50;
  const std::string text = sweep_text(record, {.style = {.width = 300}});
  EXPECT_THAT(text, HasSubstr(chose + ", for each of 2 shapes; 2 winners"));
  EXPECT_THAT(text, HasSubstr("\nranking m64_down: roofline chose 8 of 58 kernels that cost much "
                              "to compile; the winner is its number 3 of 48\n"));
}

TEST(SweepReportTest, EachBatchOfAModelHasItsTime) {
  RunRecord record = decode_record();
  record.options.model = "tiny/config.json";
  record.problems[0].weight = 2;
  record.problems[2].problem["m"] = 64;
  EXPECT_THAT(sweep_text(record), HasSubstr("model: decode, m 4: default 30.0 us"));
  EXPECT_THAT(sweep_text(record), HasSubstr("model: decode, m 64: default 10.0 us"));
  // A sum without one of its parts would be no time of the model.
  record.problems[2].confirmations.clear();
  EXPECT_THAT(sweep_text(record),
              HasSubstr("model: decode, m 64: no time: m64_down has no winner"));
  EXPECT_THAT(sweep_text(record), HasSubstr("model: decode, m 4: default 30.0 us"));
}

TEST(SweepReportTest, WhyShowsRefusalsFailuresAndFindings) {
  RunRecord record = decode_record();
  record.problems[0].kernels.push_back(record.problems[0].kernels[0]);
  KernelOutcome& crashed = record.problems[0].kernels.back();
  crashed.id = "other";
  crashed.name = "skinny.w16";
  crashed.ending = ending::Crash{11, 0, "verify", "stack smashed"};
  record.problems[0].kernels[0].findings = {{"denormals_flushed", "bf16 dot products flush"}};
  SweepReportOptions options;
  options.why = true;
  const std::string text = sweep_text(record, options);
  EXPECT_THAT(text, HasSubstr("m1_qkv: refused 3: divisibility (k=100 is not a multiple of 8)"));
  EXPECT_THAT(text, HasSubstr("m1_qkv: mine/skinny.w16: crashed while it was proven (SIGSEGV)"));
  EXPECT_THAT(text, HasSubstr("denormals_flushed"));
}

TEST(SweepReportTest, OnlyTheNamedProblemsAreShown) {
  SweepReportOptions options;
  options.only = {"m4_up"};
  const std::string text = sweep_text(decode_record(), options);
  EXPECT_THAT(text, Not(HasSubstr("m1_qkv")));
  EXPECT_THAT(text, HasSubstr("3 shapes (1 shown)"));
}

TEST(SweepReportTest, UntrustedTextCannotSteerTheTerminal) {
  RunRecord record = decode_record();
  record.problems[0].kernels[0].name = "evil\x1b[2J\nname";
  EXPECT_THAT(sweep_text(record), Not(HasSubstr("\x1b")));
  record.problems[0].no_winner = "a\x1b]0;title\x07";
  record.problems[0].confirmations.clear();
  EXPECT_THAT(sweep_text(record), Not(HasSubstr("\x07")));
}

TEST(SweepReportTest, Csv) {
  const std::string csv = sweep_csv(decode_record());
  EXPECT_THAT(
      csv,
      HasSubstr("m1_qkv,m1_qkv a=f32 b=f32 out=f32 accumulate=f32 layout=tn constant=b,decode,1,"));
  EXPECT_THAT(csv, HasSubstr(",openblas/gemm mine/skinny,tied,mine/skinny,9.9977"));
  const std::vector<std::string_view> lines = split(csv, '\n');
  ASSERT_EQ(lines.size(), 5u);
}

RunRecord race_record(double yours) {
  return assay::testing::make_record(
      {assay::testing::make_problem("m16", {{"openblas", "gemm", KernelRole::stock, 16.9},
                                            {"my", "my_gemm", KernelRole::user, yours},
                                            {"onednn", "matmul", KernelRole::stock, 17.4}})});
}

TEST(RaceReportTest, TheVerdictOfARace) {
  EXPECT_EQ(race_text(race_record(17.8), {{}, "runs/0413-my_gemm/record.json"}),
            R"(proving   3 kernels: 3 right
racing    openblas (1), onednn (1), yours                              12 rounds
verdict   slower than the best stock kernel: 0.949 x [0.948, 0.950]
          role           kernel           us      rate  of ceiling
          yours          my/my_gemm     17.8  119 GB/s  65 % read
          winner, stock  openblas/gemm  16.9  125 GB/s  68 % read
record    runs/0413-my_gemm/record.json   (anyone can `assay replay` it)
)");
}

// What is part of assay is never called stock.
TEST(RaceReportTest, AVerdictAgainstAssaysOwnCallsNobodyStock) {
  ProblemRecord problem =
      assay::testing::make_problem("m16", {{"native_cpu", "rows", KernelRole::ours, 9},
                                           {"native_cpu", "dots", KernelRole::ours, 8.9},
                                           {"my", "my_gemm", KernelRole::user, 20}});
  Confirmation& confirmation = problem.confirmations[0];
  confirmation.candidate = assay::testing::id_of("my", "my_gemm");
  RunOptions options;
  options.rules = kRulesWithoutStock;
  confirmation.conclusion = conclude(problem, confirmation, options);
  const PairVerdict* headline = problem.headline();
  ASSERT_NE(headline, nullptr);
  EXPECT_EQ(headline->other, assay::testing::id_of("native_cpu", "dots"));
  const std::string text = race_text(assay::testing::make_record({problem}));
  EXPECT_THAT(text, HasSubstr("(no stock kernel takes this\n          problem)"));
  EXPECT_THAT(text, HasSubstr("\n          ours    native_cpu/dots"));
}

// Beside a verdict on the pool it is one more line; alone, it is the verdict.
TEST(RaceReportTest, AVerdictAgainstAKernelThatTheUserNamed) {
  const stats::Verdict verdict = {
      .word = stats::Word::faster, .ratio = 1.5, .low = 1.4, .high = 1.6, .margin = 0.01};
  const RaceReportOptions options{.against = {{"m16", {"my/naive", verdict}}}};
  const std::string beside = race_text(race_record(15), options);
  EXPECT_THAT(beside, HasSubstr("verdict   faster than the best stock kernel: 1.1"));
  EXPECT_THAT(beside, HasSubstr("\nagainst   faster than my/naive: 1.50 x [1.40, 1.60]\n"));

  RunRecord alone = assay::testing::make_record({assay::testing::make_problem(
      "m16", {{"my", "once", KernelRole::user, 10}, {"my", "naive", KernelRole::user, 15}})});
  EXPECT_THAT(race_text(alone), HasSubstr("verdict   none: no stock kernel takes"));
  const std::string why = "\n          no stock kernel takes this problem";
  EXPECT_THAT(race_text(alone, options),
              AllOf(HasSubstr("verdict   faster than my/naive: 1.50 x [1.40, 1.60]\n"),
                    HasSubstr("winner, yours  my/once"), HasSubstr("yours          my/naive"),
                    HasSubstr(why), Not(HasSubstr("none:")), Not(HasSubstr("against   "))));
  alone.problems[0].operation = "user:softmax@1a2b3c4d5e6f {}";
  EXPECT_THAT(race_text(alone), HasSubstr("verdict   none: nobody else computes what you"));
  EXPECT_THAT(race_text(alone, options), Not(HasSubstr("stock")));
}

// So that nobody reads it as a claim on single elements.
TEST(RaceReportTest, AVerdictOfAKernelThatIsRightByNormsSaysSo) {
  RunRecord record = race_record(15);
  record.problems[0].kernels[1].proof->error_bound = ErrorBound::normwise;
  const std::string text = race_text(record);
  EXPECT_THAT(text, HasSubstr("3 kernels: 3 right (1 of them normwise)\n"));
  EXPECT_THAT(text, HasSubstr("] (right,\n          normwise)\n"));
  const std::string sweep = sweep_text(record);
  EXPECT_THAT(sweep, HasSubstr("my/my_gemm (normwise)"));
  EXPECT_THAT(sweep_csv(record), HasSubstr(",normwise"));
  EXPECT_THAT(sweep_text(race_record(15)), Not(HasSubstr("normwise")));
}

TEST(RaceReportTest, TheDefaultIsNamedWhereItIsNotTheBestStock) {
  RunRecord record = race_record(15);
  record.problems[0].confirmations[0].baseline = testing::id_of("onednn", "matmul");
  const std::string text = race_text(record);
  EXPECT_THAT(text, HasSubstr("faster than the best stock kernel: 1.1"));
  EXPECT_THAT(text, HasSubstr("\n          default        onednn/matmul  17.4"));
}

TEST(RaceReportTest, ADefaultThatIsFasterThanTheBestStockIsExplained) {
  RunRecord record = race_record(15);
  Confirmation& confirmation = record.problems[0].confirmations[0];
  EXPECT_THAT(race_text(record), Not(HasSubstr("has the smaller median")));
  for (Conclusion::Time& time : confirmation.conclusion.times)
    if (time.id == assay::testing::id_of("onednn", "matmul")) time.median_us = 16.2;
  const std::string text = race_text(record);
  EXPECT_THAT(text, HasSubstr("onednn/matmul has the smaller median, 16.2 us: the verdict is"));
}

TEST(RaceReportTest, WhatMadeTheMachineUncertainIsSaid) {
  RunRecord record = race_record(15);
  record.environment.warnings = {"1.9 other processes wanted to run"};
  EXPECT_THAT(race_text(record), HasSubstr("\nwarning   1.9 other processes wanted to run\n"));
}

TEST(RaceReportTest, SameSaysWhatWouldHaveShown) {
  EXPECT_THAT(race_text(race_record(16.9)), HasSubstr("same as the best stock kernel: 1.000 x ["));
  EXPECT_THAT(race_text(race_record(16.9)), HasSubstr("up would have"));
}

TEST(RaceReportTest, ABoundIsNoInterval) {
  RunRecord record = race_record(160);
  Conclusion& conclusion = record.problems[0].confirmations[0].conclusion;
  stats::Verdict& verdict = conclusion.headline->verdict;
  verdict = {.word = stats::Word::slower, .ratio = 0.04, .low = 0, .high = 0.04, .margin = 0.01};
  for (Conclusion::Time& time : conclusion.times)
    time.is_disturbed = time.id == conclusion.headline->candidate;
  const std::string text = race_text(record);
  EXPECT_THAT(text, HasSubstr("slower than the best stock kernel, by at least 25.0 x\n"));
  EXPECT_THAT(text, HasSubstr("  <= 160  "));
  EXPECT_THAT(text, Not(HasSubstr("- us")));
  EXPECT_THAT(sweep_text(record), HasSubstr("slower than best stock <= 0.040"));
  EXPECT_THAT(sweep_text(record), HasSubstr("\n<=: no burst of it was undisturbed"));
}

TEST(RaceReportTest, UnsureSaysWhatWouldHelp) {
  RunRecord record = race_record(16);
  Confirmation& confirmation = record.problems[0].confirmations[0];
  for (ProcessSamples& process : confirmation.processes)
    for (KernelSamples& samples : process.kernels) samples.clean.assign(samples.clean.size(), 0);
  confirmation.conclusion = conclude(record.problems[0], confirmation, record.options);
  std::string text = race_text(record);
  std::ranges::replace(text, '\n', ' ');
  EXPECT_THAT(text, HasSubstr("less load on the machine"));
}

TEST(RaceReportTest, UnsureSaysWhy) {
  RunRecord record = race_record(16);
  Confirmation& confirmation = record.problems[0].confirmations[0];
  confirmation.processes.resize(3);
  confirmation.conclusion = conclude(record.problems[0], confirmation, record.options);
  const std::string text = race_text(record);
  EXPECT_THAT(text, HasSubstr("unsure against the best stock kernel; "));
}

TEST(RaceReportTest, AKernelThatFellHasItsEndingForAVerdict) {
  RunRecord record = race_record(17.8);
  KernelOutcome& yours = record.problems[0].kernels[1];
  yours.ending = ending::Mismatch{"NaN in a padded row"};
  yours.proof->right = false;
  const std::string text = race_text(record);
  EXPECT_THAT(text, HasSubstr("3 kernels: 2 right, 1 wrong (my_gemm)"));
  EXPECT_THAT(text, HasSubstr("verdict   none: yours gave wrong results: NaN in a padded row"));
  yours.ending = ending::BuildFailure{"my.cc:3: expected ';'"};
  EXPECT_THAT(race_text(record), HasSubstr("none: yours did not compile: my.cc:3"));
  yours.ending = ending::Timeout{"verify", 2};
  EXPECT_THAT(race_text(record), HasSubstr("none: yours ran past 2.00 s while it was proven"));
}

TEST(RaceReportTest, WhatWasNoticedOfTheUsersKernelsIsSaid) {
  RunRecord record = race_record(17.8);
  record.problems[0].kernels[0].findings = {{"of_others", "is for the report"}};
  record.problems[0].kernels[1].findings = {{"float_control", "it switched rounding"}};
  const std::string text = race_text(record);
  EXPECT_THAT(text, HasSubstr("finding   my/my_gemm: float_control: it switched rounding"));
  EXPECT_THAT(text, Not(HasSubstr("of_others")));
}

Comparison sample_comparison() {
  const RunRecord record = assay::testing::make_record();
  const RecordLookup lookup =
      [&](const std::string&, const std::string&) -> Result<const RunRecord*> { return &record; };
  const auto file = [&](const std::string& provider) {
    return ResultsFile{provider + "_results.json",
                       assay::testing::results_of(record, provider, "record.json")};
  };
  ProviderResults deepep;
  deepep.provider = "deepep";
  for (const char* name : {"m1_qkv", "m4_up"}) {
    ProviderResult result;
    result.name = name;
    result.kernel = "my_kernel_sm90_128x256x64";
    result.runtime_ms = 0.008;
    result.tflops = 0.524;
    deepep.results.push_back(result);
  }
  CompareOptions options;
  options.requirements.require = {"mine"};
  const auto comparison = compare(
      file("openblas"), std::vector<ResultsFile>{file("mine"), {"deepep_results.json", deepep}},
      lookup, options);
  EXPECT_TRUE(comparison.has_value());
  return *comparison;
}

TEST(CompareReportTest, TheTableInEightyColumns) {
  const std::string text = compare_text(sample_comparison());
  EXPECT_LE(widest_line(text), 80);
  EXPECT_EQ(text, R"(baseline openblas  (openblas_results.json), margin 1 %
  provider  kernel                 TFLOP/s    us  speed-up          verdict
m1_qkv
  openblas  gemm                     0.419  10.0  1.00              baseline
  mine      skinny                   0.461  9.09  1.10 [1.10 1.10]  faster
  deepep    my_kernel_..28x256x64    0.524  8.00  1.25              unproven
m4_up
  openblas  gemm                     0.419  10.0  1.00              baseline
  mine      skinny                   0.420  10.0  1.00 [1.00 1.00]  same (0.1 %)
  deepep    my_kernel_..28x256x64    0.524  8.00  1.25              unproven
m64_down
  openblas  gemm                     0.419  10.0  1.00              baseline
  mine      skinny                   0.398  10.5  0.95 [0.95 0.95]  slower

mine against openblas: geometric mean 1.01 over 3 problems, 3 of them from
  samples
deepep against openblas: geometric mean 1.25 over 2 problems, 0 of them from
  samples
unproven deepep: deepep_results.json holds numbers without a record
held: mine beats openblas on m1_qkv by more than 1 % (faster: 1.100 [1.099,
  1.101])
refuted: mine beats openblas on m4_up by more than 1 % (same: 1.000 [0.999,
  1.001])
refuted: mine beats openblas on m64_down by more than 1 % (slower: 0.950 [0.949,
  0.950])
missing: deepep_results.json: deepep has no result for m64_down
)");
}

TEST(CompareReportTest, WiderTerminalsMarkdownAndCsv) {
  const Comparison comparison = sample_comparison();
  EXPECT_THAT(compare_text(comparison, {160, false}),
              HasSubstr("deepep    my_kernel_sm90_128x256x64    0.524  8.00  1.251"));
  EXPECT_THAT(compare_text(comparison, {80, true}), HasSubstr("\x1b[31mrefuted\x1b[0m: mine"));
  EXPECT_THAT(
      compare_markdown(comparison),
      HasSubstr("| m1\\_qkv | mine | skinny | 0.461 | 9.09 | 1.100 [1.099 1.101] | faster |"));
  const std::string csv = compare_csv(comparison);
  EXPECT_THAT(csv, HasSubstr("m1_qkv,m1_qkv,openblas,gemm,"));
  EXPECT_THAT(csv, HasSubstr(",false,unproven,,,,deepep_results.json holds numbers"));
}

TEST(CompareReportTest, RecomputeListsDifferencesOrSaysThatThereAreNone) {
  RunRecord record = assay::testing::make_record();
  EXPECT_EQ(recompute_text("r.json", recompute(record)),
            "r.json: every word is what the samples say\n");
  record.problems[0].confirmations[0].conclusion.winner = testing::id_of("openblas", "gemm");
  EXPECT_THAT(
      recompute_text("r.json", recompute(record), {200, false}),
      HasSubstr("r.json: m1_qkv: winner: the record says 'openblas/gemm', the evidence says "
                "'mine/skinny'"));
}

TEST(WordsTest, NumbersAsPeopleReadThem) {
  EXPECT_EQ(thousands(0), "0");
  EXPECT_EQ(thousands(999), "999");
  EXPECT_EQ(thousands(1804), "1,804");
  EXPECT_EQ(thousands(-1234567), "-1,234,567");
  EXPECT_EQ(significant(500), "500");
  EXPECT_EQ(significant(99.96), "100");
  EXPECT_EQ(significant(0.52), "0.520");
  EXPECT_EQ(significant(0.00012), "0.00012");
  EXPECT_EQ(microseconds(0), "-");
  EXPECT_EQ(percent(0.004), "0.4 %");
  EXPECT_EQ(percent(0.123), "12 %");
  EXPECT_EQ(ratio_decimals(0.01), 2);
  EXPECT_EQ(ratio_decimals(0.005), 3);
  EXPECT_EQ(ratio_decimals(0.1), 2);
  EXPECT_EQ(ratio_decimals(0), 2);
}

TEST(WordsTest, SameAndUnsureCarryWhatCouldHaveBeenShown) {
  stats::Verdict verdict{.word = stats::Word::same,
                         .ratio = 1,
                         .low = 0.99,
                         .high = 1.01,
                         .margin = 0.01,
                         .smallest_detectable = 0.0123,
                         .processes = 7,
                         .reason = ""};
  EXPECT_EQ(word_and_limit(verdict), "same (1.2 %)");
  verdict.word = stats::Word::unsure;
  EXPECT_EQ(word_and_limit(verdict), "unsure (1.2 %)");
  verdict.word = stats::Word::slightly_faster;
  EXPECT_EQ(word_and_limit(verdict), "slightly faster");
  verdict.word = stats::Word::unsure;
  verdict.smallest_detectable = std::numeric_limits<double>::infinity();
  EXPECT_EQ(word_and_limit(verdict), "unsure");
  EXPECT_EQ(against(stats::Word::same, "it"), "same as it");
  EXPECT_EQ(against(stats::Word::slightly_slower, "it"), "slightly slower than it");
}

}  // namespace
}  // namespace assay::report
