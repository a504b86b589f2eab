#include "assay/text/pattern.h"

#include <gmock/gmock.h>

namespace assay::text {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> found(std::string_view expression, std::string_view text) {
  const auto pattern = Pattern::compile(expression);
  EXPECT_TRUE(pattern) << pattern.error().message;
  std::vector<Range> matches;
  EXPECT_TRUE(pattern->find_all(text, matches));
  std::vector<std::string> texts;
  for (const Range& match : matches)
    texts.emplace_back(text.substr(match.begin, match.end - match.begin));
  return texts;
}

TEST(Pattern, BlanksAreUnicodesAndTheMongolianSeparatorIsNone) {
  EXPECT_THAT(found(R"(\s+)", "a\xc2\x85\xe2\x80\xa9 b"), ElementsAre("\xc2\x85\xe2\x80\xa9 "));
  EXPECT_THAT(found(R"(\S+)", "a \xe1\xa0\x8e b"), ElementsAre("a", "\xe1\xa0\x8e", "b"));
  EXPECT_THAT(found(R"([^\s\p{L}]+)", "a \xe1\xa0\x8e b"), ElementsAre("\xe1\xa0\x8e"));
}

TEST(Pattern, AScriptIsTheScriptAndNotItsExtensions) {
  // U+3001, a comma of several scripts, is of Han's extensions alone.
  EXPECT_THAT(found(R"(\p{Han}+)", "\xe6\xbc\xa2\xe3\x80\x81"), ElementsAre("\xe6\xbc\xa2"));
}

TEST(Pattern, LookaheadLeavesTheLastBlankToTheWord) {
  EXPECT_THAT(found(R"(\s+(?!\S)|\S+)", "   x"), ElementsAre("  ", "x"));
}

TEST(Pattern, ALiteralMeansItself) {
  const auto pattern = Pattern::literal("a.b[\\E\n");
  ASSERT_TRUE(pattern);
  std::vector<Range> matches;
  ASSERT_TRUE(pattern->find_all("axb[\\E\na.b[\\E\n", matches));
  EXPECT_EQ(matches.size(), 1U);
}

TEST(Pattern, WhatTheTwoDialectsReadDifferentlyIsRefusedByName) {
  for (const auto& [expression, name] : {std::pair(R"(\w+)", R"('\w')"),
                                         {R"(a\b)", R"('\b')"},
                                         {R"(\h)", R"('\h')"},
                                         {R"(\v)", R"('\v')"},
                                         {R"(a\Kb)", R"('\K')"},
                                         {R"((a)\1)", R"('\1')"},
                                         {R"(\p{N}{1,3}+)", "'}+'"},
                                         {R"(a{2}?)", "'}?'"},
                                         {R"(a{,2})", "'{,'"},
                                         {R"([a[b]])", "a class in a class"},
                                         {R"([[:alpha:]])", "a class in a class"},
                                         {R"([a&&b])", "'&&'"},
                                         {R"([a\S])", R"('\S' in a class)"},
                                         {R"([]a])", "']'"},
                                         {R"(a(?i)b|c)", "the group '(?i)'"},
                                         {R"((?<name>a))", "the group '(?<n'"},
                                         {R"((*VERB))", "the group '(*VE'"},
                                         {R"((?R))", "the group '(?R)'"},
                                         {R"(\p{Xx})", "the property 'Xx'"},
                                         {R"(\pL)", "without a name"},
                                         {R"(a\)", "at its end"},
                                         {R"(\x{110000000})", "the number"}}) {
    const auto pattern = Pattern::compile(expression);
    ASSERT_FALSE(pattern) << expression;
    EXPECT_EQ(pattern.error().code, ErrorCode::invalid_input);
    EXPECT_THAT(pattern.error().message, HasSubstr(name)) << expression;
  }
  EXPECT_THAT(Pattern::compile("(a").error().message, HasSubstr("not understood"));
  EXPECT_THAT(Pattern::compile(R"(\s*)").error().message, HasSubstr("matches nothing"));
  EXPECT_THAT(Pattern::compile(R"(\p{Klingon})").error().message, HasSubstr("not understood"));
  EXPECT_THAT(Pattern::compile("a\xff").error().message, HasSubstr("UTF-8"));
}

TEST(Pattern, ASplitThatTakesTooLongIsAnError) {
  const auto pattern = Pattern::compile(R"((?:a|aa|aaa)+[bc])");
  ASSERT_TRUE(pattern);
  std::vector<Range> matches;
  const Status status = pattern->find_all(std::string(200, 'a'), matches);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("cannot be split"));
}

}  // namespace
}  // namespace assay::text
