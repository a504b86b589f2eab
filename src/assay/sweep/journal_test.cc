#include "assay/sweep/journal.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "assay/record/testing/sample_record.h"

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
  // A run of four things finished, in seven lines and a header.
  void write_run() {
    auto journal = open(IfPresent::refuse);
    ASSERT_TRUE(journal) << journal.error().message;
    const ProblemRecord& problem = record_.problems[0];
    ASSERT_TRUE(journal->add_commitment(problem.name, "c0ffee"));
    ASSERT_TRUE(journal->add_proof(problem.name, problem.kernels[1], 1500));
    ASSERT_TRUE(journal->add_problem(problem));
    ASSERT_TRUE(journal->add_proof("unfinished", problem.kernels[0], 0));
  }
  // What write_run() finished is there whole, and nothing else.
  void expect_run(const Journal& journal) {
    const ProblemRecord& written = record_.problems[0];
    ASSERT_TRUE(journal.is_finished(written.name));
    const auto read = journal.problem(written.name);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(to_json(*read) == to_json(written));
    const auto proofs = journal.proofs("unfinished");
    ASSERT_TRUE(proofs) << proofs.error().message;
    ASSERT_EQ(proofs->size(), 1u);
    EXPECT_TRUE(proofs->at(written.kernels[0].id).outcome == written.kernels[0]);
    EXPECT_FALSE(journal.is_finished("unfinished"));
    EXPECT_EQ(journal.problem("unfinished").error().code, ErrorCode::not_found);
  }

  RunRecord record_ = testing::make_record();
  std::optional<TemporaryDirectory> directory_;
  std::filesystem::path folder_, file_;
};

TEST_F(JournalTest, WhatWasAddedIsThereWhenItIsResumed) {
  write_run();
  const auto journal = open(IfPresent::resume);
  ASSERT_TRUE(journal) << journal.error().message;
  expect_run(*journal);
  const auto proofs = journal->proofs(record_.problems[0].name);
  ASSERT_TRUE(proofs && proofs->size() == 1);
  EXPECT_EQ(proofs->begin()->second.launch_ns, 1500);
  EXPECT_TRUE(journal->notes().empty());
  EXPECT_FALSE(journal->began().empty());
}

TEST_F(JournalTest, WhereNoRankerIsNamedItWasTheOneThatWasAskedThen) {
  write_run();
  const auto journal =
      open(IfPresent::resume, {{"suite", "a"}, {"ranker", "roofline"}}).map([](const Journal&) {});
  EXPECT_TRUE(journal) << journal.error().message;
  const auto other = open(IfPresent::resume, {{"suite", "a"}, {"ranker", "another"}});
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("it differs in: ranker)"));
}

TEST_F(JournalTest, TheLastRaceIsThereAsAWholeOrNotAtAll) {
  const std::vector<Journal::Raced> kernels = {{record_.problems[0].kernels[0], 2500, 7},
                                               {record_.problems[0].kernels[1], 1500, 9}};
  {
    auto journal = open(IfPresent::refuse);
    ASSERT_TRUE(journal) << journal.error().message;
    ASSERT_TRUE(journal->add_race("raced", {kernels[0]}, {{"leader", "earlier"}}));
    ASSERT_TRUE(journal->add_race("raced", kernels, {{"leader", "later"}}));
    ASSERT_TRUE(journal->add_proof("proven", record_.problems[0].kernels[1], 1));
  }
  const auto expect_race = [&](const std::string& note) {
    auto journal = open(IfPresent::resume);
    ASSERT_TRUE(journal) << journal.error().message;
    EXPECT_EQ(journal->notes().size(), note.empty() ? 0u : 1u);
    const auto race = journal->race("raced");
    ASSERT_TRUE(race) << race.error().message;
    ASSERT_TRUE(race->has_value());
    ASSERT_EQ((*race)->kernels.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE((*race)->kernels[i].outcome == kernels[i].outcome);
      EXPECT_EQ((*race)->kernels[i].launch_ns, kernels[i].launch_ns);
      EXPECT_EQ((*race)->kernels[i].launches, kernels[i].launches);
    }
    EXPECT_EQ((*race)->line.root.at("result"), Json({{"leader", "later"}}));
    const auto none = journal->race("proven");
    ASSERT_TRUE(none);
    EXPECT_FALSE(none->has_value());
    EXPECT_FALSE(journal->is_finished("raced"));
  };
  expect_race("");
  // Killed in the middle of another one: its kernels without the line that counts them.
  append(R"({"launch_ns":1,"launches":1,"line":"lap","outcome":{},"problem":"raced"})"
         "\n{\"line\":\"la");
  expect_race("cut off a torn last line");
}

