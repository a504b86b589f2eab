#include "assay/record/record.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/record/testing/sample_record.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Result<RunRecord> read_json(const Json& json) {
  const auto document = parse_json_document(dump_pretty(json), "r.json");
  if (!document) return fail(document.error());
  return read_record(*document);
}

std::string error_of(const Json& json) {
  const auto read = read_json(json);
  return read ? "no error" : read.error().message;
}

TEST(RecordTest, ReadsBackExactlyWhatItWrote) {
  RunRecord record = testing::make_record();
  record.findings = {{"cache_unproven", "cold was not colder than warm"}};
  record.problems[0].weight = 32;
  record.options.model = "8B/config.json";
  record.options.tensor_parallel = 2;
  record.model = model_times(record);
  ASSERT_EQ(record.model.size(), 1u);
  record.problems[0].kernels[0].findings = {{"nondeterministic", "two launches differed"}};
  record.problems[0].counts[testing::id_of("mine", "skinny")] = {
      100, 3e9, {{"page_faults", 0.5}}, {{"cycles", "no"}}};
  record.problems[0].profiles[testing::id_of("mine", "skinny")] = {
      "ncu 2025.3.1", {"ncu", "--csv"}, "ncu-1.csv", "", "", 3, {{"gemm", {{"x.sum", 1.5}}}}};
  record.problems[0].own_clock =
      OwnClock{"a", "b", {{"a", 100, 2, 1400, 1500, 1}, {"b", 90, 2.1, 0, 0, 0.5}}};
  const Json written = to_json(record);
  const auto read = read_json(written);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE(to_json(*read) == written);
  EXPECT_EQ(read->problems[0].own_clock, record.problems[0].own_clock);
  EXPECT_EQ(read->problems[1].own_clock, std::nullopt);
  EXPECT_EQ(read->problems[0].counts, record.problems[0].counts);
  EXPECT_EQ(read->problems[0].profiles, record.problems[0].profiles);
  EXPECT_EQ(read->environment, record.environment);
  EXPECT_TRUE(read->problems[0].kernels == record.problems[0].kernels);
  EXPECT_TRUE(read->problems[1].confirmations[0].processes ==
              record.problems[1].confirmations[0].processes);
  EXPECT_EQ(read->options, record.options);
  EXPECT_EQ(read->totals, record.totals);
  EXPECT_EQ(read->model, record.model);
}

// Most kernels promise what all did before there was a choice: of these records say nothing.
TEST(RecordTest, AnErrorBoundIsThereWhereItIsNotTheUsualOne) {
  RunRecord record = testing::make_record();
  ProofSummary& proof = *record.problems[0].kernels[1].proof;
  EXPECT_EQ(proof.word(), "right");
  proof.error_bound = ErrorBound::normwise;
  EXPECT_EQ(proof.word(), "right, normwise");
  Json json = to_json(record);
  Json& kernels = json["problems"][0]["kernels"];
  EXPECT_FALSE(kernels[0]["proof"].contains("error"));
  EXPECT_EQ(kernels[1]["proof"]["error"], "normwise");
  const auto read = read_json(json);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->problems[0].kernels == record.problems[0].kernels);
  kernels[1]["proof"]["error"] = "none";
  EXPECT_THAT(error_of(json), HasSubstr("problems[0].kernels[1].proof.error: no bound of errors is "
                                        "called 'none'; write elementwise or normwise"));
}

TEST(RecordTest, EveryEndingSurvives) {
  const std::vector<Ending> endings = {
      ending::Timed{},
      ending::Refusal{{{"divisibility", "k=100 is not a multiple of 8"}}},
      ending::BuildFailure{"my.cc:3: expected ';'"},
      ending::Mismatch{"out[0,3] = nan"},
      ending::Crash{11, 0, "verify", "boom\n"},
      ending::Timeout{"race", 2.5},
      ending::OutOfMemory{"bind", 1 << 20},
      ending::DeviceLost{"the GPU fell off the bus"},
      ending::Violation{"writes_outside", "4 bytes after out"},
      ending::NotReached{"budget"}};
  ASSERT_EQ(endings.size(), std::variant_size_v<Ending>);
  RunRecord record = testing::make_record();
  record.problems.resize(1);
  record.problems[0].confirmations.clear();
  const KernelOutcome outcome = record.problems[0].kernels[0];
  record.problems[0].kernels.clear();
  for (const Ending& ending : endings) {
    KernelOutcome copy = outcome;
    copy.ending = ending;
    copy.id = std::string(ending_name(ending));
    record.problems[0].kernels.push_back(copy);
  }
  const auto read = read_json(to_json(record));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  for (std::size_t i = 0; i < endings.size(); ++i) {
    EXPECT_EQ(read->problems[0].kernels[i].ending, endings[i]) << ending_name(endings[i]);
    EXPECT_NE(ending_sentence(endings[i]), "");
  }
  EXPECT_EQ(
      ending_sentence(ending::Crash{11, 0, "verify", ""}),
      "crashed while it was proven (SIGSEGV): it read or wrote memory that is not there, such "
      "as far outside its buffers");
  EXPECT_EQ(ending_sentence(ending::Crash{0, 3, "", ""}), "crashed (exit code 3)");
}

