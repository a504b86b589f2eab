#include "assay/base/log.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Log, PassesOnWhatIsLoudEnough) {
  std::vector<std::string> lines;
  const Log log([&](Level level, std::string_view text) {
    lines.push_back(fmt::format("{}: {}", to_string(level), text));
  });
  log.debug("not {}", "this");
  log.info("{} rows", 3);
  log.error("bad");
  EXPECT_THAT(lines, ::testing::ElementsAre("info: 3 rows", "error: bad"));
}

TEST(Log, IsSilentWithoutASink) {
  const Log log;
  EXPECT_FALSE(log.enabled(Level::error));
  log.error("nobody hears this");
}

}  // namespace
}  // namespace assay