TEST_F(JournalTest, WhatARequestLacksThatTheRunHadIsNamed) {
  const Json shorter = {{"kind", "sweep"}};
  Json longer = shorter;
  longer["settings"] = {"cublaslt.space=all"};
  for (const auto& [before, now] : {std::pair{longer, shorter}, {shorter, longer}}) {
    std::filesystem::remove_all(folder_);
    ASSERT_TRUE(open(IfPresent::refuse, before));
    const auto journal = open(IfPresent::resume, now);
    ASSERT_FALSE(journal);
    EXPECT_THAT(journal.error().message, HasSubstr("(it differs in: settings)"));
  }
}

TEST_F(JournalTest, WhatARunFinishedItselfCanBeReadBack) {
  auto journal = open(IfPresent::refuse);
  ASSERT_TRUE(journal);
  for (const ProblemRecord& problem : record_.problems) {
    EXPECT_FALSE(journal->is_finished(problem.name));
    ASSERT_TRUE(journal->add_problem(problem));
  }
  for (const ProblemRecord& problem : record_.problems) {
    const auto read = journal->problem(problem.name);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(to_json(*read) == to_json(problem));
  }
}

TEST_F(JournalTest, OneWhoseProblemsHoldTheirKernelsIsGoneOnWith) {
  { ASSERT_TRUE(open(IfPresent::refuse)); }
  std::string text = content();
  text.replace(text.find("assay.journal/3"), 15, "assay.journal/1");
  std::ofstream(file_, std::ios::binary) << text;
  const ProblemRecord& old = record_.problems[0];
  const ProblemRecord& added = record_.problems[1];
  append(canonical({{"line", "problem"}, {"record", to_json(old)}}) + "\n");
  auto journal = open(IfPresent::resume);
  ASSERT_TRUE(journal) << journal.error().message;
  ASSERT_TRUE(journal->add_problem(added));
  for (const ProblemRecord* problem : {&old, &added}) {
    const auto read = journal->problem(problem->name);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(to_json(*read) == to_json(*problem));
  }
}

TEST_F(JournalTest, OneWithoutChecksumsIsGoneOnWithWithoutThem) {
  write_run();
  std::string text = content();
  text.replace(text.find("assay.journal/3"), 15, "assay.journal/2");
  for (size_t at; (at = text.find(",\"xxh3\":")) != std::string::npos;)
    text.erase(at, text.find('}', at) - at);
  std::ofstream(file_, std::ios::binary) << text;
  {
    auto journal = open(IfPresent::resume);
    ASSERT_TRUE(journal) << journal.error().message;
    expect_run(*journal);
    ASSERT_TRUE(journal->add_problem(record_.problems[1]));
  }
  const auto journal = open(IfPresent::resume);
  ASSERT_TRUE(journal) << journal.error().message;
  expect_run(*journal);
  EXPECT_TRUE(journal->is_finished(record_.problems[1].name));
}

// As a failing disk changes it, or somebody who would like another time: it is JSON still.
TEST_F(JournalTest, ADigitThatWasChangedIsFound) {
  write_run();
  const std::string whole = content();
  int line = 1;
  for (size_t begin = 0; begin < whole.size(); ++line) {
    const size_t end = whole.find('\n', begin);
    const size_t digit = whole.find_first_of("123456789", begin);
    ASSERT_LT(digit, end);
    std::string changed = whole;
    changed[digit] = changed[digit] == '9' ? '8' : '9';
    std::ofstream(file_, std::ios::binary) << changed;
    const auto journal = open(IfPresent::resume);
    if (end + 1 == whole.size()) {  // As if a crash had torn it.
      ASSERT_TRUE(journal) << journal.error().message;
      EXPECT_FALSE(journal->notes().empty());
      EXPECT_TRUE(journal->proofs("unfinished")->empty());
    } else {
      ASSERT_FALSE(journal) << line;
      EXPECT_THAT(journal.error().message, HasSubstr(fmt::format("journal.jsonl:{}:", line)));
      EXPECT_EQ(content(), changed);
    }
    begin = end + 1;
  }
  EXPECT_EQ(line, 9);
}

// An interrupted run wrote its kernels' lines, and then not the problem's.
TEST_F(JournalTest, KernelsOfAProblemThatWasNotFinishedAreNotItsKernels) {
  write_run();
  const std::string whole = content();
  const std::string torn = whole.substr(0, whole.find("{\"kernels\":3"));
  const size_t outcomes = torn.find("{\"line\":\"outcome\"");
  ASSERT_NE(outcomes, std::string::npos);
  std::ofstream(file_, std::ios::binary) << torn << whole.substr(outcomes);
  const auto journal = open(IfPresent::resume);
  ASSERT_TRUE(journal) << journal.error().message;
  expect_run(*journal);
  EXPECT_TRUE(journal->notes().empty());
}

