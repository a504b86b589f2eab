#include "assay/record/profiler_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/record/csv.h"
#include "assay/record/testing/sample_record.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::string_view kHeader =
    "Problem,Provider,OperationKind,Operation,Disposition,Status,m,n,k,A,B,C,D,accum,batch_count,"
    "Bytes,Flops,Flops/Byte,Runtime,GB/s,GFLOPs\n";

TEST(ProfilerCsvTest, ReadsTheReportAndPicksTheFastestThatRan) {
  const std::string text =
      std::string(kHeader) +
      "1,CUTLASS,gemm,slow,passed,success,16,32,64,f16:row,f16:column,void:row,f16:row,f32,1,"
      "1000,65536,65,0.002,1,32.768\n"
      "1,CUTLASS,gemm,\"quick, \"\"quoted\"\"\",passed,success,16,32,64,f16:row,f16:column,"
      "void:row,f16:row,f32,1,1000,65536,65,0.001,2,65.536\r\n"
      "1,CUTLASS,gemm,wrong,incorrect,success,16,32,64,f16:row,f16:column,void:row,f16:row,f32,1,"
      "1000,65536,65,0.0005,2,131\n"
      "1,CUTLASS,gemm,idle,not_run,invalid,8,8,8,f16:row,f16:column,void:row,f16:row,f32,1,0,0,0,"
      "0,0,0\n";
  const auto report = read_profiler_csv(text, "r.csv");
  ASSERT_TRUE(report.has_value()) << report.error().message;
  ASSERT_EQ(report->rows.size(), 4u);
  EXPECT_EQ(report->rows[1].operation, "quick, \"quoted\"");
  EXPECT_NEAR(*report->rows[0].gbps, 1.073741824, 1e-12);
  const std::vector<NamedSizes> names = {{"tiny", 16, 32, 64}, {"absent", 8, 8, 8}};
  const ProviderResults best = *best_rows(*report, names, "", "r.csv");
  ASSERT_EQ(best.results.size(), 1u);
  EXPECT_EQ(best.results[0].name, "tiny");
  EXPECT_EQ(best.results[0].kernel, "quick, \"quoted\"");
  EXPECT_EQ(best.results[0].layout, "tn");
  EXPECT_EQ(best.results[0].dtypes.at("out"), "f16");
  EXPECT_EQ(best.results[0].dtypes.at("accumulate"), "f32");
  EXPECT_NEAR(best.results[0].tflops, 0.065536, 1e-9);
  EXPECT_THAT(best.failed, ElementsAre("absent"));
}

// Rows of one problem, one text for the cells that differ each.
constexpr std::string_view kProblemHeader =
    "Operation,Disposition,Status,gemm_kind,m,n,k,A,B,D,alpha,beta,runtime_input_datatype_a,"
    "Runtime,"
    "GFLOPs\n";
std::string problem_row(std::string_view operation, std::string_view disposition,
                        std::string_view kind, std::string_view type, std::string_view scalars,
                        std::string_view runtime_type, std::string_view rates) {
  return fmt::format("{},{},success,{},256,512,1024,{}:row,{}:column,f16:row,{},{},{}\n", operation,
                     disposition, kind, type, type, scalars, runtime_type, rates);
}
Result<ProviderResults> best_of(const std::string& rows) {
  ASSAY_TRY(const auto report, read_profiler_csv(std::string(kProblemHeader) + rows, "r.csv"));
  return best_rows(report, {}, "", "r.csv");
}
constexpr std::string_view kRates = "0.03,8948";

TEST(ProfilerCsvTest, WhatWasNotVerifiedNeverBeatsWhatPassed) {
  const auto both =
      best_of(problem_row("quick", "not_verified", "universal", "f16", "1,0", "", "0.01,26844") +
              problem_row("slow", "passed", "universal", "f16", "1,0", "", kRates));
  ASSERT_TRUE(both) << both.error().message;
  ASSERT_EQ(both->results.size(), 1u);
  EXPECT_EQ(both->results[0].kernel, "slow");
  const auto alone =
      best_of(problem_row("quick", "not_verified", "universal", "f16", "1,0", "", kRates));
  EXPECT_EQ(alone->results[0].kernel, "quick");
}

