// Which kernels that cost much to compile are built and raced, as users see it: the program with
// the provider and the rankers of program/costly.h.

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/assay_program.h"

namespace assay {
namespace {

using testing::AssayProgram;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Finished;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::unbroken;
using ::testing::UnorderedElementsAre;

class Ranking : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto tests = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    ASSERT_EQ(::setenv("ASSAY_BINARY", (tests / "assay_costly").c_str(), 1), 0);
    assay_.emplace();
  }

  Finished sweep(std::vector<std::string> words, const std::string& shape = "m=6,n=32,k=32") {
    const std::vector<std::string> always = {"sweep",
                                             "--shape",
                                             shape + ",dtype=f32,layout=tt",
                                             "--threads",
                                             "1",
                                             "--budget",
                                             "1s",
                                             "--processes",
                                             "3",
                                             "--timeout",
                                             timeout_,
                                             "--lock-dir",
                                             assay_->file("locks"),
                                             "--output-dir",
                                             "run"};
    words.insert(words.begin(), always.begin(), always.end());
    return assay_->run(std::move(words));
  }

  ProblemRecord problem() const {
    const auto record = load_record(assay_->file("run/record.json"));
    EXPECT_TRUE(record) << record.error().message;
    return record && !record->problems.empty() ? record->problems.front() : ProblemRecord{};
  }

  static std::vector<std::string> names(const ProblemRecord& problem) {
    std::vector<std::string> list;
    for (const KernelOutcome& kernel : problem.kernels) list.push_back(kernel.name);
    return list;
  }

  std::optional<AssayProgram> assay_;
  std::string timeout_ = "5s";
};

TEST_F(Ranking, TheFirstOfTheRankersOrderAreBuiltTheOthersAreCountedWithTheReason) {
  const Finished finished = sweep({"--ranker", "by_number", "--build", "3", "--why"});
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  const ProblemRecord raced = problem();
  // What is built in any case first, as it stands; then in the ranker's order.
  EXPECT_THAT(names(raced),
              ElementsAre("costly_default", "costly_free", "costly_1", "costly_3", "costly_5"));
  ASSERT_TRUE(raced.refusals.contains("not_built"));
  EXPECT_EQ(raced.refusals.at("not_built").count, 9);
  EXPECT_THAT(raced.refusals.at("not_built").example,
              HasSubstr("not built: ranked below 3 by by_number"));
  EXPECT_THAT(unbroken(finished.out), HasSubstr("refused 9: not_built (not built: ranked below 3"));
  ASSERT_TRUE(raced.ranking);
  EXPECT_EQ(raced.ranking->ranker, "by_number");
  EXPECT_EQ(raced.ranking->build, 3);
  EXPECT_EQ(raced.ranking->costly, 12);
  EXPECT_EQ(raced.ranking->not_built, 9);
  // Every ranker was asked, whoever's order it was.
  ASSERT_EQ(raced.ranking->rankers.size(), 6u);
  const auto& by_number = raced.ranking->rankers[0];
  EXPECT_EQ(by_number.scored, 6);
  EXPECT_THAT(by_number.unscored, ElementsAre(::testing::Pair("its number says nothing", 8)));
  EXPECT_THAT(raced.ranking->rankers[3].missing,
              HasSubstr("there is no libcostly.so; install libcostly"));
  // Nor did the one that brought its process down bring anything else down.
  EXPECT_THAT(raced.ranking->rankers[4].missing, HasSubstr("while it ranked kernels"));
  const KernelOutcome* fast = testing::find_kernel(raced, "costly_5");
  ASSERT_NE(fast, nullptr);
  EXPECT_EQ(fast->ranks,
            (std::map<std::string, std::int64_t>{{"by_number", 3}, {"worst_first", 7}}));
  EXPECT_TRUE(testing::find_kernel(raced, "costly_free")->ranks.empty());
  ASSERT_NE(raced.winner(), nullptr);
  EXPECT_EQ(raced.winner()->name, "costly_5");
}

