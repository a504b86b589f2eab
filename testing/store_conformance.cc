#include "testing/store_conformance.h"

#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "assay/record/testing/sample_record.h"

namespace assay::testing {
namespace {

using store::Access;
using store::Put;
using store::Query;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RunRecord run_of(const std::string& id, const std::string& created, const std::string& suite) {
  RunRecord record = make_record();
  record.id = id;
  record.created = created;
  record.options.suite = suite;
  return record;
}

template <class Entry>
std::vector<std::string> ids(const Result<std::vector<Entry>>& entries) {
  std::vector<std::string> found;
  EXPECT_TRUE(entries.has_value()) << (entries ? "" : entries.error().message);
  if (!entries) return found;
  for (const Entry& entry : *entries) {
    if constexpr (std::is_same_v<Entry, store::RunEntry>)
      found.push_back(entry.id);
    else
      found.push_back(entry.run + ":" + entry.problem + ":" + entry.kernel);
  }
  return found;
}

}  // namespace

StoreSubject store_subject(std::string name,
                           std::function<std::string(const std::string& folder)> place) {
  return {std::move(name), std::move(place)};
}

void StoreConformance::SetUp() {
  auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder.has_value()) << folder.error().message;
  folder_ = std::move(*folder);
  place_ = GetParam().place(folder_->path());
}

std::unique_ptr<store::Store> StoreConformance::open() {
  auto opened = store::open_store(place_, Access::write);
  EXPECT_TRUE(opened.has_value()) << (opened ? "" : opened.error().message);
  return opened ? std::move(*opened) : nullptr;
}

}  // namespace assay::testing

