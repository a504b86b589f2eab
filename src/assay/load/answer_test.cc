#include "assay/load/answer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "assay/load/skim_json.h"

namespace assay::load {
namespace {

TEST(Answer, AChunkOfAChat) {
  Chunk chunk;
  ASSERT_TRUE(
      read_chunk(R"({"id":"a","choices":[{"index":2,"delta":{"content":"h\u00e9\n\ud83d\ude00"},)"
                 R"("finish_reason":null}],"usage":null,"system_fingerprint":"fp"})",
                 true, chunk));
  ASSERT_EQ(chunk.choices.size(), 1U);
  EXPECT_EQ(chunk.choices[0].index, 2);
  EXPECT_TRUE(chunk.choices[0].content);
  EXPECT_FALSE(chunk.choices[0].finished);
  EXPECT_EQ(chunk.choices[0].text, "h\xc3\xa9\n\xf0\x9f\x98\x80");
  EXPECT_EQ(chunk.fingerprint, "fp");
  EXPECT_FALSE(chunk.usage);
}

TEST(Answer, RolesAndEmptyTextsAreNoTokens) {
  Chunk chunk;
  ASSERT_TRUE(read_chunk(
      R"({"choices":[{"delta":{"role":"assistant","content":""}},{"delta":{"content":null}}]})",
      false, chunk));
  for (const Choice& choice : chunk.choices) EXPECT_FALSE(choice.content || choice.reasoning);
  ASSERT_TRUE(read_chunk(R"({"choices":[{"delta":{"reasoning_content":"so"}}]})", true, chunk));
  EXPECT_TRUE(chunk.choices[0].reasoning && !chunk.choices[0].content);
  EXPECT_EQ(chunk.choices[0].thought, "so");
  EXPECT_EQ(chunk.choices[0].text, "");
  ASSERT_TRUE(read_chunk(R"({"choices":[{"text":"a","finish_reason":"stop"}]})", false, chunk));
  EXPECT_TRUE(chunk.choices[0].content && chunk.choices[0].finished);
}

TEST(Answer, UsageAndErrors) {
  Chunk chunk;
  ASSERT_TRUE(read_chunk(R"({"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":9,)"
                         R"("prompt_tokens_details":{"cached_tokens":1},"cost":1.5e3}})",
                         false, chunk));
  EXPECT_EQ(chunk.usage, (Usage{3, 9, 0, 1}));
  for (const char* tokens : {"-5", "2.5", "\"3\"", "null", "18446744073709551616"}) {
    ASSERT_TRUE(read_chunk(
        fmt::format(R"({{"choices":[],"usage":{{"prompt_tokens":3,"completion_tokens":{}}}}})",
                    tokens),
        false, chunk));
    EXPECT_FALSE(chunk.usage) << tokens;
  }
  ASSERT_TRUE(read_chunk(R"({"error":{"message":"no \"slot\"","code":503}})", false, chunk));
  EXPECT_TRUE(chunk.is_error);
  EXPECT_EQ(chunk.error, "no \"slot\"");
}

TEST(Answer, WhatIsNoObjectIsRefused) {
  Chunk chunk;
  for (const char* text : {"", "[]", "{", "{\"a\":}", "{\"a\" 1}", "{} x", "{\"a\":\"\\\"}",
                           "{\"a\":nul}", "{\"choices\":[{\"delta\":{]}]}"})
    EXPECT_FALSE(read_chunk(text, true, chunk)) << text;
  EXPECT_FALSE(read_chunk("{\"a\":" + std::string(100000, '[') + "}", true, chunk));
}

TEST(Answer, HalfOfASurrogatePairIsReplaced) {
  std::string text;
  append_unescaped(R"(\ud83d\u0041\u12)", text);
  EXPECT_EQ(text,
            "\xef\xbf\xbd"
            "A\xef\xbf\xbd"
            "12");
}

}  // namespace
}  // namespace assay::load