TEST(ProfilerCsvTest, FactorsTypesAtRunTimeAndComplexNumbersMakeOtherProblems) {
  const auto count = [](const std::string& rows) {
    const auto best = best_of(rows);
    return best ? std::to_string(best->results.size()) : best.error().message;
  };
  const std::string plain = problem_row("p", "passed", "universal", "f8", "1,0", "", kRates);
  const auto other = [&](std::string_view scalars, std::string_view runtime_type) {
    return plain + problem_row("o", "passed", "universal", "f8", scalars, runtime_type, kRates);
  };
  EXPECT_EQ(count(other("1,0", "")), "1");
  EXPECT_EQ(count(other("1,0", "invalid")), "1");
  EXPECT_EQ(count(other("1,1", "")), "2");
  EXPECT_EQ(count(other("2.5,0", "")), "2");
  EXPECT_EQ(count(other("1+0i,0", "")), "1");
  EXPECT_EQ(count(other("1,0", "e5m2")), "2");
  EXPECT_THAT(count(other("1+2i,0", "")), HasSubstr("r.csv:3:"));
  EXPECT_THAT(count(other("one,0", "")), HasSubstr("alpha: 'one' is not a number"));
  const auto rate = [](std::string_view kind, std::string_view type) {
    const auto best = best_of(problem_row("c", "passed", kind, type, "1,0", "", "0.12,8948"));
    return best ? best->results[0].tflops : -1;
  };
  EXPECT_NEAR(rate("universal", "cf32"), 8.95, 0.01);
  EXPECT_NEAR(rate("planar_complex", "f16"), 8.95, 0.01);
  EXPECT_EQ(rate("universal", "f16"), -1) << "a fourth of the work contradicts the rate";
  EXPECT_THAT(count(problem_row("s", "passed", "sparse", "f16", "1,0", "", kRates)),
              HasSubstr("gemm_kind: rows of sparse kernels"));
}

TEST(ProfilerCsvTest, RowsThatDidNotRunMayHoldAnything) {
  const auto best = best_of(problem_row("n", "not_run", "universal", "f16", "1,0", "", "0,inf") +
                            problem_row("i", "not_run", "universal", "f16", "1,0", "", "inf,nan") +
                            problem_row("ok", "passed", "universal", "f16", "1,0", "", kRates));
  ASSERT_TRUE(best) << best.error().message;
  EXPECT_EQ(best->results[0].kernel, "ok");
  const auto told = best_of(problem_row("t", "passed", "universal", "f16", "1,0", "", "0.03,inf"));
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().message, HasSubstr("says that it ran"));
}

TEST(ProfilerCsvTest, SwappedOperandsAreTold) {
  const auto report =
      read_profiler_csv(std::string(kProblemHeader) +
                            problem_row("k", "passed", "universal", "f16", "1,0", "", kRates),
                        "r.csv");
  const std::vector<NamedSizes> names = {{"wide", 512, 256, 1024}, {"other", 8, 8, 8}};
  const auto best = best_rows(*report, names, "", "r.csv");
  ASSERT_TRUE(best) << best.error().message;
  EXPECT_THAT(best->failed, ElementsAre("wide", "other"));
  EXPECT_THAT(best->reasons.at("wide"), HasSubstr("line 2 has m 256, n 512"));
  EXPECT_FALSE(best->reasons.contains("other"));
}

TEST(ProfilerCsvTest, TheRuntimeFollowsFromTheFlopsWhereItIsAbsent) {
  const auto report =
      read_profiler_csv("Operation,m,n,k,Best GFLOPs\nkern,100,100,100,2\n", "r.csv");
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_NEAR(report->rows[0].runtime_ms, 1.0, 1e-9);
  const ProviderResults best = *best_rows(*report, {}, "mine", "r.csv");
  EXPECT_EQ(best.provider, "mine");
  EXPECT_EQ(best.results[0].name, "gemm_m100_n100_k100");
}

