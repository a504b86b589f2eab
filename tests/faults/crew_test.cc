// Workers that start side by side are each kept where they were asked for.

#include "assay/sweep/crew.h"

#include <cstdlib>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "testing/assay_program.h"

namespace assay::sweep {
namespace {

TEST(CrewTest, WorkersThatStartSideBySideAreThereAfterwards) {
  const char* program = std::getenv("ASSAY_BINARY");
  if (program == nullptr) GTEST_SKIP() << "ctest says where the program is (ASSAY_BINARY)";
  const testing::AssayProgram home;
  Request request;
  request.program = program;
  request.environment = {"PATH=/usr/bin:/bin"};
  request.cache = home.file("cache");
  request.folder = home.file("run");
  request.threads = 1;
  Crew crew(request);
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

}  // namespace
}  // namespace assay::sweep
