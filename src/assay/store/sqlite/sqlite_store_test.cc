#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/record/testing/sample_record.h"
#include "assay/store/sqlite/database.h"
#include "assay/store/sqlite/schema.h"
#include "assay/store/store.h"
#include "testing/store_conformance.h"

ASSAY_STORE_CONFORMANCE(sqlite, [](const std::string& folder) { return folder + "/runs.db"; });
ASSAY_STORE_CONFORMANCE(sqlite_by_name,
                        [](const std::string& folder) { return "sqlite:" + folder + "/runs.db"; });

namespace assay::store::sqlite {
namespace {

using ::testing::HasSubstr;

class SqliteStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TemporaryDirectory::create();
    ASSERT_TRUE(folder.has_value());
    folder_ = std::move(*folder);
    path_ = folder_->file("runs.db");
  }

  void put_one() {
    const auto store = open_store(path_, Access::write);
    ASSERT_TRUE(store.has_value()) << store.error().message;
    const auto put = (*store)->put(assay::testing::make_record());
    ASSERT_TRUE(put.has_value()) << put.error().message;
  }

  void execute(const std::string& sql) {
    const auto database = Database::open(path_, true);
    ASSERT_TRUE(database.has_value());
    const Status status = (*database)->execute(sql);
    ASSERT_TRUE(status.has_value()) << status.error().message;
  }

  std::string bytes() const { return *read_file(path_); }

  // Opening must fail so, and change nothing.
  void expect_refused(const std::string& sentence, ErrorCode code = ErrorCode::invalid_input) {
    const std::string before = bytes();
    for (const Access access : {Access::read, Access::write}) {
      const auto store = open_store(path_, access);
      ASSERT_FALSE(store.has_value());
      EXPECT_EQ(store.error().code, code);
      EXPECT_THAT(store.error().message, HasSubstr(sentence));
      EXPECT_THAT(store.error().message, HasSubstr(path_));
    }
    EXPECT_EQ(bytes(), before);
  }

  std::optional<TemporaryDirectory> folder_;
  std::string path_;
};

TEST_F(SqliteStoreTest, AFileThatIsNoDatabaseIsLeftAlone) {
  ASSERT_TRUE(write_file_atomic(path_, std::string(4096, 'x')).has_value());
  expect_refused("is no store of assay");
}

TEST_F(SqliteStoreTest, TheDatabaseOfAnotherProgramIsLeftAlone) {
  execute("CREATE TABLE photos (name TEXT)");
  expect_refused("is a database of another program");
}

TEST_F(SqliteStoreTest, AStoreOfTheFutureIsLeftAlone) {
  put_one();
  execute("PRAGMA user_version = 99");
  expect_refused("written by a newer assay (its tables have version 99");
}

TEST_F(SqliteStoreTest, ADamagedStoreIsASentenceAndIsLeftAsItIs) {
  put_one();
  std::string damaged = bytes();
  ASSERT_GT(damaged.size(), 8192u);
  // All pages but the first, which says what the tables are.
  for (std::size_t at = 4096; at < damaged.size(); ++at) damaged[at] = '\x5a';
  ASSERT_TRUE(write_file_atomic(path_, damaged).has_value());
  const auto store = open_store(path_, Access::write);
  const Result<std::vector<RunEntry>> runs =
      store ? (*store)->runs() : Result<std::vector<RunEntry>>(fail(store.error()));
  ASSERT_FALSE(runs.has_value());
  EXPECT_EQ(runs.error().code, ErrorCode::invalid_input);
  EXPECT_THAT(runs.error().message, HasSubstr("is damaged"));
  EXPECT_THAT(runs.error().message, HasSubstr("left as it is"));
  if (store) {
    EXPECT_FALSE((*store)->put(assay::testing::make_record()).has_value());
  }
  EXPECT_EQ(bytes(), damaged);
}

TEST_F(SqliteStoreTest, ARecordThatWasEditedInTheStoreIsRefused) {
  put_one();
  execute("UPDATE runs SET hash = 'another'");
  const auto store = open_store(path_, Access::read);
  const auto run = (*store)->get(assay::testing::make_record().id);
  ASSERT_FALSE(run.has_value());
  EXPECT_THAT(run.error().message, HasSubstr("edited since"));
}

