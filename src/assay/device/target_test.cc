#include "assay/device/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Target, TextReadsBack) {
  for (const char* text : {"x86_64", "x86_64+avx2+fma", "sm_90a", "+avx2", "x86_64+avx512_bf16"}) {
    const auto target = Target::parse(text);
    ASSERT_TRUE(target) << text;
    EXPECT_EQ(target->to_string(), text);
  }
  EXPECT_EQ(Target::parse("x86_64+fma+avx2+fma")->to_string(), "x86_64+avx2+fma");
}

TEST(Target, NonsenseIsAnErrorThatShowsTheForm) {
  for (const char* text : {"", "x86 64", "x86_64+", "x86_64++fma", "x86_64+a/b", "x\n"}) {
    const auto target = Target::parse(text);
    ASSERT_FALSE(target) << text;
    EXPECT_THAT(target.error().message, ::testing::HasSubstr("x86_64+avx2+fma"));
  }
}

TEST(Target, UsersNameArchitecturesThatThereAre) {
  for (const char* text : {"sm_90a", "sm_80", "sm_120f", "x86_64+avx2", "+avx2", "aarch64"})
    EXPECT_TRUE(Target::parse_known(text)) << text;
  for (const char* text : {"hopper", "sm90a", "sm_", "sm_9", "sm_90x", "sm_9a0", "x86-64"}) {
    const auto target = Target::parse_known(text);
    ASSERT_FALSE(target) << text;
    EXPECT_EQ(target.error().code, ErrorCode::invalid_input);
  }
}

TEST(Target, CoversWhatAsksForNoMore) {
  const Target cpu = *Target::parse("x86_64+avx2+fma");
  EXPECT_TRUE(cpu.covers(cpu));
  EXPECT_TRUE(cpu.covers(Target()));
  EXPECT_TRUE(cpu.covers(*Target::parse("x86_64")));
  EXPECT_TRUE(cpu.covers(*Target::parse("+fma")));
  EXPECT_FALSE(cpu.covers(*Target::parse("x86_64+avx512f")));
  EXPECT_FALSE(cpu.covers(*Target::parse("aarch64")));
  EXPECT_FALSE(Target().covers(cpu));
}

}  // namespace
}  // namespace assay
