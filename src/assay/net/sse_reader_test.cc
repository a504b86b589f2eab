#include "assay/net/sse_reader.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::net {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> read(const std::vector<std::string_view>& pieces) {
  SseReader reader(1 << 20);
  std::vector<std::string> events;
  const auto take = [&](std::string_view data) { events.emplace_back(data); };
  for (const std::string_view piece : pieces) reader.take(piece, take);
  reader.finish(take);
  return events;
}

// Cut at every byte, and a byte at a time.
void expect_events(std::string_view text, const std::vector<std::string>& expected) {
  EXPECT_EQ(read({text}), expected) << text;
  std::vector<std::string_view> bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_EQ(read({text.substr(0, i), text.substr(i)}), expected) << text << " cut at " << i;
    bytes.push_back(text.substr(i, 1));
  }
  EXPECT_EQ(read(bytes), expected) << text;
}

TEST(SseReader, CutsMakeNoDifference) {
  expect_events("data: a\n\ndata: b\n\n", {"a", "b"});
  expect_events("data: a\r\n\r\ndata: b\r\n\r\n", {"a", "b"});
  expect_events("data: a\r\rdata: b\r\r", {"a", "b"});
  expect_events(
      "\xef\xbb\xbf"
      "data:a\n\n",
      {"a"});
  expect_events(": ping\n\ndata: a\n: ping\ndata: b\n\n:\n\n", {"a\nb"});
  expect_events("event: error\nid: 7\nretry: 10\ndata: a\n\n", {"a"});
  expect_events("data\n\n", {""});
  expect_events("event: alone\n\n\n\n", {});
  expect_events("data: {\"a\":\"\\n\"}\n\ndata: [DONE]\n\n", {"{\"a\":\"\\n\"}", "[DONE]"});
}

TEST(SseReader, TheLastLineEndMayBeMissing) {
  expect_events("data: a\n\ndata: [DONE]", {"a", "[DONE]"});
  expect_events("data: a\n\ndata: [DONE]\n", {"a", "[DONE]"});
}

TEST(SseReader, OnlyOneBlankIsTakenOff) {
  EXPECT_THAT(read({"data:  a \n\n"}), ElementsAre(" a "));
  EXPECT_THAT(read({"datas: a\n\n data: b\n\n"}), IsEmpty());
}

TEST(SseReader, AnEventThatIsTooLongIsRefused) {
  for (const std::string& text :
       {std::string("data: ") + std::string(100, 'a'),
        "data: 0123456789\ndata: 0123456789\ndata: 0123456789\n\n" + std::string()}) {
    SseReader reader(16);
    int events = 0;
    for (const char c : text) reader.take({&c, 1}, [&](std::string_view) { ++events; });
    reader.finish([&](std::string_view) { ++events; });
    EXPECT_TRUE(reader.refused());
    EXPECT_EQ(events, 0);
  }
}

}  // namespace
}  // namespace assay::net
