#include "table.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configuration.h"
#include "space.h"

namespace assay::cutlass {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kSmall =
    "assay-cutlass-table 1 nvidia-cutlass 4.2.0 default 3\n"
    "# a word\n"
    "d 128 128 64 2 1 0 pingpong tma persistent\n"
    "d 128 256 64 1 1 4 cooperative direct stream_k\n"
    "l 0-1\n"
    "l 1\n"
    "g f16 void f16 f32 t n 8 8 0\n"
    "g bf16 f32 f32 f32 n t 4 4 1\n";

TEST(CutlassTable, SaysWhatItsLinesSay) {
  const auto table = Table::parse(kSmall, "small.txt");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->version, "4.2.0");
  EXPECT_EQ(table->configurations, 3);
  ASSERT_EQ(table->groups.size(), 2u);
  EXPECT_EQ(table->designs[1],
            (Design{128, 256, 64, 1, 1, 4, "cooperative", "direct", "stream_k"}));
  EXPECT_EQ(table->groups[1].operands,
            (Operands{DType::bf16, DType::f32, DType::f32, true, false, true, 4, 4}));
  EXPECT_EQ(table->lists[table->groups[1].list], std::vector<uint32_t>{1});
}

TEST(CutlassTable, ALineThatIsWrongIsNamed) {
  const auto error = [](std::string_view from, std::string_view to) {
    std::string text(kSmall);
    text.replace(text.find(from), from.size(), to);
    const auto table = Table::parse(text, "small.txt");
    return table ? "it was taken" : table.error().message;
  };
  EXPECT_THAT(error("table 1", "table 2"), HasSubstr("small.txt:1: it is of a version"));
  EXPECT_THAT(error("default 3", "default 4"),
              HasSubstr("names 4 configurations, and there are 3"));
  EXPECT_THAT(error("pingpong", "pong"), HasSubstr("small.txt:3: a schedule"));
  EXPECT_THAT(error("d 128 128", "d 128 0"), HasSubstr("small.txt:3: a tile"));
  EXPECT_THAT(error("l 0-1", "l 0-2"), HasSubstr("small.txt:5: a list names a design"));
  EXPECT_THAT(error("l 0-1", "l 1,0"), HasSubstr("small.txt:5: a list names a design"));
  EXPECT_THAT(error("8 8 0", "8 8 7"), HasSubstr("small.txt:7: it names a list"));
  EXPECT_THAT(error("bf16 f32 f32", "bf16 f32 f16"),
              HasSubstr("small.txt:8: c is of another type"));
  EXPECT_THAT(error("t n 8", "t x 8"), HasSubstr("small.txt:7: a layout"));
  EXPECT_THAT(Table::parse("", "none").error().message, HasSubstr("it is no table"));
}

// The names are those of `python -m cutlass_library.generator`, nvidia-cutlass 4.2.0.
TEST(CutlassTable, TheDefaultLevelIsInTheProgramAndEveryNameIsOnce) {
  const Table& table = table_of(sm90());
  EXPECT_EQ(table.configurations, 2408);
  std::set<std::string> names;
  for (const Group& group : table.groups)
    for (const uint32_t design : table.lists[group.list])
      names.insert(Configuration{table.designs[design], group.operands}.stock_name());
  EXPECT_EQ(names.size(), 2408u);
  for (const char* name :
       {"cutlass3x_sm90_tensorop_gemm_f16_f16_f32_f16_f16_128x128x64_2x1x1_0_tnn_align8",
        "cutlass3x_sm90_tensorop_gemm_f16_f16_f32_void_f32_64x256x64_1x2x1_0_nnn_align8"
        "_warpspecialized_pingpong_epi_tma",
        "cutlass3x_sm90_tensorop_gemm_f16_f16_f32_f16_f16_128x256x64_2x1x1_0_tnn_align8"
        "_stream_k_warpspecialized_cooperative_epi_tma",
        "cutlass3x_sm90_tensorop_gemm_f16_f16_f16_f16_f16_128x128x64_1x1x1_0_ntn_align2"
        "_stream_k_cpasync_warpspecialized_cooperative_epi_nosmem"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(CutlassTable, AmperesAreInTheProgramAndEveryNameIsOnce) {
  const Table& table = table_of(sm80());
  EXPECT_EQ(table.configurations, 1320);
  EXPECT_EQ(table.generation, &sm80());
  std::set<std::string> names;
  for (const Group& group : table.groups)
    for (const uint32_t design : table.lists[group.list])
      names.insert(Configuration{table.designs[design], group.operands}.stock_name());
  EXPECT_EQ(names.size(), 1320u);
  for (const char* name : {"cutlass_tensorop_s16816gemm_f16_256x128_32x3_nn_align8",
                           "cutlass_tensorop_f16_s16816gemm_f16_128x64_32x6_tn_align2",
                           "cutlass_tensorop_h16816gemm_64x64_64x5_nt_align4",
                           "cutlass_tensorop_bf16_s16816gemm_bf16_64x64_64x5_tt_align2"})
    EXPECT_TRUE(names.contains(name)) << name;
  // Lines of one generation are none of the other's.
  EXPECT_THAT(Table::parse("assay-cutlass-table 1 nvidia-cutlass 4.2.0 sm80 1\nd 1 1 1 1 1 0 tma "
                           "tma persistent\n",
                           "x")
                  .error()
                  .message,
              HasSubstr("x:2: it begins with none of"));
  EXPECT_THAT(
      Table::parse("assay-cutlass-table 1 nvidia-cutlass 4.2.0 sm80 1\nm 64 64 32 3 2 10\n", "x")
          .error()
          .message,
      HasSubstr("x:2: warps do not divide their tile"));
}

TEST(CutlassTable, ARowsRuleSaysWhichConfigurationItIsInEitherOrderOfTheOutput) {
  std::vector<Group> groups = table_of(sm90()).groups;
  groups.insert(groups.end(), table_of(sm80()).groups.begin(), table_of(sm80()).groups.end());
  for (const Group& group : groups)
    for (const bool swapped : {false, true}) {
      KernelTraits traits;
      traits.rule = std::make_shared<const ProblemRule>(rule_of(group.operands, swapped));
      assay::Design design;
      design.set("swapped", swapped);
      if (group.operands.generation == &sm80()) design.set("schedule", std::string("multistage"));
      const auto read = configuration_of(KernelMetadata(traits, design));
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_EQ(read->operands, group.operands);
    }
}

}  // namespace
}  // namespace assay::cutlass
