#include "assay/sweep/stages/prove.h"

#include <gmock/gmock.h>

#include "assay/sweep/stages/build.h"
#include "assay/sweep/testing/stage_test.h"
#include "assay/timing/endings.h"

namespace assay::sweep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ProveTest : public testing::StageTest {
 protected:
  Field prove_all(const std::vector<Row>& rows) {
    auto field = find(rows).value();
    const Status status = prove(station(), field, [&] { return build(station(), field); });
    EXPECT_TRUE(status) << status.error().message;
    return field;
  }
  // How the one of this name ended, if that was a violation.
  static const ending::Violation* violation(Field& field, std::string_view name) {
    return std::get_if<ending::Violation>(&named(field, name).outcome.ending);
  }
  // What every worker says of a proof is changed so for the kernel "odd".
  void twist(std::function<void(process::Prove::Answer&)> change) {
    children_.on<process::Prove>([this, change = std::move(change)](const process::Prove& asked) {
      const std::string name = KernelMetadata::from_json(asked.kernel.row)->name();
      process::Prove::Answer answer;
      for (size_t i = 0; i < asked.instances.size(); ++i) {
        answer.launches.push_back({.ns = 1e5, .outputs = {{.file = static_cast<uint32_t>(i)}}});
        const auto bytes = std::as_bytes(std::span(name));
        answer.files.add(*create_sealed_memfd("output", bytes));
      }
      if (name == "odd") change(answer);
      return answer;
    });
  }
};

TEST_F(ProveTest, WhoIsRightIsProvenAndWhoIsWrongEnds) {
  children_.kernels["wrong"].right = false;
  auto field = prove_all({{"right"}, {"wrong"}, {"other"}});
  for (const char* name : {"right", "other"}) {
    EXPECT_TRUE(named(field, name).proven) << name;
    ASSERT_TRUE(named(field, name).outcome.proof) << name;
    EXPECT_TRUE(named(field, name).outcome.proof->right) << name;
    EXPECT_EQ(named(field, name).outcome.proof->checks.size(), 2u) << "of each kind of input";
  }
  const auto* mismatch = std::get_if<ending::Mismatch>(&named(field, "wrong").outcome.ending);
  ASSERT_NE(mismatch, nullptr);
  EXPECT_THAT(mismatch->message, HasSubstr("out[0] is wrong (1 of 4 elements is wrong)"));
  EXPECT_FALSE(named(field, "wrong").proven);
}

// Whoever left elements out reads why two launches differ.
TEST_F(ProveTest, AWrongKernelWhoseLaunchesDifferIsToldOfElementsThatItNeverWrites) {
  children_.kernels["wrong"].right = false;
  children_.kernels["wrong"].facts.repeatable = false;
  children_.kernels["right"].facts.repeatable = false;
  auto field = prove_all({{"wrong"}, {"right"}});
  const auto& wrong = named(field, "wrong").outcome.findings;
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_THAT(wrong[0].sentence, HasSubstr("that it never writes"));
  const auto& right = named(field, "right").outcome.findings;
  ASSERT_EQ(right.size(), 1u);
  EXPECT_THAT(right[0].sentence, Not(HasSubstr("never writes")));
}

TEST_F(ProveTest, WhatALaunchDidBesidesItsOutputConvicts) {
  children_.kernels["trespasses"].facts.trespass = "64 bytes behind out";
  children_.kernels["writes"].facts.inputs_changed = true;
  children_.kernels["rounds"].facts.float_control_changed = true;
  children_.kernels["differs"].facts.repeatable = false;
  auto field = prove_all({{"trespasses"}, {"writes"}, {"rounds"}, {"differs"}, {"right"}});
  const std::pair<const char*, const char*> convicted[] = {
      {"trespasses", "writes_outside"}, {"writes", "inputs_changed"}, {"rounds", "float_control"}};
  for (const auto& [name, code] : convicted) {
    ASSERT_NE(violation(field, name), nullptr) << name;
    EXPECT_EQ(violation(field, name)->code, code);
    EXPECT_FALSE(named(field, name).proven) << name;
  }
  EXPECT_TRUE(named(field, "right").proven);
  // Other bits are no fault.
  EXPECT_TRUE(named(field, "differs").proven);
  EXPECT_FALSE(named(field, "differs").outcome.proof->bitwise_repeatable);
}