TEST(ProfilerCsvTest, BrokenReportsAreRefusedWithTheirPlace) {
  const auto error = [](std::string_view text) {
    const auto rows = read_profiler_csv(text, "r.csv");
    return rows ? std::string("no error") : rows.error().message;
  };
  EXPECT_THAT(error(""), StartsWith("r.csv:1"));
  EXPECT_THAT(error("Operation,m,n\n"), HasSubstr("'k'"));
  EXPECT_THAT(error("Operation,m,n,k\n"), HasSubstr("runtime"));
  EXPECT_THAT(error("Operation,m,n,k,Runtime\nx,1,2\n"),
              HasSubstr("r.csv:2:5: 3 cells, the header has 5"));
  EXPECT_THAT(error("Operation,m,n,k,Runtime\nx,1,2,-3,1\n"), HasSubstr("r.csv:2:7: k: '-3'"));
  EXPECT_THAT(error("Operation,m,n,k,Runtime\nx,1,2,3,fast\n"), HasSubstr("Runtime: 'fast'"));
  EXPECT_THAT(error("Operation,m,n,k,Runtime\nx,1,2,3,-1\n"), HasSubstr("positive"));
  EXPECT_THAT(error("Operation,m,n,k,Runtime\nx,1,2,3,inf\n"), HasSubstr("positive"));
  EXPECT_THAT(error("Operation,m,n,k,Runtime\n,1,2,3,1\n"), HasSubstr("names the kernel"));
  EXPECT_THAT(error("OperationKind,Operation,m,n,k,Runtime\nconv2d,x,1,2,3,1\n"),
              HasSubstr("r.csv:2:1: OperationKind: 'conv2d' is no gemm"));
  // Who says that it ran has a time, and none that would have to be made up.
  const std::string rates = "Operation,Status,m,n,k,Runtime,GFLOPs\n";
  for (const char* none : {"nan", "0", "-0"}) {
    EXPECT_THAT(error(rates + "x,success,1,2,3," + none + ",5\n"),
                StartsWith("r.csv:2:17: Runtime: "));
    EXPECT_THAT(error(rates + "x,success,1,2,3,0.5," + none + "\n"),
                StartsWith("r.csv:2:21: GFLOPs: "));
    EXPECT_EQ(error(rates + "x,error_internal,1,2,3," + none + ",5\n"), "no error");
  }
  EXPECT_EQ(error(rates + "x,success,1,2,3,,5\n"), "no error");
  EXPECT_THAT(error("Operation,m,n,k,Runtime\n\"x,1,2,3,1\n"), HasSubstr("closing quote"));
  EXPECT_THAT(error(std::string("Operation,m,n,k\0,Runtime\n", 25)),
              StartsWith("r.csv:1:16: a zero byte"));
  EXPECT_THAT(error("Operation,m,n,k,m,Runtime\n"),
              StartsWith("r.csv:1:17: the column 'm' is there twice, first as number 2"));
  EXPECT_THAT(error("Operation,m,n,k,Runtime\n\"x\"y,1,2,3,1\n"),
              StartsWith("r.csv:2:4: text follows a closing quote"));
  EXPECT_THAT(error("Provider,Operation,m,n,k,Runtime\n../up,x,1,2,3,1\n"),
              StartsWith("r.csv:2:1: Provider: '../up' is not a provider's name"));
  EXPECT_THAT(error("name,Operation,m,n,k,Runtime\na b,x,1,2,3,1\n"),
              StartsWith("r.csv:2:1: name: 'a b' is not a problem's name"));
  // The cell's own line, not the row's, where a quoted one before it holds line ends.
  EXPECT_THAT(error("Operation,m,n,k,Runtime\n\"x\ny\",0,2,3,1\n"), StartsWith("r.csv:3:4: m:"));
  EXPECT_THAT(error(std::string(2000, ',')), HasSubstr("more than 1000 cells in one line"));
}

TEST(ProfilerCsvTest, MistakenUnitsAreFound) {
  const auto error = [](std::string_view row) {
    const auto report =
        read_profiler_csv(fmt::format("Operation,m,n,k,Runtime,GFLOPs\n{}\n", row), "r.csv");
    return report ? std::string("no error") : report.error().message;
  };
  EXPECT_EQ(error("x,1000,1000,1000,2,1000"), "no error");
  // Microseconds instead of milliseconds.
  EXPECT_THAT(error("x,1000,1000,1000,2000,1000"),
              StartsWith("r.csv:2:18: Runtime: 2000 ms and 1000 GFLOPs contradict each other"));
  // Seconds, however short.
  EXPECT_THAT(error("x,1000,1000,1000,2e-6,1000"), HasSubstr("contradict each other"));
  EXPECT_EQ(error("x,100,100,100,0.001,1900"), "no error");  // 0.0011 ms, cut off.
  EXPECT_THAT(error("x,1000000,1000000,1000,1e-9,"), HasSubstr("a unit is mistaken"));
  // What did not run may say anything.
  const auto idle = read_profiler_csv(
      "Operation,m,n,k,Disposition,Runtime,GFLOPs\nx,1000,1000,1000,not_run,2000,7\n", "r.csv");
  EXPECT_TRUE(idle.has_value());
}

