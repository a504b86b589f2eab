// Kernels that leave an epilogue out, or a part of it, or do another one.

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/attacks/race.h"

namespace assay {
namespace {

using testing::AssayProgram;
using testing::Race;

constexpr const char* kAttacks[] = {"left_out",   "no_bias",        "no_function",  "half_of_it",
                                    "one_column", "other_form",     "relu_instead", "bias_behind",
                                    "kept_bias",  "first_launches", "dropped_nans"};

std::string file_of(const std::string& name) {
  return AssayProgram::source("tests/attacks/epilogues/" + name + ".cc");
}

// Small sums, where functions bend, and large ones.
TEST(EpilogueAttackTest, WhatIsLeftOutIsAMismatch) {
  for (const char* shape : {"m=24,n=40,k=57,dtype=f32,layout=tt,epilogue=bias+gelu",
                            "m=3,n=130,k=1024,dtype=f32,layout=tt,epilogue=bias+gelu"}) {
    std::vector<std::string> files = {file_of("honest")};
    for (const char* attack : kAttacks) files.push_back(file_of(attack));
    const Race race =
        Race::run({.kernels = {}, .shapes = {shape}, .more = {"--exhaustive"}, .files = files});
    ASSERT_TRUE(race.has_record()) << race.finished().err;
    for (const std::string attack : kAttacks) {
      const KernelOutcome* kernel = race.outcome(attack);
      ASSERT_NE(kernel, nullptr) << attack;
      EXPECT_EQ(ending_name(kernel->ending), "mismatch")
          << shape << " " << attack << ": " << ending_sentence(kernel->ending);
    }
    const KernelOutcome* honest = race.outcome("honest");
    ASSERT_NE(honest, nullptr);
    EXPECT_TRUE(is_timed(honest->ending)) << ending_sentence(honest->ending);
    EXPECT_EQ(race.winner(), "honest");
    EXPECT_EQ(race.assay().run({"compare", "--recompute", "run/record.json"}).code(), 0);
  }
}

}  // namespace
}  // namespace assay
