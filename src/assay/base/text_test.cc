#include "assay/base/text.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::ElementsAre;

const std::vector<std::string> kKnown = {"openblas", "onednn", "reference", "tile_m", "tile_n"};

TEST(Nearest, FindsTypingErrors) {
  EXPECT_EQ(nearest("openblsa", kKnown), "openblas");
  EXPECT_EQ(nearest("OneDNN", kKnown), "onednn");
  EXPECT_EQ(nearest("tile_n", kKnown), "tile_n");
  EXPECT_EQ(nearest("refrence", kKnown), "reference");
}

TEST(Nearest, FindsShortWordsThatBeginAlike) {
  EXPECT_EQ(nearest("kk", std::vector<std::string>{"m", "n", "k"}), "k");
  EXPECT_EQ(nearest("tils", std::vector<std::string>{"naive", "tiled"}), "tiled");
  EXPECT_EQ(nearest("am", std::vector<std::string>{"m", "n", "k"}), "");
}

TEST(Nearest, CompletesBeginnings) { EXPECT_EQ(nearest("refer", kKnown), "reference"); }

TEST(Nearest, DoesNotGuessWildly) {
  EXPECT_EQ(nearest("cutlass", kKnown), "");
  EXPECT_EQ(nearest("", kKnown), "");
  EXPECT_EQ(nearest(std::string(100'000, 'x'), kKnown), "");
  EXPECT_EQ(nearest("x", std::vector<std::string>{"m"}), "");
  EXPECT_EQ(did_you_mean("cutlass", kKnown), "");
  EXPECT_EQ(did_you_mean("onedn", kKnown), "; did you mean 'onednn'?");
}

TEST(FormatDuration, ChoosesTheUnit) {
  EXPECT_EQ(format_duration(0), "0 s");
  EXPECT_EQ(format_duration(843e-9), "843 ns");
  EXPECT_EQ(format_duration(12.34e-6), "12.3 us");
  EXPECT_EQ(format_duration(4.561e-3), "4.56 ms");
  EXPECT_EQ(format_duration(999.9e-6), "1.00 ms");
  EXPECT_EQ(format_duration(7.891), "7.89 s");
  EXPECT_EQ(format_duration(59.99), "1m00s");
  EXPECT_EQ(format_duration(125), "2m05s");
  EXPECT_EQ(format_duration(3600 * 3 + 60 * 7), "3h07m");
  EXPECT_EQ(format_duration(86400 * 2 + 3600), "2d01h");
  EXPECT_EQ(format_duration(-1e-3), "-1.00 ms");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::infinity()), "inf s");
  EXPECT_EQ(format_duration(1e300), "1e+300 s");
}

TEST(FormatSi, KeepsThreeDigits) {
  EXPECT_EQ(format_si(1.234e9, "FLOP/s"), "1.23 GFLOP/s");
  EXPECT_EQ(format_si(999.6, "B"), "1.00 kB");
  EXPECT_EQ(format_si(0, "s"), "0 s");
  EXPECT_EQ(format_si(45.6e-6, "s"), "45.6 us");
  EXPECT_EQ(format_si(12.0, "W"), "12.0 W");
  EXPECT_EQ(format_si(-2e3, "x"), "-2.00 kx");
}

TEST(FormatBytes, CountsBy1024) {
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1.5 * 1024 * 1024), "1.50 MiB");
  EXPECT_EQ(format_bytes(1024.0 * 1024 * 1024 - 1), "1.00 GiB");
}

TEST(Pieces, TrimSplitJoin) {
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_EQ(join(std::vector<std::string>{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join(std::vector<std::string>{}, ", "), "");
}

TEST(NameRule, AcceptsSafeFileNamesOnly) {
  EXPECT_TRUE(matches_name_rule("qkv_proj-7.B"));
  for (const char* bad : {"", ".", "..", "a/b", "a b", "\xc3\xa9", "a\n"}) {
    EXPECT_FALSE(matches_name_rule(bad)) << bad;
  }
  EXPECT_TRUE(matches_name_rule(std::string(200, 'a')));
  EXPECT_FALSE(matches_name_rule(std::string(201, 'a')));
}

TEST(Sanitize, LeavesHonestTextAlone) {
  EXPECT_EQ(sanitize("plain text, caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
            "plain text, caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
}

TEST(Sanitize, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(sanitize("\x1b[31mred\x07"), "\\x1b[31mred\\x07");
  EXPECT_EQ(sanitize("a\nb\tc\r"), "a\\nb\\tc\\r");
  EXPECT_EQ(sanitize(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(sanitize("\xc2\x9b"), "\\u{9b}");  // A control sequence in one character.
  EXPECT_EQ(sanitize("a\xe2\x80\xae"
                     "b"),
            "a\\u{202e}b");  // Right to left from here.
}

TEST(Sanitize, ShowsInvalidUtf8) {
  EXPECT_EQ(sanitize("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(sanitize("\xc0\xaf"), "\\xc0\\xaf");           // Overlong.
  EXPECT_EQ(sanitize("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // A surrogate.
  EXPECT_EQ(sanitize("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(Sanitize, KeepsNewlinesOnRequest) {
  EXPECT_EQ(sanitize("a\n\tb\x1b", 4096, Newlines::keep), "a\n\tb\\x1b");
}

TEST(Sanitize, CutsAtABoundary) {
  EXPECT_EQ(sanitize("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(sanitize("abcdefghijk", 10), "abcdefg...");
  EXPECT_EQ(sanitize("abcde\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 10), "abcde...");
}

}  // namespace
}  // namespace assay