namespace {

using namespace assay;           // NOLINT: the tests are of the suite's global name.
using namespace assay::testing;  // NOLINT

TEST_P(AssayStoreConformance, ARunComesBackAsItWasPut) {
  const RunRecord record = make_record();
  {
    const auto store = open();
    ASSERT_NE(store, nullptr);
    const auto put = store->put(record, "artifacts/decode/record.json");
    ASSERT_TRUE(put.has_value()) << put.error().message;
    EXPECT_EQ(*put, Put::added);
  }
  const auto store = open();
  const auto read = store->get(record.id);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(record_text(*read), record_text(record));
  const auto runs = store->runs();
  ASSERT_EQ(runs->size(), 1u);
  EXPECT_EQ(runs->front(), store::run_entry(record, "artifacts/decode/record.json"));
  EXPECT_EQ(runs->front().problems, 3);
}

TEST_P(AssayStoreConformance, PuttingARunTwiceIsPuttingItOnce) {
  const auto store = open();
  ASSERT_TRUE(store->put(make_record()).has_value());
  const auto again = store->put(make_record());
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(*again, Put::present);
  EXPECT_EQ(store->runs()->size(), 1u);
  EXPECT_EQ(store->history({})->size(), store::result_entries(make_record()).size());
}

TEST_P(AssayStoreConformance, ARecordIsNeverEdited) {
  const auto store = open();
  ASSERT_TRUE(store->put(make_record()).has_value());
  RunRecord edited = make_record();
  edited.problems[0].confirmations[0].processes[0].kernels[0].burst_ns[0] += 1;
  const auto put = store->put(edited);
  ASSERT_FALSE(put.has_value());
  EXPECT_EQ(put.error().code, ErrorCode::invalid_input);
  EXPECT_THAT(put.error().message, HasSubstr("a record is never edited"));
  EXPECT_EQ(record_text(*store->get(edited.id)), record_text(make_record()));
}

TEST_P(AssayStoreConformance, ARunWithoutAnIdIsRefused) {
  RunRecord record = make_record();
  record.id.clear();
  const auto put = open()->put(record, "x.json");
  ASSERT_FALSE(put.has_value());
  EXPECT_THAT(put.error().message, HasSubstr("x.json"));
}

TEST_P(AssayStoreConformance, RunsAreFoundByWhatWasAskedOfThem) {
  const auto store = open();
  RunRecord race = make_record({make_problem("p1", {{"openblas", "gemm", KernelRole::stock, 10},
                                                    {"mine", "special", KernelRole::user, 9}})});
  race.id = "race-1";
  race.kind = "race";
  race.created = "2024-03-01T12:00:00Z";
  race.options.suite = "";
  ASSERT_TRUE(store->put(run_of("new", "2024-05-02T00:00:00Z", "decode")).has_value());
  ASSERT_TRUE(store->put(run_of("old", "2024-01-31T08:00:00Z", "decode")).has_value());
  ASSERT_TRUE(store->put(race).has_value());
  ASSERT_TRUE(store->put(run_of("odd", "2024-05-02T00:00:00Z", "odd")).has_value());
  EXPECT_THAT(ids(store->runs()), ElementsAre("odd", "new", "race-1", "old"))
      << "newest first; of one time the one put last";
  EXPECT_THAT(ids(store->runs({.suite = "decode"})), ElementsAre("new", "old"));
  EXPECT_THAT(ids(store->runs({.kind = "race"})), ElementsAre("race-1"));
  EXPECT_THAT(ids(store->runs({.since = "2024-03-01"})), ElementsAre("odd", "new", "race-1"));
  EXPECT_THAT(ids(store->runs({.since = "2024-03-01T12:00:01Z"})), ElementsAre("odd", "new"));
  EXPECT_THAT(ids(store->runs({.until = "2024-03-01"})), ElementsAre("old"));
  EXPECT_THAT(ids(store->runs({.limit = 2})), ElementsAre("odd", "new"));
  EXPECT_THAT(ids(store->runs({.problem = "p1"})), ElementsAre("race-1"));
  EXPECT_THAT(ids(store->runs({.kernel = "mine/special"})), ElementsAre("race-1"));
  EXPECT_THAT(ids(store->runs({.suite = "odd", .problem = "m4_up"})), ElementsAre("odd"));
  EXPECT_THAT(ids(store->runs({.suite = "nosuch"})), IsEmpty());
}

TEST_P(AssayStoreConformance, TheHistoryOfAProblemAndOfAKernel) {
  const auto store = open();
  ASSERT_TRUE(store->put(run_of("first", "2024-01-01T00:00:00Z", "decode")).has_value());
  ASSERT_TRUE(store->put(run_of("second", "2024-02-01T00:00:00Z", "decode")).has_value());
  EXPECT_THAT(ids(store->history({.problem = "m1_qkv", .winners = true})),
              ElementsAre("second:m1_qkv:skinny", "first:m1_qkv:skinny"));
  EXPECT_THAT(ids(store->history(
                  {.problem = "m1_qkv a=f32 b=f32 out=f32 accumulate=f32 layout=tn constant=b",
                   .kernel = "matmul"})),
              ElementsAre("second:m1_qkv:matmul", "first:m1_qkv:matmul"));
  EXPECT_THAT(ids(store->history({.kernel = "openblas/gemm", .since = "2024-01-15"})),
              ElementsAre("second:m1_qkv:gemm", "second:m4_up:gemm", "second:m64_down:gemm"));
  EXPECT_THAT(ids(store->history({.kernel = "onednn/gemm"})), IsEmpty());
  EXPECT_THAT(ids(store->history({.kernel = "matmul", .limit = 1})),
              ElementsAre("second:m1_qkv:matmul"));
  const auto entries = store->history({.kernel = "mine/skinny", .limit = 3});
  const auto expected = store::result_entries(run_of("second", "2024-02-01T00:00:00Z", "decode"));
  ASSERT_EQ(entries->size(), 3u);
  EXPECT_EQ((*entries)[0], expected[0]);
  EXPECT_EQ((*entries)[0].word, "faster");
  EXPECT_NEAR((*entries)[0].ratio, 1.1, 0.01);
  EXPECT_TRUE((*entries)[0].winner);
}

TEST_P(AssayStoreConformance, KernelsAreFoundByTheFirstDigitsOfTheirIds) {
  RunRecord record = make_record();
  record.problems.resize(1);
  ProblemRecord& problem = record.problems[0];
  problem.confirmations.clear();
  problem.kernels[0].id = "0123456789abcdef00";
  problem.kernels[1].id = "0123456789abcdff00";
  const auto store = open();
  ASSERT_TRUE(store->put(record).has_value());
  EXPECT_EQ(store->history({.kernel = "0123456789abc"})->size(), 2u);
  EXPECT_EQ(store->history({.kernel = "0123456789abcde"})->size(), 1u);
  EXPECT_EQ(store->history({.kernel = "0123456"})->size(), 0u) << "too few digits to mean one";
}

TEST_P(AssayStoreConformance, TextIsKeptAsItIs) {
  RunRecord record = make_record();
  const std::string hostile = "'; DROP TABLE runs; -- \"%_\x1b[2J \u202e \u884c\u5217";
  record.id = hostile;
  record.problems[0].kernels[0].name = hostile;
  const auto store = open();
  ASSERT_TRUE(store->put(record).has_value());
  EXPECT_THAT(ids(store->runs({.kernel = hostile})), ElementsAre(hostile));
  EXPECT_EQ(store->history({.kernel = hostile})->front().kernel, hostile);
  EXPECT_TRUE(store->get(hostile).has_value());
}

TEST_P(AssayStoreConformance, WritersSideBySideLoseNothing) {
  constexpr int kWriters = 3, kRuns = 6;
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w)
    writers.emplace_back([&, w] {
      // Each opens the store, too: that is where a new one is made.
      const auto store = open();
      ASSERT_NE(store, nullptr);
      for (int r = 0; r < kRuns; ++r) {
        const auto put =
            store->put(run_of(fmt::format("run-{}-{}", w, r), "2024-01-01T00:00:00Z", "decode"));
        EXPECT_TRUE(put.has_value()) << put.error().message;
      }
    });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(open()->runs()->size(), static_cast<std::size_t>(kWriters * kRuns));
}

TEST_P(AssayStoreConformance, WhatIsNotThereIsSaid) {
  const auto absent = store::open_store(place_, Access::read);
  ASSERT_FALSE(absent.has_value());
  EXPECT_EQ(absent.error().code, ErrorCode::missing);
  const auto store = open();
  ASSERT_NE(store, nullptr);
  EXPECT_TRUE(store::open_store(place_, Access::read).has_value());
  const auto run = store->get("nosuch");
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().code, ErrorCode::not_found);
  EXPECT_THAT(run.error().message, HasSubstr("nosuch"));
}

TEST_P(AssayStoreConformance, TimesMustBeTimes) {
  const auto store = open();
  for (const char* wrong :
       {"yesterday", "2024-1-1", "2024-01-01 00:00:00", "2024-01-01T00:00:00"}) {
    const auto runs = store->runs({.since = wrong});
    ASSERT_FALSE(runs.has_value()) << wrong;
    EXPECT_EQ(runs.error().code, ErrorCode::invalid_input);
    EXPECT_THAT(runs.error().message, HasSubstr("write 2025-01-31"));
    EXPECT_FALSE(store->history({.until = wrong}).has_value());
  }
}

}  // namespace