TEST(RecordTest, UnknownFieldsAreAcceptedAndUnknownVersionsAreNot) {
  Json json = to_json(testing::make_record());
  json["later"] = {{"invented", true}};
  json["problems"][0]["also"] = 3;
  EXPECT_TRUE(read_json(json).has_value());
  json["schema"] = "assay.record/2";
  EXPECT_THAT(error_of(json), HasSubstr("a newer assay wrote this file"));
  json["schema"] = "something";
  EXPECT_THAT(error_of(json), HasSubstr("assay.record/1"));
  json.erase("schema");
  EXPECT_THAT(error_of(json), HasSubstr("schema"));
}

// Written by earlier versions, which never set two of them, and the third always to the baseline.
TEST(RecordTest, FieldsThatAreGoneAreReadOver) {
  const Json now = to_json(testing::make_record());
  Json json = now;
  json["interrupted"] = true;
  json["problems"][0]["flips"] = {{{"spacing", "isolated"}, {"ratio", 1.04}}};
  Json& confirmation = json["problems"][0]["confirmations"][0];
  confirmation["incumbent"] = confirmation["baseline"];
  const auto read = read_json(json);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE(to_json(*read) == now);
}

TEST(RecordTest, WrongFieldsAreNamedWithFileAndLine) {
  const Json good = to_json(testing::make_record());
  const auto with = [&](const char* pointer, Json value) {
    Json json = good;
    json[Json::json_pointer(pointer)] = std::move(value);
    return error_of(json);
  };
  const std::string process = "/problems/0/confirmations/0/processes/2";
  EXPECT_THAT(with("/problems/1/kernels/0/role", "stolen"), HasSubstr("stock, ours, user"));
  EXPECT_THAT(with("/problems/1/kernels/0/role", "stolen"), StartsWith("r.json:"));
  EXPECT_THAT(with("/problems/1/kernels/0/ending", {{"kind", "vanished"}}), HasSubstr("vanished"));
  EXPECT_THAT(with("/problems/1/flops", -1), HasSubstr("problems[1].flops"));
  EXPECT_THAT(with("/problems/1/name", "a b"), HasSubstr("a b"));
  EXPECT_THAT(with("/options/margin", 0), HasSubstr("options.margin"));
  EXPECT_THAT(with("/options/confidence", 1), HasSubstr("options.confidence"));
  EXPECT_THAT(with("/trust", "high"), HasSubstr("device_code"));
  EXPECT_THAT(with("/problems", 3), HasSubstr("problems"));
  EXPECT_THAT(with((process + "/kernels/0/burst_ns/3").c_str(), -5), HasSubstr("burst_ns[3]"));
  EXPECT_THAT(with((process + "/kernels/0/burst_ns/3").c_str(), 1.5), HasSubstr("burst_ns[3]"));
  EXPECT_THAT(with((process + "/kernels/0/burst_ns").c_str(), std::vector<int>(50, 1)),
              HasSubstr("50 bursts"));
  EXPECT_THAT(with((process + "/kernels/0/spoiled").c_str(), {40}), HasSubstr("round 40"));
  EXPECT_THAT(with((process + "/kernels/0/launches").c_str(), 0), HasSubstr("launches"));
  EXPECT_THAT(with((process + "/kernels/1/id").c_str(), testing::id_of("mine", "skinny")),
              HasSubstr("twice"));
  EXPECT_THAT(with((process + "/kernels/1/id").c_str(), "ghost"), HasSubstr("no kernel"));
  EXPECT_THAT(with((process + "/placement/0").c_str(), 4), HasSubstr("placement 4 of 4"));
  EXPECT_THAT(with((process + "/order/0").c_str(), {0, 7}), HasSubstr("order names kernel 7"));
  EXPECT_THAT(with("/problems/0/confirmations/0/leader", "ghost"), HasSubstr("leader names ghost"));
  EXPECT_THAT(with("/problems/0/confirmations/0/conclusion/headline/word", "quicker"),
              HasSubstr("quicker"));
  EXPECT_THAT(with("/problems/0/confirmations/0/conclusion/headline/low", 99),
              HasSubstr("lies above"));
  EXPECT_THAT(with("/problems/1/key", good["problems"][0]["key"]), HasSubstr("twice"));
}

