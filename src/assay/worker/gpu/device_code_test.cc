// What no machine without a GPU runs: each text of ours that a driver assembles there.

#include "testing/device_code.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "assay/worker/gpu/chain.h"
#include "assay/worker/gpu/digest.h"
#include "assay/worker/gpu/peaks.h"
#include "assay/worker/gpu/probe.h"

namespace assay::sweep {
namespace {

class DeviceCodeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::can_assemble()) GTEST_SKIP() << "no ptxas: it comes with the CUDA toolkit";
  }
};

TEST_F(DeviceCodeTest, OfDigestAndProbeAssembles) {
  testing::expect_assembles(digest_code);
  testing::expect_assembles(probe_code);
}

TEST_F(DeviceCodeTest, OfChainsAssembles) {
  testing::expect_assembles(
      [](const std::string& target) { return chain_code(target == "sm_90"); });
}

TEST_F(DeviceCodeTest, OfCeilingsAssembles) {
  for (const auto& [name, major] :
       {std::pair{"sm_75", 7}, {"sm_80", 8}, {"sm_90a", 9}, {"sm_100", 10}}) {
    const cuda::Gpu gpu{.major = major, .minor = major == 7 ? 5 : 0};
    testing::expect_assembles(name, traffic_code(gpu));
    for (const Peak& peak : gpu_peaks(gpu)) {
      SCOPED_TRACE(peak.name);
      testing::expect_assembles(name, peak.code);
    }
  }
}

}  // namespace
}  // namespace assay::sweep