TEST_F(Ranking, WhatTheRankerDoesNotKnowStandsBehindAsItIsListed) {
  ASSERT_EQ(sweep({"--ranker", "by_number", "--build", "8"}).code(), 0);
  EXPECT_THAT(names(problem()),
              ElementsAre("costly_default", "costly_free", "costly_1", "costly_3", "costly_5",
                          "costly_7", "costly_9", "costly_11", "costly_0", "costly_2"));
}

TEST_F(Ranking, WithoutARankerTheyAreBuiltAsTheyAreListed) {
  const Finished finished = sweep({"--ranker", "none", "--build", "2"});
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const ProblemRecord raced = problem();
  EXPECT_THAT(names(raced), ElementsAre("costly_default", "costly_free", "costly_0", "costly_1"));
  EXPECT_EQ(raced.ranking->ranker, "");
  EXPECT_THAT(raced.refusals.at("not_built").example,
              HasSubstr("the order in which they are listed"));
}

TEST_F(Ranking, ExhaustiveAndAllBuildEveryKernel) {
  ASSERT_EQ(sweep({"--ranker", "by_number", "--exhaustive"}).code(), 0);
  EXPECT_EQ(names(problem()).size(), 14u);
  EXPECT_FALSE(problem().refusals.contains("not_built"));
  ASSERT_EQ(sweep({"--fresh", "--build", "all"}).code(), 0);
  EXPECT_EQ(names(problem()).size(), 14u);
  const Finished both = sweep({"--fresh", "--exhaustive", "--build", "3"});
  EXPECT_EQ(both.code(), 2);
  EXPECT_THAT(both.err, HasSubstr("--exhaustive builds every kernel, --build some"));
}

TEST_F(Ranking, WhatTheCacheHasTakesPartWhereverItStands) {
  ASSERT_EQ(sweep({"--ranker", "worst_first", "--build", "2"}).code(), 0);
  EXPECT_THAT(names(problem()),
              ElementsAre("costly_default", "costly_free", "costly_11", "costly_10"));
  ASSERT_EQ(sweep({"--fresh", "--ranker", "by_number", "--build", "2"}).code(), 0);
  EXPECT_THAT(names(problem()), ElementsAre("costly_default", "costly_free", "costly_1", "costly_3",
                                            "costly_11", "costly_10"));
  EXPECT_EQ(problem().ranking->not_built, 8);
}

TEST_F(Ranking, ARankerThatIsNoneIsRefusedWithTheListAndOneThatIsMissingWithTheReason) {
  const Finished unknown = sweep({"--ranker", "by_numbers"});
  EXPECT_EQ(unknown.code(), 2);
  EXPECT_THAT(unknown.err, HasSubstr("there is no ranker 'by_numbers'; did you mean 'by_number'"));
  const Finished strange = sweep({"--ranker", "zzz"});
  EXPECT_EQ(strange.code(), 2);
  EXPECT_THAT(strange.err,
              HasSubstr("by_number, worst_first, roofline, missing, crashing, hanging, none"));
  const Finished missing = sweep({"--ranker", "missing"});
  EXPECT_EQ(missing.code(), 2);
  EXPECT_THAT(unbroken(missing.err),
              HasSubstr("--ranker: missing cannot be asked here: there is no "
                        "libcostly.so; install libcostly"));
  EXPECT_FALSE(std::filesystem::exists(assay_->file("run/journal.jsonl")));
  for (const char* build : {"0", "-1", "many", "3x", "99999999999"}) {
    const Finished wrong = sweep({"--build", build});
    EXPECT_EQ(wrong.code(), 2) << build;
    EXPECT_THAT(wrong.err, HasSubstr("--build")) << build;
  }
}

// Its library is cut off after three times --timeout, and named.
TEST_F(Ranking, ARankerThatHangsIsCutOffAndNamed) {
  timeout_ = "1s";
  const Finished hanging = sweep({"--ranker", "hanging"}, "m=13,n=32,k=32");
  EXPECT_EQ(hanging.code(), 2);
  EXPECT_THAT(unbroken(hanging.err), HasSubstr("--ranker: hanging cannot be asked here: "));
  EXPECT_THAT(hanging.err, HasSubstr("did not answer within 3 s"));
}

