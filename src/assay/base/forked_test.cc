#include "assay/base/forked.h"

#include <cmath>
#include <csignal>
#include <unistd.h>

#include <gtest/gtest.h>

#include "assay/base/fd.h"

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

// A descriptor that says stop: none but the first begins, and nobody waits for those that hang.
TEST(ForEachForked, BeginsNothingMoreOnceItIsToStop) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd from(ends[0]), into(ends[1]);
  const auto values = for_each_forked(
      3,
      [&](size_t i) {
        if (i == 0) {
          EXPECT_TRUE(write_all(into.get(), "stop"));
        }
        return double(i);
      },
      from.get());
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[0], 0);
  EXPECT_TRUE(std::isnan(values[1]));
}

// The second stops it, and waits for ever unless it is told.
TEST(ForEachForked, ChildrenAreToldToStop) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd from(ends[0]), into(ends[1]);
  const auto values = for_each_forked(
      2,
      [&](size_t i) {
        if (i == 1) {
          EXPECT_TRUE(write_all(into.get(), "stop"));
          for (;;) ::pause();
        }
        return double(i);
      },
      from.get());
  EXPECT_TRUE(std::isnan(values[1]));
}

TEST(AskForked, GivesWhatWasAnsweredElsewhere) {
  const auto answer = ask_forked([] { return std::to_string(::getpid()); }, {});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_NE(*answer, std::to_string(::getpid()));
}

TEST(AskForked, SaysHowAChildEndedInstead) {
  const auto why = [](const std::function<std::string()>& use, const AskLimits& limits = {}) {
    const auto answer = ask_forked(use, limits);
    EXPECT_FALSE(answer);
    return answer ? "" : answer.error().message;
  };
  EXPECT_EQ(why([]() -> std::string { ::_exit(0); }), "exited with code 0");
  EXPECT_EQ(why([]() -> std::string { ::_exit(7); }), "exited with code 7");
  EXPECT_EQ(why([]() -> std::string {
              std::signal(SIGSEGV, SIG_DFL);  // A sanitizer's handler would exit.
              ::kill(::getpid(), SIGSEGV);
              return "x";
            }),
            "killed by signal 11 (SIGSEGV)");
  EXPECT_EQ(why(
                []() -> std::string {
                  for (;;) ::pause();
                },
                {.timeout_ns = 1'000'000}),
            "did not end within 0.001 s");
  EXPECT_EQ(why([] { return std::string(100, 'x'); }, {.most_bytes = 99}),
            "answered with more than 99 bytes");
}

TEST(AskForked, AChildHasNoneOfOurDescriptors) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd from(ends[0]), into(ends[1]);
  const auto answer = ask_forked(
      [&] { return std::string(::write(into.get(), "x", 1) < 0 ? "closed" : "open"); }, {});
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, "closed");
}

TEST(AskForked, StopsWhenItIsToStop) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd from(ends[0]), into(ends[1]);
  ASSERT_TRUE(write_all(into.get(), "stop"));
  const auto answer = ask_forked(
      []() -> std::string {
        for (;;) ::pause();
      },
      {.cancel_fd = from.get()});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::interrupted);
}

}  // namespace
}  // namespace assay
