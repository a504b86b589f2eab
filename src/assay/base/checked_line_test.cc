#include "assay/base/checked_line.h"

#include <gtest/gtest.h>

#include "assay/base/json.h"

namespace assay {
namespace {

TEST(CheckedLineTest, ALineThatWasWrittenHasItsCheckAndStaysJson) {
  const std::string line = with_check(R"({"type":"start","seq":1})");
  EXPECT_TRUE(has_its_check(line));
  const auto json = parse_json(line, "line");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ((*json)["seq"], 1);
}

TEST(CheckedLineTest, EveryChangedByteShows) {
  const std::string line = with_check(R"({"type":"end","seq":12})");
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::string other = line;
    other[i] = static_cast<char>(other[i] ^ 1);
    EXPECT_FALSE(has_its_check(other)) << other;
  }
  EXPECT_FALSE(has_its_check(line.substr(0, line.size() - 1)));
  EXPECT_FALSE(has_its_check(""));
}

}  // namespace
}  // namespace assay
