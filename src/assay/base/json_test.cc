#include "assay/base/json.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string error_of(std::string_view text) {
  const auto parsed = parse_json(text, "f.json");
  if (parsed) return "parsed as " + parsed->dump();
  EXPECT_EQ(parsed.error().code, ErrorCode::invalid_input);
  return parsed.error().message;
}

TEST(ParseJson, ReadsEveryKindOfValue) {
  const auto json = parse_json(
      R"({"a": [1, -2, 2.5, 18446744073709551615], "b": {"c": null, "d": true}, "e": "\u00e9\n"})",
      "f.json");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ((*json)["a"][0].get<int>(), 1);
  EXPECT_EQ((*json)["a"][1].get<int>(), -2);
  EXPECT_EQ((*json)["a"][2].get<double>(), 2.5);
  EXPECT_EQ((*json)["a"][3].get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE((*json)["b"]["c"].is_null());
  EXPECT_TRUE((*json)["b"]["d"].get<bool>());
  EXPECT_EQ((*json)["e"].get<std::string>(), "\xc3\xa9\n");
}

TEST(ParseJson, ReadsScalarsAndSpaceAtTheTop) {
  EXPECT_EQ(parse_json(" 7\n", "f").value(), Json(7));
  EXPECT_EQ(parse_json("\xEF\xBB\xBF[]", "f").value(), Json::array());
}

TEST(ParseJson, ErrorsNameLineAndColumn) {
  EXPECT_THAT(error_of("{\n  \"a\": 1,\n  \"b\" 2\n}"), StartsWith("f.json:3:7: "));
  EXPECT_THAT(error_of("[1, 2"), AllOf(StartsWith("f.json:1:6: "), HasSubstr("end of input")));
  EXPECT_THAT(error_of(""), StartsWith("f.json:1:1: "));
  EXPECT_THAT(error_of("[1] x"), StartsWith("f.json:1:5: "));
  EXPECT_THAT(error_of("[1,]"), StartsWith("f.json:1:4: "));
  EXPECT_THAT(error_of("// no\n1"), StartsWith("f.json:1:1: "));
}

TEST(ParseJson, RefusesKeysGivenTwice) {
  EXPECT_THAT(error_of("{\"a\": 1,\n \"b\": {\"c\": 1, \"c\": 2}}"),
              AllOf(StartsWith("f.json:2:"), HasSubstr("key 'c' is given twice")));
  EXPECT_TRUE(parse_json(R"([{"a": 1}, {"a": {"a": 2}}])", "f"));
}

TEST(DumpPretty, WhatATerminalWouldObeyIsEscapedAndComesBack) {
  const Json value = {
      {"a", "x\u0085\u009b\u009f\u00a0 \u202a\u202e\u2066\u2069 \u2029\u206a\u00e9"}};
  const std::string text = dump_pretty(value);
  EXPECT_THAT(
      text,
      HasSubstr("x\\u0085\\u009b\\u009f\u00a0 \\u202a\\u202e\\u2066\\u2069 \u2029\u206a\u00e9"));
  EXPECT_EQ(*parse_json(text, "f.json"), value);
}

TEST(ParseJson, RefusesWhatStandsBehindAZero) {
  using namespace std::string_view_literals;
  EXPECT_THAT(error_of("{\"a\": 1}\n\0garbage"sv), StartsWith("f.json:2: there is a zero byte"));
  EXPECT_THAT(error_of("{}\0"sv), HasSubstr("zero byte"));
}

TEST(ParseJson, RefusesWhatIsNoNumberInJson) {
  for (const char* text : {"NaN", "[1, NaN]", "Infinity", "{\"a\": -Infinity}", "nan", "-inf"}) {
    EXPECT_THAT(error_of(text), HasSubstr("NaN or Infinity; write null")) << text;
  }
  EXPECT_THAT(error_of("[nul]"), Not(HasSubstr("NaN")));
}

TEST(ParseJson, RefusesNumbersThatOverflow) {
  EXPECT_THAT(error_of("[1e999]"), HasSubstr("1e999"));
  EXPECT_THAT(error_of("[18446744073709551616]"), HasSubstr("needs more than 64 bits"));
  EXPECT_THAT(error_of("-9223372036854775809"), HasSubstr("needs more than 64 bits"));
  EXPECT_EQ(parse_json("-9223372036854775808", "f").value().get<std::int64_t>(),
            std::numeric_limits<std::int64_t>::min());
}

TEST(ParseJson, BoundsDepth) {
  const std::string deepest = std::string(kMaxJsonDepth, '[') + std::string(kMaxJsonDepth, ']');
  EXPECT_TRUE(parse_json(deepest, "f"));
  EXPECT_THAT(error_of('[' + deepest + ']'), HasSubstr("deeper than 64"));
  EXPECT_THAT(error_of(std::string(10'000'000, '[')), HasSubstr("deeper than 64"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_THAT(error_of(objects), HasSubstr("deeper than 64"));
}

TEST(ParseJson, BoundsTheNumberOfValues) {
  std::string many = "[0";
  for (std::size_t i = 0; i < kMaxJsonValues; ++i) many += ",0";
  many += ']';
  EXPECT_THAT(error_of(many), HasSubstr("more than"));
}

TEST(ParseJson, RefusesInvalidUtf8) {
  EXPECT_THAT(error_of("\"\xff\""), HasSubstr("UTF-8"));
  EXPECT_THAT(error_of("\"\xc3\x28\""), HasSubstr("UTF-8"));
  EXPECT_THAT(error_of("\"\\ud800\""), HasSubstr("surrogate"));
  EXPECT_THAT(error_of("\"a\x01\""), StartsWith("f.json:1:3: "));
}

TEST(ParseJson, ErrorsStayShortAndPrintable) {
  const std::string longer = error_of("[\"" + std::string(1 << 20, 'x') + "\x1b[31m");
  EXPECT_LT(longer.size(), 400u);
  EXPECT_THAT(longer, Not(HasSubstr("\x1b")));
  EXPECT_LT(error_of("[" + std::string(1 << 20, '9') + "]").size(), 400u);
  EXPECT_LT(error_of("{\"" + std::string(9999, 'k') + "\":1,\"" + std::string(9999, 'k') + "\":1}")
                .size(),
            400u);
}

TEST(ParseJson, SurvivesEveryTruncation) {
  const std::string text = R"({"a": [1, 2.5e3, "x\u00e9"], "b": {"c": null, "d": [true, false]}})";
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(parse_json(text.substr(0, size), "f")) << size;
  }
  EXPECT_TRUE(parse_json(text, "f"));
}

TEST(JsonDocument, KnowsTheLineOfEveryValue) {
  const auto document = parse_json_document(
      "{\n\"a\": 1,\n\"b\": [\n10\n,\n20\n],\n\"c/d~\":\n  {\"e\": \"x\"}}\n", "f");
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(document->line_of(""), 1);
  EXPECT_EQ(document->line_of("/a"), 2);
  EXPECT_EQ(document->line_of("/b"), 3);
  EXPECT_EQ(document->line_of("/b/0"), 4);  // A number ends at the newline that follows it.
  EXPECT_EQ(document->line_of("/b/1"), 6);
  EXPECT_EQ(document->line_of("/c~1d~0"), 9);
  EXPECT_EQ(document->line_of("/c~1d~0/e"), 9);
  EXPECT_EQ(document->line_of("/b/7"), 3) << "the nearest ancestor answers for what is absent";
}

TEST(Canonical, SortsKeysAndReadsBackExactly) {
  const double third = 1.0 / 3;
  const Json json = {{"b", third}, {"a", {1, 1e300, "x"}}};
  const std::string text = canonical(json);
  EXPECT_THAT(text, StartsWith("{\"a\":[1,1e+300,\"x\"],\"b\":0.333"));
  EXPECT_EQ(parse_json(text, "f").value()["b"].get<double>(), third);
  EXPECT_EQ(canonical(parse_json("{\"z\":1, \"a\":2}", "f").value()),
            canonical(parse_json("{\"a\":2,\n\"z\":1}", "f").value()));
}

TEST(Canonical, NeverWritesWhatIsNotJson) {
  const Json json = {std::nan(""), std::numeric_limits<double>::infinity(), "\xff"};
  EXPECT_EQ(canonical(json), "[null,null,\"\xef\xbf\xbd\"]");
}

TEST(DumpPretty, IndentsByTwoAndEndsTheLine) {
  EXPECT_EQ(dump_pretty(Json{{"a", {1}}}), "{\n  \"a\": [\n    1\n  ]\n}\n");
  EXPECT_EQ(dump_pretty(Json(std::nan(""))), "null\n");
}

}  // namespace
}  // namespace assay
