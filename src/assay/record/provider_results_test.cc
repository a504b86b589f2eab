#include "assay/record/provider_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/record/testing/sample_record.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Result<ProviderResults> read_text(std::string_view text) {
  const auto document = parse_json_document(text, "p.json");
  if (!document) return fail(document.error());
  return read_provider_results(*document);
}

std::string error_of(std::string_view text) {
  const auto read = read_text(text);
  return read ? "no error" : read.error().message;
}

// One result with `fields` beside the four that are needed.
std::string file_with(std::string_view fields) {
  return fmt::format(R"({{"provider": "deepep",
 "results": [
  {{{}}}]}})",
                     fields);
}
constexpr std::string_view kGood =
    R"("name": "decode", "tflops": 500.0, "runtime_ms": 0.55, "kernel": "mine")";

TEST(ProviderResultsTest, FourFieldsSuffice) {
  const auto read = read_text(file_with(kGood));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->provider, "deepep");
  ASSERT_NE(read->find("decode"), nullptr);
  EXPECT_EQ(read->find("decode")->tflops, 500);
  EXPECT_EQ(read->find("decode")->line, 3);
  EXPECT_FALSE(read->environment.has_value());
}

TEST(ProviderResultsTest, TheUpstreamSchemaIsAccepted) {
  const auto read = read_text(R"({"provider": "cutlass", "binary": "/opt/cutlass_profiler",
    "results": [{"name": "decode_mlp_m4096_n4096_k8192", "m": 4096, "n": 4096, "k": 8192,
      "dtype": "fp16", "kernel": "cutlass3x_sm90", "runtime_ms": 0.55, "gflops": 499800.0,
      "tflops": 499.8, "csv": "a.gemm.csv", "log": "a.log", "anything": [1, {"x": null}],
      "metadata": {"grid": [132, 1, 1]}}],
    "failed": ["prefill_x"]})");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const ProviderResult& result = read->results[0];
  EXPECT_EQ(result.dtypes.at("a"), "f16");
  EXPECT_EQ(result.dtypes.at("out"), "f16");
  EXPECT_EQ(result.m, 4096);
  EXPECT_EQ(result.csv, "a.gemm.csv");
  EXPECT_EQ(result.metadata["grid"][0], 132);
  EXPECT_THAT(read->failed, ElementsAre("prefill_x"));
}

TEST(ProviderResultsTest, ReasonsAndTheOneTypeOfAProblemAreWrittenForOthersToRead) {
  const auto read = read_text(R"({"provider": "cutlass", "results": [
      {"name": "one", "tflops": 1.0, "runtime_ms": 1.0, "kernel": "k", "dtype": "fp16"},
      {"name": "two", "tflops": 1.0, "runtime_ms": 1.0, "kernel": "k",
       "dtypes": {"a": "f16", "b": "f16", "out": "f32"}}],
    "failed": ["three"], "reasons": {"three": "it was killed"}})");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->reasons.at("three"), "it was killed");
  const Json written = to_json(*read);
  EXPECT_EQ(written["reasons"]["three"], "it was killed");
  EXPECT_EQ(written["results"][0]["dtype"], "f16");
  EXPECT_FALSE(written["results"][1].contains("dtype"));
}

