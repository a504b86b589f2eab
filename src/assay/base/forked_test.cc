#include "assay/base/forked.h"

#include <cmath>
#include <csignal>
#include <unistd.h>

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(ForEachForked, GivesWhatEachReturnedInOrder) {
  for (const size_t count : {0u, 1u, 2u, 3u, 300u}) {
    const auto values = for_each_forked(count, [](size_t i) { return 3.0 * double(i) + 1; });
    ASSERT_EQ(values.size(), count);
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(values[i], 3.0 * double(i) + 1);
  }
}

TEST(ForEachForked, TheFirstIsDoneHereAndTheOthersInChildren) {
  int here = 0;
  const auto processes = for_each_forked(40, [&](size_t) {
    ++here;
    return static_cast<double>(::getpid());
  });
  EXPECT_EQ(here, 1);
  EXPECT_EQ(processes.front(), ::getpid());
  for (size_t i = 1; i < processes.size(); ++i) EXPECT_NE(processes[i], ::getpid()) << i;
}

// More of them than there are children at a time.
TEST(ForEachForked, ADeathIsNotANumberAndEndsNoOther) {
  const auto is_deadly = [](size_t i) { return i % 2 == 1; };
  const auto values = for_each_forked(400, [&](size_t i) {
    if (is_deadly(i)) ::kill(::getpid(), SIGKILL);
    return double(i);
  });
  ASSERT_EQ(values.size(), 400u);
  for (size_t i = 0; i < values.size(); ++i) {
    if (is_deadly(i))
      EXPECT_TRUE(std::isnan(values[i]));
    else
      EXPECT_EQ(values[i], double(i));
  }
}

}  // namespace
}  // namespace assay
