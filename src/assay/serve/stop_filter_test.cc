#include "assay/serve/stop_filter.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "assay/serve/utf8.h"
#include "assay/text/utf8.h"

namespace assay::serve {
namespace {

std::string told(std::vector<std::string> stops, std::string_view text, std::size_t step) {
  StopFilter filter(std::move(stops));
  std::string all;
  for (std::size_t at = 0; at < text.size(); at += step) {
    const std::string part = filter.take(text.substr(at, step));
    EXPECT_EQ(text::whole_characters(part), part.size());
    all += part;
  }
  return all + filter.flush();
}

TEST(StopFilter, FindsStopStringsAcrossTokens) {
  for (std::size_t step = 1; step < 12; ++step) {
    EXPECT_EQ(told({"STOP"}, "one STO two STOP three", step), "one STO two ") << step;
    EXPECT_EQ(told({"ababc"}, "abababc!", step), "ab") << step;
    EXPECT_EQ(told({"xyz", "END"}, "a\xc3\xa9xyENDxyz", step), "a\xc3\xa9xy") << step;
    EXPECT_EQ(told({"never"}, "it ends with neve", step), "it ends with neve") << step;
    EXPECT_EQ(told({}, "\xf0\x9f\x98\x80 ok", step), "\xf0\x9f\x98\x80 ok") << step;
  }
}

TEST(StopFilter, HoldsNoMoreThanItMust) {
  StopFilter filter({"STOP"});
  EXPECT_EQ(filter.take("abcS"), "abc");
  EXPECT_EQ(filter.take("x"), "Sx");
  EXPECT_EQ(filter.take("\xe6\x97"), "");
  EXPECT_EQ(filter.take("\xa5"), "\xe6\x97\xa5");
  EXPECT_FALSE(filter.stopped());
}

TEST(Utf8, WritesJsonOfAnyBytes) {
  EXPECT_EQ(json_text("a\"\\\n\x01\x7f"), R"("a\"\\\n\u0001\u007f")");
  EXPECT_EQ(json_text("\xc3\xa9"), "\"\xc3\xa9\"");
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(json_text("\xff"), '"' + bad + '"');
  EXPECT_EQ(json_text("\xf0\x9f\x98"), '"' + bad + '"');
  EXPECT_EQ(json_text("\xed\xa0\x80"), '"' + bad + bad + bad + '"');  // A surrogate.
  EXPECT_EQ(json_text("\xc0\xaf"), '"' + bad + bad + '"');            // Overlong.
  EXPECT_EQ(json_text("\xe2\x82\x41"), '"' + bad + "A\"");
}

}  // namespace
}  // namespace assay::serve