TEST(ProviderResultsTest, BrokenFilesAreRefusedWithTheirPlace) {
  const auto with = [](std::string_view fields) { return error_of(file_with(fields)); };
  EXPECT_THAT(with(R"("name": "d", "tflops": 500.0, "runtime_ms": 0.55)"), HasSubstr("kernel"));
  EXPECT_THAT(with(R"("name": "d", "tflops": 500.0, "runtime_ms": 0.55)"), StartsWith("p.json:3"));
  EXPECT_THAT(with(R"("name": "d", "tflops": "500", "runtime_ms": 1, "kernel": "k")"),
              HasSubstr("results[0].tflops"));
  EXPECT_THAT(with(R"("name": "d", "tflops": -1, "runtime_ms": 1, "kernel": "k")"),
              HasSubstr("positive"));
  EXPECT_THAT(with(R"("name": "d", "tflops": 1, "runtime_ms": 0, "kernel": "k")"),
              HasSubstr("runtime_ms"));
  EXPECT_THAT(with(R"("name": "d", "tflops": NaN, "runtime_ms": 1, "kernel": "k")"),
              StartsWith("p.json:3"));
  EXPECT_THAT(with(R"("name": "d", "tflops": 1e999, "runtime_ms": 1, "kernel": "k")"),
              StartsWith("p.json:3"));
  EXPECT_THAT(with(R"("name": "d e", "tflops": 1, "runtime_ms": 1, "kernel": "k")"),
              HasSubstr("name"));
  EXPECT_THAT(with(R"("name": "d", "tflops": 1, "runtime_ms": 1, "kernel": "")"),
              HasSubstr("kernel"));
  EXPECT_THAT(with(fmt::format("{}, \"m\": 0", kGood)), HasSubstr("results[0].m"));
  EXPECT_THAT(with(fmt::format("{}, \"m\": 4.5", kGood)), HasSubstr("results[0].m"));
  EXPECT_THAT(with(fmt::format("{}, \"metadata\": 3", kGood)), HasSubstr("metadata"));
  EXPECT_THAT(with(fmt::format("{}, \"name\": \"x\"", kGood)), HasSubstr("name"));
  EXPECT_THAT(error_of("[]"), StartsWith("p.json:1"));
  EXPECT_THAT(error_of("{}"), HasSubstr("provider"));
  EXPECT_THAT(error_of(R"({"provider": "x", "results": {}})"), HasSubstr("results"));
  EXPECT_THAT(error_of(R"({"provider": "x", "results": [], "failed": [3]})"), HasSubstr("failed"));
  EXPECT_THAT(error_of(R"({"schema": "assay.provider_results/9", "provider": "x", "results": []})"),
              HasSubstr("assay.provider_results/1"));
}

TEST(ProviderResultsTest, TheSameProblemTwiceNeedsSomethingToTellThemApart) {
  const auto two = [](std::string_view extra) {
    return fmt::format(R"({{"provider": "x", "results": [{{{0}}}, {{{0}{1}}}]}})", kGood, extra);
  };
  EXPECT_THAT(error_of(two("")), HasSubstr("twice"));
  EXPECT_EQ(error_of(two(R"(, "condition": "cache=warm,spacing=isolated,launch=plain")")),
            "no error");
  EXPECT_EQ(error_of(two(R"(, "dtype": "bf16")")), "no error");
}

TEST(ProviderResultsTest, NumbersThatContradictEachOtherAreRefused) {
  const auto with = [](std::string_view fields) { return error_of(file_with(fields)); };
  EXPECT_THAT(with(R"("name": "d", "tflops": 900, "runtime_ms": 0.55, "kernel": "k",
                      "m": 4096, "n": 4096, "k": 8192)"),
              HasSubstr("499.8"));
  EXPECT_THAT(with(fmt::format("{}, \"gflops\": 500", kGood)), HasSubstr("contradict"));
  // Rounded to three decimals, as a small problem's numbers may be.
  EXPECT_EQ(with(R"("name": "d", "tflops": 0.002, "runtime_ms": 0.001, "kernel": "k",
                    "m": 10, "n": 10, "k": 10)"),
            "no error");
}

// What a file says of one result with these fields.
std::string said_of(std::string_view name, double tflops, double runtime_ms,
                    std::string_view more = "") {
  return error_of(
      file_with(fmt::format(R"("name": "{}", "tflops": {}, "runtime_ms": {}, "kernel": "k"{})",
                            name, tflops, runtime_ms, more)));
}

TEST(ProviderResultsTest, SizesInANameAreCheckedLikeFields) {
  constexpr std::string_view kName = "decode_mlp_m4_n4096_k1024";
  EXPECT_EQ(said_of(kName, 0.061, 0.55), "no error");
  EXPECT_THAT(said_of(kName, 0.061, 550), HasSubstr("of the name"));      // Microseconds.
  EXPECT_THAT(said_of(kName, 0.061, 0.00055), HasSubstr("of the name"));  // Seconds.
  EXPECT_THAT(said_of(kName, 61, 0.55), HasSubstr("0.061"));              // GFLOP/s.
  EXPECT_THAT(said_of("M4-N4096-K1024", 61, 0.55), HasSubstr("0.061"));
  EXPECT_THAT(said_of("up.m4n4096k1024", 61, 0.55), HasSubstr("0.061"));
  EXPECT_THAT(said_of(kName, 0.061, 0.55, ", \"m\": 8"), HasSubstr("m 8 and the m 4"));
  EXPECT_EQ(said_of("l8_m4_n4096_k1024", 0.488, 0.55), "no error") << "a batch";
  EXPECT_EQ(said_of("b8_m4_n4096_k1024", 0.061, 0.55), "no error") << "no batch";
  EXPECT_EQ(said_of("kimi_k2_m4_n4096_k1024", 0.061, 0.55), "no error");
  // A name that does not tell all, or whose letters are parts of words.
  EXPECT_EQ(said_of("m4_up", 61, 0.55), "no error");
  EXPECT_EQ(said_of("form4_in4_k8", 61, 0.55), "no error");
}

