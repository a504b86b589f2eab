// Workers that start side by side are each kept where they were asked for.

#include "assay/sweep/crew.h"

#include <csignal>
#include <cstdlib>
#include <set>
#include <sys/stat.h>
#include <vector>

#include <gtest/gtest.h>

#include "assay/base/clock.h"
#include "assay/op/gemm/gemm.h"
#include "assay/process/messages.h"
#include "testing/assay_program.h"

namespace assay::sweep {
namespace {

class CrewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* program = std::getenv("ASSAY_BINARY");
    if (program == nullptr) GTEST_SKIP() << "ctest says where the program is (ASSAY_BINARY)";
    request_.caller.program = program;
    request_.caller.environment = {"PATH=/usr/bin:/bin"};
    request_.keep.cache = home_.file("cache");
    request_.keep.folder = home_.file("run");
    request_.venue.threads = 1;
  }

  testing::AssayProgram home_;
  Request request_;
};

TEST_F(CrewTest, AMemberThatIsFrozenInTheMiddleOfItsWorkTakesNoProcessorTimeAndGoesOn) {
  Crew crew(request_);
  const auto member = crew.member(Crew::kRace, 1);
  ASSERT_TRUE(member) << member.error().message;
  Child& child = **member;
  child.post(process::MeasureCeilings{}, testing::kWatchdogSeconds);
  const int64_t idle_ns = child.read_clocks().cpu_ns;
  ASSERT_GT(idle_ns, 0);
  ASSERT_TRUE(testing::wait_until([&] { return child.read_clocks().cpu_ns > idle_ns + kNsPerMs; }));
  ASSERT_TRUE(child.park());
  const ClockReading frozen = child.read_clocks();
  // As much of our own.
  const int64_t start = monotonic_ns();
  while (monotonic_ns() < start + 20 * kNsPerMs) {
  }
  EXPECT_EQ(child.read_clocks().cpu_ns, frozen.cpu_ns);
  child.go_on();
  EXPECT_EQ(child.cpu_while_parked_ns(), 0);
  Child* const posted[] = {&child};
  const auto answered = Child::wait_for_any(posted);
  EXPECT_TRUE(answered.reply.has_value());
}

TEST_F(CrewTest, AMemberThatDiesIsFoundByTheNextCallAndReplaced) {
  Crew crew(request_);
  const auto member = crew.member(Crew::kRace, 1);
  ASSERT_TRUE(member) << member.error().message;
  Child& child = **member;
  ASSERT_TRUE(child.park());
  ASSERT_EQ(::kill(child.pid(), SIGKILL), 0);
  const auto answer = child.call(process::MeasureTimer{}, testing::kWatchdogSeconds);
  ASSERT_FALSE(answer);
  EXPECT_FALSE(child.alive());
  const auto next = crew.member(Crew::kRace, 1);
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_TRUE((*next)->alive());
}

TEST_F(CrewTest, WorkersThatStartSideBySideAreThereAfterwards) {
  Crew crew(request_);
  // More of them than this machine may have cores: the list grows while some of them start.
  constexpr size_t kWorkers = 6;
  for (const bool confirming : {false, true}) {
    const auto worker = [&](size_t i) { return confirming ? crew.confirmer(i) : crew.prover(i); };
    std::vector<pid_t> started(kWorkers);
    std::vector<std::function<Status()>> tasks;
    for (size_t i = 0; i < kWorkers; ++i) {
      tasks.push_back([&, i]() -> Status {
        ASSAY_TRY(const Child* child, worker(i));
        started[i] = child->pid();
        return {};
      });
    }
    const Status status = crew.side_by_side(tasks);
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(std::set<pid_t>(started.begin(), started.end()).size(), kWorkers);
    for (size_t i = 0; i < kWorkers; ++i) {
      const auto child = worker(i);
      ASSERT_TRUE(child) << child.error().message;
      EXPECT_EQ((*child)->pid(), started[i]) << i << (confirming ? " confirmer" : " prover");
    }
  }
}

// Two files on a whole suite: one process says what each of them has for each problem.
TEST_F(CrewTest, OneProcessSaysWhatEachOfSeveralFilesCanTake) {
  const std::string fields =
      ", dtype: bf16, out: f32, layout: tn, args: [a, b, out, m, n, k]}\nvoid f();\n";
  ASSERT_TRUE(write_file_atomic(home_.file("any.cc"), "// assay: {entry: f" + fields));
  ASSERT_TRUE(write_file_atomic(home_.file("few.cc"),
                                "// assay: {entry: f, constraints: [m == 1]" + fields));
  const std::vector<std::string> files = {home_.file("any.cc"), home_.file("few.cc")};
  const auto sources =
      input::read_sources(files, [](const KernelEntry&) { return LaunchForm::itself; });
  ASSERT_TRUE(sources) << sources.error().message;
  request_.pool.kernels = *sources;
  for (const int64_t m : {1, 2, 4, 8, 16, 32})
    request_.question.problems.push_back(*gemm::problem(
        {.m = m, .n = 64, .k = 64, .dtype = DType::bf16, .out = DType::f32, .layout = "tn"}));
  const std::string starts = home_.file("starts"), wrapper = home_.file("program");
  ASSERT_TRUE(write_file_atomic(wrapper, fmt::format("#!/bin/sh\necho >> '{}'\nexec '{}' \"$@\"\n",
                                                     starts, request_.caller.program)));
  ASSERT_EQ(::chmod(wrapper.c_str(), 0755), 0);
  request_.caller.program = wrapper;
  const auto found = discover_each_source(request_);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(read_file(starts).value_or(""), "\n");
  ASSERT_EQ(found->size(), 2u);
  for (size_t p = 0; p < request_.question.problems.size(); ++p) {
    ASSERT_EQ(found->at(0).at(p).rows.size(), 1u) << p;
    EXPECT_EQ(found->at(0)[p].rows.front().metadata.family(), "f");
    EXPECT_EQ(found->at(1)[p].rows.size(), p == 0 ? 1u : 0u) << p;
    EXPECT_EQ(found->at(1)[p].refusals.to_json().dump().find("m == 1") != std::string::npos, p > 0);
    EXPECT_EQ(found->at(0)[p].refusals.to_json().dump().find("m == 1"), std::string::npos);
  }
}

}  // namespace
}  // namespace assay::sweep
