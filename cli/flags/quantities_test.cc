#include "cli/flags/quantities.h"

#include <gtest/gtest.h>

namespace assay::cli {
namespace {

TEST(QuantitiesTest, ReadsWhatUsersWrite) {
  EXPECT_DOUBLE_EQ(parse_fraction("1%", "--margin").value(), 0.01);
  EXPECT_DOUBLE_EQ(parse_fraction("0.5 %", "--margin").value(), 0.005);
  EXPECT_DOUBLE_EQ(parse_fraction("0.01", "--margin").value(), 0.01);
  EXPECT_DOUBLE_EQ(parse_seconds("60", "--budget").value(), 60);
  EXPECT_DOUBLE_EQ(parse_seconds("2m", "--budget").value(), 120);
  EXPECT_DOUBLE_EQ(parse_seconds("500ms", "--budget").value(), 0.5);
  EXPECT_EQ(parse_bytes("2GiB", "--memory-limit").value(), std::int64_t{2} << 30);
  EXPECT_EQ(parse_bytes("512M", "--memory-limit").value(), std::int64_t{512} << 20);
  EXPECT_EQ(parse_named_fraction("triton=5%", "--expect-within").value(),
            (std::pair<std::string, double>("triton", 0.05)));
}

TEST(QuantitiesTest, RefusesWhatCannotBeMeant) {
  for (const char* text : {"", "0", "100%", "-1%", "nan", "inf", "much", "1 percent", "1e999"})
    EXPECT_FALSE(parse_fraction(text, "--margin")) << text;
  for (const char* text : {"", "0", "-1s", "5x", "1e30s", "nan"})
    EXPECT_FALSE(parse_seconds(text, "--budget")) << text;
  for (const char* text : {"", "0", "-1", "3elephants", "1e30"})
    EXPECT_FALSE(parse_bytes(text, "--memory-limit")) << text;
  for (const char* text : {"", "triton", "=5%", "triton=", "triton=x"})
    EXPECT_FALSE(parse_named_fraction(text, "--expect-within")) << text;
}

}  // namespace
}  // namespace assay::cli