TEST(RecordTest, AnyFieldOfAnyTypeIsReadOrRefusedAndNeverCrashes) {
  RunRecord record = testing::make_record();
  record.problems.resize(1);
  for (ProcessSamples& process : record.problems[0].confirmations[0].processes) {
    process.placement.resize(2);
    process.order.resize(2);
    for (KernelSamples& kernel : process.kernels) {
      kernel.burst_ns.resize(2);
      kernel.clean.resize(2);
    }
  }
  const Json good = to_json(record);
  int refused = 0;
  const std::vector<Json> values = {nullptr, true, -1, 1e300, "x", Json::array(), Json::object()};
  const Json flat = good.flatten();
  for (const auto& [pointer, unused] : flat.items()) {
    for (const Json& value : values) {
      Json json = good;
      json[Json::json_pointer(pointer)] = value;
      const auto read = read_json(json);
      if (!read) {
        ++refused;
        EXPECT_THAT(read.error().message, StartsWith("r.json:")) << pointer;
      }
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(RecordTest, SamplesStayOnOneLine) {
  const RunRecord record = testing::make_record();
  const std::string text = record_text(record);
  EXPECT_THAT(text, HasSubstr("\"placement\": [0,0,"));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 3000);
  const auto parsed = parse_json(text, "r.json");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_TRUE(*parsed == to_json(record));
}

TEST(RecordTest, FilesPlainAndCompressed) {
  const auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder.has_value());
  const RunRecord record = testing::make_record();
  for (const char* name : {"record.json", "record.json.zst"}) {
    const std::string path = folder->file(name);
    ASSERT_TRUE(write_record(path, record).has_value());
    const auto read = load_record(path);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_TRUE(to_json(*read) == to_json(record));
  }
  const auto plain = read_file(folder->file("record.json"));
  const auto packed = read_file(folder->file("record.json.zst"));
  ASSERT_TRUE(plain && packed);
  EXPECT_LT(packed->size() * 2, plain->size());

  const std::string cut = folder->file("cut.json.zst");
  std::ofstream(cut, std::ios::binary) << packed->substr(0, packed->size() / 2);
  EXPECT_EQ(load_record(cut).error().code, ErrorCode::invalid_input);
  const std::string junk = folder->file("junk.json.zst");
  std::ofstream(junk, std::ios::binary) << "not zstd at all";
  EXPECT_THAT(load_record(junk).error().message, HasSubstr("not zstd"));
  EXPECT_EQ(load_record(folder->file("absent.json")).error().code, ErrorCode::not_found);
}

TEST(RecordTest, InMemoryAsInACompressedFile) {
  const RunRecord record = testing::make_record();
  const auto bytes = compressed_record(record);
  ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
  EXPECT_LT(bytes->size(), record_text(record).size() / 2);
  const auto read = read_compressed_record(*bytes, "run x");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(record_text(*read), record_text(record));
  const auto cut = read_compressed_record(bytes->substr(0, bytes->size() / 2), "run x");
  ASSERT_FALSE(cut.has_value());
  EXPECT_THAT(cut.error().message, StartsWith("run x: "));
}

TEST(RecordTest, ProblemsThatComeOneByOneGiveTheSameText) {
  const auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder.has_value());
  RunRecord whole = testing::make_record();
  whole.problems[1].kernels.clear();
  whole.problems[1].confirmations.clear();
  RunRecord head = whole;
  for (ProblemRecord& problem : head.problems) problem = headline_of(std::move(problem));
  const std::string path = folder->file("record.json");
  const EachProblem all = [&](const auto& take) -> Status {
    for (const ProblemRecord& problem : whole.problems) ASSAY_TRY(take(problem));
    return {};
  };
  ASSERT_TRUE(write_record(path, head, all));
  EXPECT_EQ(*read_file(path), record_text(whole));

  // Where one cannot be had, the file stays as it was.
  const EachProblem broken = [&](const auto& take) -> Status {
    ASSAY_TRY(take(whole.problems[0]));
    return fail(ErrorCode::machine, "gone");
  };
  EXPECT_EQ(write_record(path, head, broken).error().message, "gone");
  EXPECT_EQ(*read_file(path), record_text(whole));

  whole.problems.clear();
  ASSERT_TRUE(write_record(path, whole));
  EXPECT_TRUE(load_record(path)) << *read_file(path);
}

