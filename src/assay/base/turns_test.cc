#include "assay/base/turns.h"

#include <future>
#include <stdexcept>

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Turns, OthersRunWhileOneWaits) {
  Turns turns;
  // Each waits for what the other does: one after the other they would never end.
  std::promise<void> first, second;
  int unguarded = 0;
  const Status status = turns.run({[&]() -> Status {
                                     let_others_run([&] { second.get_future().wait(); });
                                     ++unguarded;
                                     first.set_value();
                                     return {};
                                   },
                                   [&]() -> Status {
                                     ++unguarded;
                                     second.set_value();
                                     let_others_run([&] { first.get_future().wait(); });
                                     return {};
                                   }});
  EXPECT_TRUE(status);
  EXPECT_EQ(unguarded, 2);
}

TEST(Turns, OneRunsAtATime) {
  Turns turns;
  int running = 0, most = 0, runs = 0;
  const auto task = [&]() -> Status {
    for (int i = 0; i < 200; ++i) {
      most = std::max(most, ++running);
      ++runs;
      --running;
      let_others_run([] { std::this_thread::yield(); });
    }
    return {};
  };
  EXPECT_TRUE(turns.run({task, task, task, task}));
  EXPECT_EQ(most, 1);
  EXPECT_EQ(runs, 800);
}

TEST(Turns, TheFirstErrorInOrderAfterAllAreDone) {
  Turns turns;
  bool last_ran = false;
  const auto failing = [](const char* message) {
    return [message]() -> Status { return fail(ErrorCode::failed, "{}", message); };
  };
  const Status status = turns.run({[]() -> Status { return {}; }, failing("one"), failing("two"),
                                   [&]() -> Status {
                                     last_ran = true;
                                     return {};
                                   }});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "one");
  EXPECT_TRUE(last_ran);
  EXPECT_TRUE(turns.run({[]() -> Status { return {}; }}));
}

TEST(Turns, WhatATaskThrowsIsThrownToTheCaller) {
  Turns turns;
  EXPECT_THROW((void)turns.run({[]() -> Status { throw std::runtime_error("thrown"); }}),
               std::runtime_error);
  EXPECT_TRUE(turns.run({[]() -> Status { return {}; }}));
}

TEST(Turns, OutsideATaskItIsACall) {
  bool called = false;
  let_others_run([&] { called = true; });
  EXPECT_TRUE(called);
}

}  // namespace
}  // namespace assay
