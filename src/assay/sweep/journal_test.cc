#include "assay/sweep/journal.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace assay::sweep {
namespace {

using ::testing::HasSubstr;

class JournalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryDirectory::create();
    ASSERT_TRUE(made);
    directory_.emplace(std::move(*made));
    folder_ = std::filesystem::path(directory_->path()) / "run";
    file_ = folder_ / "journal.jsonl";
  }
  Result<Journal> open(IfPresent if_present, const Json& header = {{"suite", "a"}}) {
    return Journal::open(folder_, header, if_present);
  }
  std::string content() const {
    auto text = read_file(file_.string());
    return text ? *text : "";
  }
  void append(const std::string& text) {
    std::ofstream(file_, std::ios::app | std::ios::binary) << text;
  }
  // A finished run of two lines.
  void write_run() {
    auto journal = open(IfPresent::refuse);
    ASSERT_TRUE(journal) << journal.error().message;
    ASSERT_TRUE(journal->add({{"line", "one"}}));
    ASSERT_TRUE(journal->add({{"line", "two"}}));
  }

  std::optional<TemporaryDirectory> directory_;
  std::filesystem::path folder_, file_;
};

TEST_F(JournalTest, WhatWasAddedIsThereWhenItIsResumed) {
  write_run();
  const auto journal = open(IfPresent::resume);
  ASSERT_TRUE(journal) << journal.error().message;
  ASSERT_EQ(journal->earlier().size(), 2u);
  EXPECT_EQ(journal->earlier()[1]["line"], "two");
  EXPECT_TRUE(journal->notes().empty());
  EXPECT_FALSE(journal->began().empty());
}

TEST_F(JournalTest, ARunThatIsThereIsNotTouchedUnasked) {
  write_run();
  const std::string before = content();
  const auto journal = open(IfPresent::refuse);
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::invalid_input);
  EXPECT_THAT(journal.error().message, HasSubstr("--resume"));
  EXPECT_EQ(content(), before);
}

TEST_F(JournalTest, FreshMovesTheOldRunAside) {
  write_run();
  const std::string before = content();
  const auto journal = open(IfPresent::fresh);
  ASSERT_TRUE(journal);
  EXPECT_TRUE(journal->earlier().empty());
  ASSERT_EQ(journal->notes().size(), 1u);
  EXPECT_EQ(*read_file((folder_.string() + ".old1") + "/journal.jsonl"), before);
}

TEST_F(JournalTest, ResumingNothingStartsAnewAndSaysSo) {
  const auto journal = open(IfPresent::resume);
  ASSERT_TRUE(journal);
  ASSERT_EQ(journal->notes().size(), 1u);
  EXPECT_THAT(journal->notes()[0], HasSubstr("starting anew"));
}

TEST_F(JournalTest, OnlyATornLastLineIsCutAndSaid) {
  write_run();
  const std::string whole = content();
  for (const std::string torn : {"{\"line\":\"thr", "{", "{\"line\":\"three\"}"}) {
    append(torn);
    {
      const auto journal = open(IfPresent::resume);
      ASSERT_TRUE(journal) << journal.error().message;
      EXPECT_EQ(journal->earlier().size(), 2u);
      ASSERT_EQ(journal->notes().size(), 1u);
      EXPECT_THAT(journal->notes()[0], HasSubstr("torn"));
    }
    EXPECT_EQ(content(), whole);
  }
}

TEST_F(JournalTest, DamageBeforeTheEndIsRefusedAndKept) {
  write_run();
  append("garbage\n{\"line\":\"four\"}\n");
  const std::string before = content();
  const auto journal = open(IfPresent::resume);
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message, HasSubstr(":4:"));
  EXPECT_EQ(content(), before);
}

TEST_F(JournalTest, AnotherRequestIsRefusedWithWhatDiffers) {
  write_run();
  const auto journal = open(IfPresent::resume, {{"suite", "b"}});
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::invalid_input);
  EXPECT_THAT(journal.error().message, HasSubstr("suite"));
}

TEST_F(JournalTest, TwoRunsDoNotShareAFolder) {
  const auto first = open(IfPresent::refuse);
  ASSERT_TRUE(first);
  const auto second = open(IfPresent::resume);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::busy);
}

}  // namespace
}  // namespace assay::sweep
