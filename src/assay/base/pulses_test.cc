#include "assay/base/pulses.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "assay/base/clock.h"

namespace assay {
namespace {

constexpr auto kAsleep = PulseSender::Wait::asleep, kAwake = PulseSender::Wait::awake;

TEST(Pulses, AreStampedWhenTheyAreSentAndNotWhenTheyAreRead) {
  auto pair = PulseReceiver::create_pair();
  ASSERT_TRUE(pair) << pair.error().message;
  auto& [receiver, end] = *pair;
  const PulseSender sender(end.get());
  EXPECT_FALSE(receiver.next());
  const int64_t before = monotonic_ns();
  sender.send('a');
  sender.send('b');
  const int64_t after = monotonic_ns();
  // Later by as long as it takes.
  while (monotonic_ns() < after + 2 * kNsPerMs) {
  }
  const auto first = receiver.next(), second = receiver.next();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->what, 'a');
  EXPECT_EQ(second->what, 'b');
  // Two clocks, read one after the other.
  constexpr int64_t kApart = kNsPerMs / 2;
  EXPECT_GE(first->sent_ns, before - kApart);
  EXPECT_LE(second->sent_ns, after + kApart);
  EXPECT_LE(first->sent_ns, second->sent_ns);
  EXPECT_TRUE(second->certain);
  EXPECT_FALSE(receiver.next());
}

TEST(Pulses, CarryWhatTheSenderSaysWithThem) {
  auto pair = PulseReceiver::create_pair();
  ASSERT_TRUE(pair);
  const PulseSender sender(pair->second.get());
  const std::vector<std::byte> words(700, std::byte{3}), too_many(kMostToldBytes + 1);
  sender.send('a', words);
  sender.send('b');
  sender.send('c', too_many);
  const auto first = pair->first.next(), second = pair->first.next(), third = pair->first.next();
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(first->what, 'a');
  EXPECT_EQ(first->told, words);
  EXPECT_EQ(second->what, 'b');
  EXPECT_TRUE(second->told.empty());
  EXPECT_EQ(third->what, 0);
}

TEST(Pulses, WhoHasNobodyToTellTellsNobody) {
  PulseSender().send('a');
  // What it asks it answers itself.
  EXPECT_NE(*PulseSender().ask('a', kAsleep), *PulseSender().ask('a', kAsleep));
}

TEST(Pulses, WhoAsksWaitsForTheAnswer) {
  for (const auto wait : {kAsleep, kAwake}) {
    auto pair = PulseReceiver::create_pair();
    ASSERT_TRUE(pair);
    auto& [receiver, end] = *pair;
    const std::vector<std::byte> words(9, std::byte{3});
    std::thread asking([&, sender = PulseSender(-1, end.get())] {
      EXPECT_EQ(sender.ask('a', wait, words).value(), 17U);
    });
    std::optional<Pulse> heard;
    while (!heard) heard = receiver.next();
    EXPECT_EQ(heard->what, 'a');
    EXPECT_EQ(heard->told, words);
    receiver.answer(17);
    asking.join();
  }
}

TEST(Pulses, WhoHasGoneDoesNotAnswer) {
  auto pair = PulseReceiver::create_pair();
  ASSERT_TRUE(pair);
  const UniqueFd end = std::move(pair->second);
  { const PulseReceiver gone = std::move(pair->first); }
  EXPECT_FALSE(PulseSender(-1, end.get()).ask('a', kAwake));
}

TEST(Pulses, ASenderGoesOnWhereNobodyHears) {
  auto pair = PulseReceiver::create_pair();
  ASSERT_TRUE(pair);
  const PulseSender sender(pair->second.get());
  // The system keeps ten of them at least.
  int heard = 0;
  for (int i = 0; i < 12; ++i) sender.send('a');
  while (pair->first.next()) ++heard;
  EXPECT_GE(heard, 10);
  sender.send('b');
  EXPECT_EQ(pair->first.next()->what, 'b');
}

}  // namespace
}  // namespace assay