TEST_F(SqliteStoreTest, AnOlderStoreIsBroughtForwardAndLosesNothing) {
  put_one();
  // Version 1 had no indices.
  execute(
      "DROP INDEX runs_created; DROP INDEX results_run; DROP INDEX results_problem; "
      "DROP INDEX results_key; DROP INDEX results_kernel; DROP INDEX results_kernel_id; "
      "PRAGMA user_version = 1");
  const auto store = open_store(path_, Access::write);
  ASSERT_TRUE(store.has_value()) << store.error().message;
  EXPECT_EQ(record_text(*(*store)->get(assay::testing::make_record().id)),
            record_text(assay::testing::make_record()));
  const auto database = Database::open(path_, false);
  EXPECT_EQ((*database)->integer("PRAGMA user_version"), newest_schema());
  EXPECT_EQ((*database)->integer("SELECT count(*) FROM sqlite_master WHERE name = 'results_key'"),
            1);
}

TEST_F(SqliteStoreTest, ReadingMakesNoStoreOfWhatIsNone) {
  for (const bool empty : {true, false}) {
    ASSERT_TRUE(write_file_atomic(path_, "").has_value());
    // A database, with nothing in it.
    if (!empty) execute("VACUUM");
    const std::string before = bytes();
    const auto store = open_store(path_, Access::read);
    ASSERT_FALSE(store.has_value());
    EXPECT_EQ(store.error().code, ErrorCode::invalid_input);
    EXPECT_THAT(store.error().message, HasSubstr("no store of assay"));
    EXPECT_EQ(bytes(), before);
  }
}

TEST_F(SqliteStoreTest, ReadingAnOlderStoreLeavesItAsItIs) {
  put_one();
  execute("DROP INDEX results_key; PRAGMA user_version = 1");
  const std::string before = bytes();
  {
    const auto store = open_store(path_, Access::read);
    ASSERT_TRUE(store.has_value()) << store.error().message;
    EXPECT_EQ((*store)->runs()->size(), 1u);
  }
  EXPECT_EQ(bytes(), before);
  for (const char* left : {"-wal", "-shm"})
    EXPECT_FALSE(std::filesystem::exists(path_ + left)) << left;
}

TEST_F(SqliteStoreTest, AStoreThatLostATableOrAColumnIsDamaged) {
  for (const char* loss : {"DROP TABLE results", "ALTER TABLE runs DROP COLUMN suite"}) {
    put_one();
    execute(loss);
    const auto store = open_store(path_, Access::read);
    ASSERT_TRUE(store.has_value()) << store.error().message;
    const auto results = (*store)->history({.suite = "decode"});
    ASSERT_FALSE(results.has_value());
    EXPECT_EQ(results.error().code, ErrorCode::invalid_input);
    EXPECT_THAT(results.error().message, HasSubstr("is damaged (no such "));
    std::filesystem::remove(path_);
  }
}

TEST_F(SqliteStoreTest, WhoWaitsTooLongForAnotherIsTold) {
  put_one();
  const auto holder = Database::open(path_, false);
  auto held = Transaction::begin(**holder);
  ASSERT_TRUE(held.has_value());
  const auto second = Database::open(path_, false, 50);
  ASSERT_TRUE(second.has_value());
  const auto waited = Transaction::begin(**second);
  ASSERT_FALSE(waited.has_value());
  EXPECT_EQ(waited.error().code, ErrorCode::busy);
  EXPECT_THAT(waited.error().message, HasSubstr("held by another process for 50.0 ms"));
  // Reading goes on beside a writer.
  const auto reader = open_store(path_, Access::read);
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  EXPECT_EQ((*reader)->runs()->size(), 1u);
}

TEST_F(SqliteStoreTest, WhatIsNotCommittedIsNotThere) {
  put_one();
  {
    const auto database = Database::open(path_, false);
    auto transaction = Transaction::begin(**database);
    ASSERT_TRUE((*database)->execute("DELETE FROM results").has_value());
  }
  const auto database = Database::open(path_, false);
  EXPECT_EQ((*database)->integer("SELECT count(*) FROM results"), 9);
}

TEST_F(SqliteStoreTest, PlacesThatAreNoFilesAreSentences) {
  const auto folder = open_store(folder_->path(), Access::write);
  ASSERT_FALSE(folder.has_value());
  EXPECT_THAT(folder.error().message, HasSubstr("is no file"));
  const auto nowhere = open_store(folder_->path() + "/no/such/folder.db", Access::write);
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_EQ(nowhere.error().code, ErrorCode::invalid_input);
  const auto remote = open_store("postgres://host/runs", Access::write);
  ASSERT_FALSE(remote.has_value());
  EXPECT_THAT(remote.error().message,
              HasSubstr("this build has no store 'postgres'; it has: sqlite"));
}

}  // namespace
}  // namespace assay::store::sqlite
