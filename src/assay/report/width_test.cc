#include "assay/report/width.h"

#include <gtest/gtest.h>

namespace assay::report {
namespace {

TEST(WidthTest, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width(""), 0);
  EXPECT_EQ(display_width("m1_qkv"), 6);
  EXPECT_EQ(display_width("größe"), 5);
  EXPECT_EQ(display_width("行列"), 4);
  EXPECT_EQ(display_width("e\u0301"), 1);
  EXPECT_EQ(display_width("\xff\xfe"), 2);
  EXPECT_EQ(display_width("a\xe8\xa1"), 3);  // Cut short.
}

TEST(WidthTest, FitCutsAtCharacters) {
  EXPECT_EQ(fit("cublaslt/algo71", 15), "cublaslt/algo71");
  EXPECT_EQ(fit("cublaslt/algo71", 11), "cublaslt/..");
  EXPECT_EQ(fit("cublaslt/algo71", 11, Elide::middle), "cubla..go71");
  EXPECT_EQ(fit("行列行列", 5), "行..");
  EXPECT_EQ(fit("abc", 2), "..");
  EXPECT_EQ(fit("abc", 0), "");
  EXPECT_EQ(fit("abc", -1), "");
}

TEST(WidthTest, PadFillsUpToTheColumn) {
  EXPECT_EQ(pad("ab", 4), "ab  ");
  EXPECT_EQ(pad("ab", 4, Align::right), "  ab");
  EXPECT_EQ(pad("行", 4), "行  ");
  EXPECT_EQ(pad("abcde", 4), "abcde");
}

TEST(WidthTest, WrapBreaksBetweenWords) {
  EXPECT_EQ(wrap("one two three", 8, 2), "one two\n  three\n");
  EXPECT_EQ(wrap("longerthanit yes", 5, 1), "longerthanit\n yes\n");
  EXPECT_EQ(wrap("keeps   its gaps", 40, 2), "keeps   its gaps\n");
  EXPECT_EQ(wrap("", 10, 2), "\n");
}

}  // namespace
}  // namespace assay::report