TEST(ProviderResultsTest, TrafficInAnotherUnitIsRefused) {
  constexpr std::string_view kSizes = R"(, "m": 4, "n": 4096, "k": 1024, "dtype": "f32", "gbps": )";
  const auto with = [&](std::string_view gbps) {
    return said_of("d", 0.061, 0.55, std::string(kSizes) + std::string(gbps));
  };
  EXPECT_EQ(with("30.6"), "no error");
  EXPECT_THAT(with("30600"), HasSubstr("gbps 30600 does not follow"));
  EXPECT_THAT(with("0.0306"), HasSubstr("gbps 0.0306 does not follow"));
}

TEST(ProviderResultsTest, ANameIsAResultOrFailed) {
  EXPECT_THAT(error_of(R"({"provider": "x", "results": [
    {"name": "d", "tflops": 1, "runtime_ms": 1, "kernel": "k"}],
    "failed": ["e", "d"]})"),
              StartsWith("p.json:3: failed[1]: 'd' has a result on line 2"));
}

TEST(ProviderResultsTest, ComplexNumbersAreFourTimesTheWork) {
  constexpr std::string_view kSizes = R"(, "m": 4, "n": 4096, "k": 1024, "dtype": "cf32")";
  EXPECT_EQ(said_of("d", 0.244, 0.55, kSizes), "no error");
  EXPECT_THAT(said_of("d", 0.061, 0.55, kSizes), HasSubstr("0.244"));
}

TEST(ProviderResultsTest, FactorsOfTheOutputArePartOfTheProblem) {
  const auto two = [](std::string_view extra) {
    return error_of(
        fmt::format(R"({{"provider": "x", "results": [{{{0}}}, {{{0}{1}}}]}})", kGood, extra));
  };
  EXPECT_EQ(two(R"(, "beta": 1)"), "no error");
  EXPECT_THAT(two(R"(, "alpha": 1, "beta": 0)"), HasSubstr("twice"));
}

TEST(ProviderResultsTest, WrittenFilesReadBack) {
  const auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder.has_value());
  const RunRecord record = testing::make_record();
  BestOfProviders best;
  for (const ProblemRecord& problem : record.problems) best.add(problem, "record.json");
  std::vector<std::string> providers;
  for (const ProviderResults& one : best.take(record.environment))
    providers.push_back(one.provider);
  EXPECT_THAT(providers, ElementsAre("mine", "onednn", "openblas"));
  const ProviderResults results = testing::results_of(record, "mine", "record.json");
  ASSERT_EQ(results.results.size(), 3u);
  const ProviderResult& first = results.results[0];
  EXPECT_EQ(first.kernel_id, testing::id_of("mine", "skinny"));
  EXPECT_NEAR(first.runtime_ms, 10e-3 / 1.1, 1e-4);
  EXPECT_NEAR(first.tflops, 2.0 * 4 * 1024 * 512 / (first.runtime_ms * 1e-3) * 1e-12, 1e-9);
  EXPECT_EQ(first.verdict->word, stats::Word::faster);
  const std::string path = folder->file("mine_results.json");
  ASSERT_TRUE(write_provider_results(path, results).has_value());
  const auto read = load_provider_results(path);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(results));
  EXPECT_EQ(read->results[0].condition, "cache=cold_weights,spacing=back_to_back,launch=plain");
}

TEST(ProviderResultsTest, ProblemsWithoutATimedKernelAreListedAsFailed) {
  RunRecord record = testing::make_record();
  record.problems[1].kernels[0].ending = ending::Mismatch{"wrong"};
  const ProviderResults results = testing::results_of(record, "mine", "record.json");
  EXPECT_EQ(results.results.size(), 2u);
  EXPECT_THAT(results.failed, ElementsAre("m4_up"));
}

}  // namespace
}  // namespace assay
