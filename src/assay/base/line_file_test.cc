#include "assay/base/line_file.h"

#include <csignal>
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