TEST_F(ProveTest, WorkThatGoesOnBehindTheLaunchesConvicts) {
  const std::function<void(process::Prove::Answer&)> ways[] = {
      [](auto& answer) { answer.left_processes = true; },
      [](auto& answer) { answer.busy_threads = true; },
      [](auto& answer) { answer.armed = "installed a handler of SIGSEGV"; }};
  for (const auto& way : ways) {
    twist(way);
    auto field = prove_all({{"odd"}, {"right"}});
    ASSERT_NE(violation(field, "odd"), nullptr);
    EXPECT_EQ(violation(field, "odd")->code, "background_work");
    EXPECT_TRUE(named(field, "right").proven);
  }
}

// Each of them is read as what it is: nothing that a worker of ours says.
TEST_F(ProveTest, AnAnswerThatIsNoneConvictsAndItsWorkerIsNotAskedAgain) {
  const std::function<void(process::Prove::Answer&)> lies[] = {
      [](auto& answer) { answer.launches.pop_back(); },
      [](auto& answer) { answer.launches[0].outputs.clear(); },
      [](auto& answer) { answer.launches[0].outputs[0].file = 1; },
      [](auto& answer) { answer.launches[0].launches = 3; },
      [](auto& answer) { answer.launches[0].ns = -1; },
      [](auto& answer) { (void)answer.files.take(); }};
  for (const auto& lie : lies) {
    twist(lie);
    auto field = prove_all({{"odd"}, {"right"}});
    ASSERT_NE(violation(field, "odd"), nullptr);
    EXPECT_EQ(violation(field, "odd")->code, "protocol");
    EXPECT_FALSE(named(field, "odd").outcome.proof);
    EXPECT_TRUE(named(field, "right").proven);
  }
}

TEST_F(ProveTest, WhoCrashesEndsAloneAndSaysWhere) {
  children_.on<process::Prove>(
      [](const process::Prove& asked) -> CallResult<process::Prove::Answer> {
        if (KernelMetadata::from_json(asked.kernel.row)->name() == "crashes")
          return tl::unexpected<CallFailure>(Death{.kind = Death::Kind::crashed, .signal = 11});
        process::Prove::Answer answer;
        for (size_t i = 0; i < asked.instances.size(); ++i) {
          answer.launches.push_back({.ns = 1, .outputs = {{.file = static_cast<uint32_t>(i)}}});
          answer.files.add(*create_sealed_memfd("output", {}));
        }
        return answer;
      });
  auto field = prove_all({{"crashes"}, {"right"}});
  const auto* crash = std::get_if<ending::Crash>(&named(field, "crashes").outcome.ending);
  ASSERT_NE(crash, nullptr);
  EXPECT_EQ(crash->stage, "verify");
  EXPECT_EQ(crash->signal, 11);
  EXPECT_TRUE(named(field, "right").proven);
}

TEST_F(ProveTest, AProblemThatDoesNotFitTheMachineIsLeftUnproven) {
  auto field = find({{"one"}}).value();
  children_.on<process::Init>([](const process::Init&) {
    process::Init::Answer answer;
    answer.target = "sm_90a";
    answer.memory_bytes = 1;
    return answer;
  });
  crew().dismiss();
  ASSERT_TRUE(crew().builder());
  ASSERT_TRUE(prove(station(), field, [&] { return build(station(), field); }));
  EXPECT_THAT(field.unprovable, HasSubstr("too large for this machine"));
  EXPECT_TRUE(std::holds_alternative<ending::NotReached>(named(field, "one").outcome.ending));
  EXPECT_EQ(children_.count_asked("prove"), 0u);
}

}  // namespace
}  // namespace assay::sweep