TEST(RecordTest, TextIsIndentedAndKeysAreSorted) {
  RunRecord record = testing::make_record();
  record.problems.resize(1);
  record.problems[0].kernels.resize(1);
  record.problems[0].confirmations.clear();
  const std::string text = record_text(record);
  EXPECT_THAT(text, StartsWith("{\n  \"assay_build\": \"release\",\n"));
  EXPECT_THAT(text, HasSubstr("  \"problems\": [\n    {\n      \"bytes\": "));
  EXPECT_THAT(text,
              HasSubstr("      \"kernels\": [\n        {\n          \"artifact_facts\": {},\n"));
  EXPECT_THAT(text,
              HasSubstr("          \"metadata\": {\n            \"design\": {\n"
                        "              \"tile_m\": 8\n            },\n            \"family\": "));
  EXPECT_THAT(text, HasSubstr("        }\n      ],\n      \"key\": "));
  EXPECT_THAT(text, HasSubstr("    }\n  ],\n  \"schema\": "));
}

TEST(RecordTest, AHeadlineHoldsWhatWasConcludedAndWhoItNames) {
  const RunRecord record = testing::make_record();
  ProblemRecord whole = record.problems[0];
  whole.kernels.push_back(whole.kernels[0]);
  whole.kernels.back().id = "dropped";
  whole.confirmations.push_back(whole.confirmations[0]);
  const ProblemRecord headline = headline_of(whole);
  EXPECT_EQ(headline.kernels.size(), 3u);
  EXPECT_EQ(headline.find("dropped"), nullptr);
  ASSERT_EQ(headline.confirmations.size(), 1u);
  EXPECT_TRUE(headline.confirmations[0].processes.empty());
  ASSERT_NE(headline.winner(), nullptr);
  EXPECT_EQ(headline.winner()->label(), whole.winner()->label());
  EXPECT_EQ(headline.headline()->verdict.word, whole.headline()->verdict.word);
  EXPECT_EQ(headline.refusals, whole.refusals);
}

TEST(CompactJsonTest, HoldsWhatItWasGivenAndSharesWhatIsEqual) {
  EXPECT_EQ(CompactJson().json(), Json::object());
  EXPECT_EQ(CompactJson(), CompactJson(Json::object()));
  const Json value = {{"b", {1, 2.5, "x"}}, {"a", nullptr}};
  EXPECT_EQ(CompactJson(value).json(), value);
  JsonPool pool;
  EXPECT_EQ(pool.share(value), pool.share(Json::parse(value.dump())));
  EXPECT_FALSE(pool.share(value) == pool.share({{"b", 1}}));
}

TEST(CompactJsonTest, MetadataIsOneObjectHoweverItIsHeld) {
  const MetadataJson whole(Json{{"family", "f"}, {"design", {{"tile", 8}}}});
  const MetadataJson parts(CompactJson(Json{{"family", "f"}}),
                           CompactJson(Json{{"design", {{"tile", 8}}}}));
  EXPECT_EQ(whole, parts);
  EXPECT_EQ(parts.json(), whole.json());
  EXPECT_EQ(parts.member("family"), "f");
  EXPECT_EQ(parts.member("design")["tile"], 8);
  EXPECT_TRUE(parts.member("rule").is_null());
  EXPECT_FALSE(whole == MetadataJson());
  EXPECT_TRUE(MetadataJson(Json(3)).member("family").is_null());
}

TEST(RecordTest, SeedsAreCommittedToByTheirBytes) {
  // SHA-256 of the three bytes "abc" (FIPS 180-2).
  EXPECT_EQ(*commitment_of("616263"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(commitment_of("61626").error().code, ErrorCode::invalid_input);
  EXPECT_EQ(commitment_of("6g").error().code, ErrorCode::invalid_input);
  EXPECT_EQ(commitment_of("").error().code, ErrorCode::invalid_input);
}

TEST(EnvironmentTest, DifferencesAreOnlyWhatBothSidesRecorded) {
  const Environment one = testing::make_environment();
  Environment other = one;
  EXPECT_TRUE(environment_differences(one, other).empty());
  other.libraries[0].version = "0.3.26";
  other.os_kernel = "6.12";
  ASSERT_EQ(environment_differences(one, other).size(), 1u);
  EXPECT_THAT(environment_differences(one, other)[0], HasSubstr("0.3.26"));
  other.device.id = "cpu-9999";
  EXPECT_EQ(environment_differences(one, other).size(), 2u);
  EXPECT_TRUE(environment_differences(one, Environment{}).empty());
}

}  // namespace
}  // namespace assay