TEST_F(JournalTest, AProblemWhoseKernelsAreMissingIsDamaged) {
  write_run();
  std::string text = content();
  const size_t first = text.find("{\"line\":\"outcome\"");
  text.erase(first, text.find('\n', first) + 1 - first);
  std::ofstream(file_, std::ios::binary) << text;
  const auto journal = open(IfPresent::resume);
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message, HasSubstr("lacks kernels"));
}

// Lines that were not yet durable when the machine lost its power: any of them may be torn.
TEST_F(JournalTest, KernelsThatFollowATornLineAreCutOffWithIt) {
  write_run();
  const std::string whole = content();
  const size_t outcome = whole.find("{\"line\":\"outcome\"");
  ASSERT_NE(outcome, std::string::npos);
  append("{\"line\":\"outco\n" + whole.substr(outcome, whole.find('\n', outcome) + 1 - outcome) +
         "{\"line\"");
  {
    const auto journal = open(IfPresent::resume);
    ASSERT_TRUE(journal) << journal.error().message;
    expect_run(*journal);
    ASSERT_EQ(journal->notes().size(), 1u);
    EXPECT_THAT(journal->notes()[0], HasSubstr(":9: cut off a torn"));
  }
  EXPECT_EQ(content(), whole);
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
  EXPECT_FALSE(journal->is_finished(record_.problems[0].name));
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
      expect_run(*journal);
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
  EXPECT_THAT(journal.error().message, HasSubstr(":9:"));
  EXPECT_EQ(content(), before);
}

// As a disk leaves it, or somebody: what is there may be hours of finished problems.
TEST_F(JournalTest, ManyDamagedLinesAreNoTornLineAndAreKept) {
  write_run();
  const std::string whole = content();
  for (const char byte : {'\0', '\x9c'}) {
    std::string damaged = whole;
    int line = 1;
    for (size_t at = 0; at < damaged.size(); at = damaged.find('\n', at) + 1, ++line)
      if (line >= 3) damaged[at] = byte;
    std::ofstream(file_, std::ios::binary) << damaged;
    const auto journal = open(IfPresent::resume);
    ASSERT_FALSE(journal);
    EXPECT_THAT(journal.error().message, HasSubstr(":3: the journal is damaged"));
    EXPECT_THAT(journal.error().message, HasSubstr("head -n 2"));
    EXPECT_THAT(journal.error().message, HasSubstr("--fresh"));
    EXPECT_EQ(content(), damaged);
  }
}

TEST_F(JournalTest, AFolderWithoutANameIsNotMovedAside) {
  write_run();
  const auto back = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  const auto journal = Journal::open(".", {{"suite", "a"}}, IfPresent::fresh);
  std::filesystem::current_path(back);
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::invalid_input);
  EXPECT_THAT(journal.error().message, HasSubstr("has no name by which it could be moved aside"));
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

TEST_F(JournalTest, KeepsTheWeakestTrust) {
  const Trust strong{TrustGrade::confined_native, "strong"};
  const Trust weak{TrustGrade::unconfined_native, "weak"};
  {
    auto journal = open(IfPresent::refuse);
    ASSERT_TRUE(journal) << journal.error().message;
    EXPECT_FALSE(journal->earlier_trust());
    for (const Trust& trust : {strong, weak, strong}) ASSERT_TRUE(journal->add_trust(trust));
  }
  const auto journal = open(IfPresent::resume);
  ASSERT_TRUE(journal) << journal.error().message;
  ASSERT_TRUE(journal->earlier_trust());
  EXPECT_EQ(journal->earlier_trust()->grade, TrustGrade::unconfined_native);
  EXPECT_EQ(journal->earlier_trust()->reason, "weak");
}

TEST_F(JournalTest, OfARunThatSaysNothingNothingIsTrusted) {
  write_run();
  const auto journal = open(IfPresent::resume);
  ASSERT_TRUE(journal) << journal.error().message;
  ASSERT_TRUE(journal->earlier_trust());
  EXPECT_EQ(journal->earlier_trust()->grade, TrustGrade::unconfined_native);
  EXPECT_THAT(journal->earlier_trust()->reason, HasSubstr("does not say"));
}

}  // namespace
}  // namespace assay::sweep
