#include "assay/sweep/stages/build.h"

#include <gmock/gmock.h>

#include "assay/sweep/testing/stage_test.h"

namespace assay::sweep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BuildTest : public testing::StageTest {
 protected:
  // Does that with the kernel of this name, and compiles the others.
  void compile(std::string name, std::function<CallFailure()> fails) {
    children_.on<process::Compile>(
        [name = std::move(name), fails = std::move(fails)](
            const process::Compile& asked) -> CallResult<process::Compile::Answer> {
          if (KernelMetadata::from_json(asked.row)->name() == name) return tl::unexpected(fails());
          return process::Compile::Answer{Artifact::without_bytes({{"of", "it"}})};
        });
  }
};

TEST_F(BuildTest, AFailureEndsThatKernelAlone) {
  auto field = find({{"good"}, {"bad"}, {"other"}}).value();
  compile("bad", [] { return Error{ErrorCode::build_failed, "no such type"}; });
  ASSERT_TRUE(build(station(), field));
  const auto* failure = std::get_if<ending::BuildFailure>(&named(field, "bad").outcome.ending);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->message, "no such type");
  EXPECT_FALSE(named(field, "bad").built);
  for (const char* name : {"good", "other"}) {
    EXPECT_TRUE(named(field, name).built) << name;
    EXPECT_TRUE(named(field, name).alive()) << name;
  }
}

// Such as a header that is a device.
TEST_F(BuildTest, WhatABuildCannotReadIsNoWrongResult) {
  auto field = find({{"bad"}}).value();
  compile("bad", [] { return Error{ErrorCode::invalid_input, "'/dev/null' is a device"}; });
  ASSERT_TRUE(build(station(), field));
  const auto* failure = std::get_if<ending::BuildFailure>(&named(field, "bad").outcome.ending);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->message, "'/dev/null' is a device");
}

TEST_F(BuildTest, WhoBringsTheBuilderDownEndsAloneAndTheNextFindsANewOne) {
  auto field = find({{"bad"}, {"other"}}).value();
  const size_t begun = children_.count_asked("init");
  compile("bad", [] { return Death{.kind = Death::Kind::crashed, .signal = 11}; });
  ASSERT_TRUE(build(station(), field));
  const auto* crash = std::get_if<ending::Crash>(&named(field, "bad").outcome.ending);
  ASSERT_NE(crash, nullptr);
  EXPECT_EQ(crash->stage, "build");
  EXPECT_TRUE(named(field, "other").built);
  EXPECT_EQ(children_.count_asked("init"), begun + 1);
}

TEST_F(BuildTest, ACacheThatCannotBeWrittenIsNoKernelsFault) {
  auto field = find({{"one"}, {"other"}}).value();
  compile("one", [] { return Error{ErrorCode::machine, "the disk is full"}; });
  const Status status = build(station(), field);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the disk is full");
  EXPECT_TRUE(named(field, "one").alive());
}

TEST_F(BuildTest, WhatHadAllOfItsTimeAheadIsNotWaitedForAgain) {
  auto field = find({{"quick"}, {"endless"}}).value();
  children_.on<process::Prebuild>([&](const process::Prebuild& asked) {
    process::Prebuild::Answer answer;
    for (const Json& row : asked.rows) {
      const bool endless = KernelMetadata::from_json(row)->name() == "endless";
      answer.kernels.push_back(
          {.failed = endless, .seconds = endless ? request_.limits.compile_seconds : 1});
    }
    return answer;
  });
  ASSERT_TRUE(build(station(), field));
  EXPECT_TRUE(std::holds_alternative<ending::Timeout>(named(field, "endless").outcome.ending));
  EXPECT_TRUE(named(field, "quick").built);
  EXPECT_EQ(children_.count_asked("compile"), 1u);
}

TEST_F(BuildTest, WhatTheCacheHasIsTakenAndNotCompiled) {
  auto field = find({{"one"}, {"other"}}).value();
  children_.on<process::Prebuild>([&](const process::Prebuild& asked) {
    process::Prebuild::Answer answer;
    for (size_t i = 0; i < asked.rows.size(); ++i)
      answer.kernels.push_back({.artifact = Artifact::without_bytes({{"of", i}})});
    return answer;
  });
  ASSERT_TRUE(build(station(), field));
  EXPECT_TRUE(named(field, "one").built && named(field, "other").built);
  EXPECT_EQ(children_.count_asked("compile"), 0u);
}

TEST_F(BuildTest, AnArtifactThatIsNoneEndsThatKernel) {
  auto field = find({{"one"}}).value();
  children_.lie<process::Compile>({{"artifact", {{"hash", 3}}}});
  ASSERT_TRUE(build(station(), field));
  const auto* lied = std::get_if<ending::Violation>(&named(field, "one").outcome.ending);
  ASSERT_NE(lied, nullptr);
  EXPECT_EQ(lied->code, "protocol");
  EXPECT_THAT(lied->message, HasSubstr("artifact"));
}

}  // namespace
}  // namespace assay::sweep