TEST(ProfilerCsvTest, OneProviderOfSeveralIsChosen) {
  const auto report = read_profiler_csv(
      "Provider,Operation,m,n,k,Runtime\nCUTLASS,x,8,8,8,1\ncuBLAS,y,8,8,8,2\n", "r.csv");
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_THAT(best_rows(*report, {}, "", "r.csv").error().message,
              HasSubstr("cublas, cutlass; choose one: assay import --provider NAME"));
  EXPECT_THAT(best_rows(*report, {}, "cublast", "r.csv").error().message,
              HasSubstr("did you mean 'cublas'"));
  const ProviderResults best = *best_rows(*report, {}, "cublas", "r.csv");
  EXPECT_EQ(best.provider, "cublas");
  ASSERT_EQ(best.results.size(), 1u);
  EXPECT_EQ(best.results[0].kernel, "y");
}

TEST(ProfilerCsvTest, ProblemsThatDifferAreKeptApart) {
  const auto best = [](std::string_view text) {
    const auto report = read_profiler_csv(text, "r.csv");
    return report ? best_rows(*report, {}, "", "r.csv") : fail(report.error());
  };
  // Sums in f16 are no faster way to do the same.
  const auto sums = best(
      "Operation,m,n,k,A,B,D,accum,Runtime\n"
      "half,8,8,8,f16:row,f16:column,f16:row,f16,1\n"
      "full,8,8,8,f16:row,f16:column,f16:row,f32,2\n");
  ASSERT_TRUE(sums.has_value()) << sums.error().message;
  EXPECT_EQ(sums->results.size(), 2u);
  const auto batches = best("Operation,m,n,k,batch_count,Runtime\nx,8,8,8,1,1\nx,8,8,8,4,1\n");
  ASSERT_TRUE(batches.has_value());
  EXPECT_EQ(batches->results[1].name, "gemm_m8_n8_k8_l4");
  EXPECT_EQ(batches->results[1].gflops, 4 * *batches->results[0].gflops);
  EXPECT_THAT(best("name,Operation,m,n,k,Runtime\np,x,8,8,8,1\np,x,8,8,9,1\n").error().message,
              HasSubstr("r.csv:3: name: 'p' has other sizes in line 2"));
  const auto none = best("Operation,m,n,k,Disposition,Runtime\nx,8,8,8,incorrect,1\n");
  ASSERT_TRUE(none.has_value());
  EXPECT_THAT(none->results, IsEmpty());
  EXPECT_THAT(none->failed, ElementsAre("gemm_m8_n8_k8"));
}

// Through JSON as it is written, so that what a file cannot hold would be lost.
ProviderResults through_json(const ProviderResults& results) {
  const auto document = parse_json_document(dump_pretty(to_json(results)), "p.json");
  const auto read = read_provider_results(*document);
  EXPECT_TRUE(read.has_value()) << read.error().message;
  return read ? *read : ProviderResults();
}

ProviderResults from_csv(std::string_view text, const std::string& provider = {}) {
  const auto report = read_profiler_csv(text, "r.csv");
  EXPECT_TRUE(report.has_value()) << report.error().message;
  const auto best = best_rows(*report, {}, provider, "r.csv");
  EXPECT_TRUE(best.has_value()) << best.error().message;
  return best ? *best : ProviderResults();
}

