#include "assay/device/device_facts.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace assay {
namespace {

TEST(FactsOf, ATargetSaysItsCapability) {
  EXPECT_EQ(facts_of(*Target::parse("sm_90a")).capability, 9.0);
  EXPECT_EQ(facts_of(*Target::parse("sm_86")).capability, 8.6);
  EXPECT_EQ(facts_of(*Target::parse("sm_100a")).capability, 10.0);
  EXPECT_EQ(facts_of(*Target::parse("x86_64+avx2")).capability, 0);
}

TEST(FactsOf, AFingerprintSaysWhatAGpusDriverTold) {
  const Fingerprint h200{"gpu",
                         "NVIDIA H200",
                         "GPU-0",
                         {{"compute_capability", "9.0"},
                          {"multiprocessors", 132},
                          {"clock_khz", 1980000},
                          {"memory_clock_khz", 3201000},
                          {"memory_bus_bits", 6144}}};
  const DeviceFacts facts = facts_of(h200);
  EXPECT_EQ(facts.name, "NVIDIA H200");
  EXPECT_EQ(facts.capability, 9.0);
  EXPECT_EQ(facts.multiprocessors, 132);
  EXPECT_EQ(facts.clock_hz, 1.98e9);
  EXPECT_NEAR(facts.bytes_per_second, 4.9e12, 0.05e12);
}

TEST(FactsOf, WhatIsNoNumberIsNotTold) {
  const DeviceFacts odd = facts_of(
      Fingerprint{"gpu", "odd", "GPU-1", {{"compute_capability", 9}, {"multiprocessors", "132"}}});
  EXPECT_EQ(odd.capability, 0);
  EXPECT_EQ(odd.multiprocessors, 0);
  EXPECT_EQ(odd.bytes_per_second, 0);
  EXPECT_EQ(facts_of(Fingerprint{"gpu", "none", "GPU-2", nullptr}).clock_hz, 0);
  EXPECT_EQ(facts_of(Fingerprint{"cpu", "EPYC", "", {{"clock_khz", 1}}}).clock_hz, 0);
}

}  // namespace
}  // namespace assay
