#include "assay/base/line_file.h"

#include <csignal>
#include <deque>
#include <functional>
#include <sys/resource.h>
#include <vector>

#include <gtest/gtest.h>

#include "assay/base/file.h"

namespace assay {
namespace {

class LineFileTest : public ::testing::Test {
 protected:
  std::string path() const { return directory_.file("log"); }
  std::string content() const { return read_file(path()).value(); }

  TemporaryDirectory directory_ = TemporaryDirectory::create(testing::TempDir()).value();
};

TEST_F(LineFileTest, WritesLinesOnceTheWorkAtHandIsDone) {
  LineFile file = LineFile::open(path()).value();
  file.append("at once");
  EXPECT_EQ(content(), "at once\n");
  std::vector<std::function<void()>> later;
  file.flush_by([&](std::function<void()> act) { later.push_back(std::move(act)); });
  file.append("one");
  file.append("two");
  EXPECT_EQ(content(), "at once\n");
  ASSERT_EQ(later.size(), 1u);
  later.front()();
  EXPECT_EQ(content(), "at once\none\ntwo\n");
  file.append(std::string(1 << 20, 'x'));  // Nothing that large waits.
  EXPECT_EQ(content().size(), 16u + (1u << 20) + 1u);
}

TEST_F(LineFileTest, MakesOneLongLineAtATime) {
  LineFile file = LineFile::open(path()).value();
  std::deque<std::function<void()>> later;
  const auto act = [&] {
    const auto first = std::move(later.front());
    later.pop_front();
    first();
  };
  file.flush_by([&](std::function<void()> what) { later.push_back(std::move(what)); });
  int made = 0;
  const std::string text(200 << 10, 'x');
  for (int i = 0; i < 4; ++i)
    file.append_later([&] {
      ++made;
      return text;
    });
  EXPECT_EQ(made, 0);
  act();
  EXPECT_EQ(made, 1);
  for (int turn = 0; turn < 3; ++turn) act();
  EXPECT_LE(made, 3);  // Lines are written in between.
  file.flush();
  EXPECT_EQ(made, 4);
  EXPECT_EQ(content().size(), 4 * (text.size() + 1));
  while (!later.empty()) act();
  EXPECT_EQ(content().size(), 4 * (text.size() + 1));
}

TEST_F(LineFileTest, TellsTheFirstLossAndKeepsLinesWhole) {
  LineFile file = LineFile::open(path()).value();
  int losses = 0;
  file.tell_loss([&](const Error&) { ++losses; });
  file.append("whole");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  file.append(std::string(5000, 'x'));
  file.append(std::string(5000, 'y'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(losses, 1);
  EXPECT_EQ(content(), "whole\n");
}

}  // namespace
}  // namespace assay