// The journal knows whose order it was, and a race that was over keeps its field whatever the cache
// has meanwhile.
TEST_F(Ranking, ARunThatIsGoneOnWithKeepsItsOrder) {
  ASSERT_EQ(sweep({"--ranker", "worst_first", "--build", "3"}, "m=6|7,n=32,k=32").code(), 0);
  const ProblemRecord before = problem();
  const Finished other =
      sweep({"--resume", "--ranker", "by_number", "--build", "3"}, "m=6|7,n=32,k=32");
  EXPECT_EQ(other.code(), 2);
  EXPECT_THAT(other.err, HasSubstr("ranker"));
  EXPECT_THAT(sweep({"--resume", "--ranker", "worst_first", "--build", "4"}, "m=6|7,n=32,k=32").err,
              HasSubstr("build"));
  // As if it had been cut off behind its first race, and another run had filled the cache.
  const std::string path = assay_->file("run/journal.jsonl");
  const auto text = read_file(path);
  ASSERT_TRUE(text);
  const size_t raced = text->find("\"line\":\"raced\"");
  ASSERT_NE(raced, std::string::npos);
  std::filesystem::rename(assay_->file("run"), assay_->file("kept"));
  ASSERT_EQ(sweep({"--exhaustive"}).code(), 0);
  std::filesystem::remove_all(assay_->file("run"));
  std::filesystem::create_directory(assay_->file("run"));
  ASSERT_TRUE(write_file_atomic(path, text->substr(0, text->find('\n', raced) + 1)));
  const Finished resumed =
      sweep({"--resume", "--ranker", "worst_first", "--build", "3"}, "m=6|7,n=32,k=32");
  ASSERT_EQ(resumed.code(), 0) << resumed.out << resumed.err;
  EXPECT_EQ(names(problem()), names(before));
}

TEST_F(Ranking, TheReportSaysWhereInEachOrderTheWinnerStood) {
  ASSERT_EQ(sweep({"--ranker", "by_number", "--exhaustive"}).code(), 0);
  const ProblemRecord raced = problem();
  const auto seen = hindsight(raced);
  ASSERT_EQ(seen.size(), 2u) << "what scores nothing has no hindsight";
  EXPECT_EQ(seen[0].ranker, "by_number");
  EXPECT_EQ(seen[0].winners_rank, 3);
  EXPECT_EQ(seen[0].recalled, true);
  EXPECT_EQ(seen[1].winners_rank, 7);
  const Finished page = assay_->run({"report", "run", "--output", "report.md"});
  ASSERT_EQ(page.code(), 0) << page.err;
  const auto markdown = read_file(assay_->file("report.md"));
  ASSERT_TRUE(markdown);
  EXPECT_THAT(*markdown, HasSubstr("recall@8"));
  EXPECT_THAT(*markdown, HasSubstr("by_number"));
  EXPECT_THAT(*markdown, HasSubstr("3 of 6"));
  EXPECT_THAT(*markdown, HasSubstr("7 of 12"));
  EXPECT_THAT(*markdown, HasSubstr("ordered all 12 kernels that cost much to compile"));
  // Judged again from the record alone.
  const Finished again = assay_->run({"compare", "--recompute", "run/record.json"});
  EXPECT_EQ(again.code(), 0) << again.out << again.err;
}

TEST_F(Ranking, NothingIsRecalledWhereNotEverythingWasBuilt) {
  const Finished finished = sweep({"--ranker", "by_number", "--build", "3"});
  ASSERT_EQ(finished.code(), 0);
  for (const RankerHindsight& seen : hindsight(problem())) EXPECT_FALSE(seen.recalled);
  EXPECT_THAT(unbroken(finished.out),
              HasSubstr("by_number chose 3 of 12 kernels that cost much to compile; the winner is "
                        "its number 3"));
}

TEST_F(Ranking, KernelsAreNamedAndRunWhereverTheyStand) {
  const Finished run = assay_->run(
      {"run", "costly/costly_10", "--shape", "m=6,n=32,k=32,dtype=f32,layout=tt", "--threads", "1",
       "--budget", "1s", "--lock-dir", assay_->file("locks"), "--output-dir", "run"});
  EXPECT_EQ(run.code(), 0) << run.out << run.err;
  EXPECT_THAT(names(problem()), ElementsAre("costly_10"));
}

}  // namespace
}  // namespace assay
