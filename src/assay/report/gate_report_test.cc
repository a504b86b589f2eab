#include "assay/report/gate_report.h"

#include <gtest/gtest.h>

namespace assay::report {
namespace {

const std::vector<Claim> kClaims = {
    {"mine is faster on p", ClaimState::held, "faster: 1.07", false},
    {"mine, 100 %: \"<x>\"", ClaimState::refuted, "slower\n::x", true}};

TEST(GateReportTest, Annotations) {
  EXPECT_EQ(github_lines(kClaims),
            "::notice title=assay%3A held::mine is faster on p (faster: 1.07)\n"
            "::error title=assay%3A refuted::mine, 100 %25: \"<x>\" (slower\\n::x)\n");
}

TEST(GateReportTest, Xml) {
  EXPECT_EQ(junit_xml("assay race", kClaims, {"no record"}),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="assay race" tests="3" failures="1" errors="1">
  <testcase classname="assay race" name="mine is faster on p"/>
  <testcase classname="assay race" name="mine, 100 %: &quot;&lt;x&gt;&quot;">
    <failure message="refuted">slower\n::x</failure>
  </testcase>
  <testcase classname="assay race" name="evidence">
    <error message="no record"/>
  </testcase>
</testsuite>
)");
}

}  // namespace
}  // namespace assay::report