TEST(ProfilerCsvTest, AReportSurvivesTheWayThroughJson) {
  // As the tool prints: Flops counts 2 (m n k + m n), GB/s counts GiB.
  const std::string text =
      "commit,Problem,Provider,OperationKind,Operation,Disposition,Status,m,n,k,A,B,C,D,accum,"
      "batch_count,cta_m,stages,Bytes,Flops,Flops/Byte,Runtime,GB/s,GFLOPs\n"
      "abc,1,CUTLASS,gemm,\"k,1\",passed,success,16,32,8,s8:row,s8:column,void:row,s8:row,s32,1,"
      "128,"
      "4,896,9216,10,0.002,0.417233,4.608\n";
  const ProviderResults once = through_json(from_csv(text));
  ASSERT_EQ(once.results.size(), 1u);
  // 2 m n k: what the results of all providers count.
  EXPECT_NEAR(once.results[0].tflops, 2.0 * 16 * 32 * 8 / 2e-6 * 1e-12, 1e-12);
  EXPECT_NEAR(*once.results[0].gbps, 0.417233 * 1.073741824, 1e-9);
  const auto csv = profiler_csv(std::vector{once});
  ASSERT_TRUE(csv.has_value()) << csv.error().message;
  const auto report = read_profiler_csv(*csv, "again.csv");
  ASSERT_TRUE(report.has_value()) << report.error().message;
  const auto cell = [&](std::string_view column) {
    const auto at = std::find(report->columns.begin(), report->columns.end(), column);
    return at == report->columns.end()
               ? "no column"
               : report->rows[0].cells[static_cast<std::size_t>(at - report->columns.begin())];
  };
  for (const auto& [column, was] :
       std::vector<std::pair<std::string, std::string>>{{"commit", "abc"},
                                                        {"Provider", "CUTLASS"},
                                                        {"Operation", "k,1"},
                                                        {"Disposition", "passed"},
                                                        {"m", "16"},
                                                        {"A", "s8:row"},
                                                        {"C", "void:row"},
                                                        {"accum", "s32"},
                                                        {"cta_m", "128"},
                                                        {"stages", "4"},
                                                        {"Bytes", "896"},
                                                        {"Flops", "9216"},
                                                        {"Flops/Byte", "10"},
                                                        {"Runtime", "0.002"},
                                                        {"GB/s", "0.417233"},
                                                        {"GFLOPs", "4.608"}})
    EXPECT_EQ(cell(column), was) << column;
  Json first = to_json(once), second = to_json(from_csv(*csv));
  for (Json* json : {&first, &second}) {
    // Which file, and columns that the report lacked.
    (*json)["results"][0].erase("csv");
    (*json)["results"][0].erase("metadata");
  }
  EXPECT_EQ(first, second);
}

TEST(ProfilerCsvTest, NamesAreNoFormulasAndNoEscapesAndComeBack) {
  ProviderResults results = testing::results_of(testing::make_record(), "openblas", "record.json");
  results.results.resize(1);
  for (const std::string kernel : {"=cmd|' /C calc'!A0", "@sum(1)", "+1+2", "'=1", "-1e3"}) {
    results.results[0].kernel = kernel;
    const auto csv = profiler_csv(std::vector{results});
    ASSERT_TRUE(csv.has_value()) << csv.error().message;
    for (const char* start : {",=", ",@", ",+", ",\"=", ",\"@", ",\"+"})
      EXPECT_EQ(csv->find(start), std::string::npos) << *csv;
    EXPECT_EQ(from_csv(*csv).results[0].kernel, kernel);
  }
  results.results[0].kernel = "a\x1b[31m\u202eb";
  results.results[0].metadata[std::string(kProfilerCells)] = {{"=tag", "x"}, {"beta", "-1"}};
  const auto csv = profiler_csv(std::vector{results});
  ASSERT_TRUE(csv.has_value()) << csv.error().message;
  EXPECT_THAT(*csv, HasSubstr("a\\x1b[31m\\u{202e}b"));
  EXPECT_THAT(*csv, HasSubstr(",'=tag,"));
  EXPECT_THAT(*csv, HasSubstr(",-1,"));
}

TEST(ProfilerCsvTest, ResultsOfARunBecomeAReportAndComeBack) {
  const ProviderResults results =
      testing::results_of(testing::make_record(), "openblas", "record.json");
  const auto csv = profiler_csv(std::vector{results});
  ASSERT_TRUE(csv.has_value()) << csv.error().message;
  EXPECT_THAT(*csv, HasSubstr("f32:row,f32:column,void:row,f32:row"));
  EXPECT_THAT(*csv, HasSubstr("gemm,gemm,passed,success"));
  const ProviderResults back = from_csv(*csv);
  EXPECT_EQ(back.provider, "openblas");
  ASSERT_EQ(back.results.size(), results.results.size());
  for (std::size_t i = 0; i < back.results.size(); ++i) {
    const ProviderResult &was = results.results[i], &is = back.results[i];
    EXPECT_EQ(is.name, was.name);
    EXPECT_EQ(is.kernel, was.kernel);
    EXPECT_EQ(is.runtime_ms, was.runtime_ms);
    EXPECT_NEAR(is.tflops, was.tflops, 1e-9 * was.tflops);
    EXPECT_NEAR(*is.gbps, *was.gbps, 1e-9 * *was.gbps);
    EXPECT_EQ(is.dtypes, was.dtypes);
    EXPECT_EQ(is.layout, was.layout);
  }
  ProviderResults bare = results;
  bare.results[0].m.reset();
  EXPECT_THAT(profiler_csv(std::vector{bare}).error().message,
              HasSubstr("m1_qkv of openblas has no m"));
}

}  // namespace
}  // namespace assay
