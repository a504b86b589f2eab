#include "assay/report/tunables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/record/testing/sample_record.h"

namespace assay::report {
namespace {

using ::testing::HasSubstr;

KernelOutcome point(int tile, int unroll, double us) {
  KernelOutcome kernel = assay::testing::make_outcome(
      {"cpp_source", fmt::format("mine_TILE{}_UNROLL{}", tile, unroll), KernelRole::user, us, 0});
  Json metadata = kernel.metadata.json();
  metadata["family"] = "mine";
  metadata["design"] = {{"TILE", tile}, {"UNROLL", unroll}, {"fixed", 1}};
  metadata["design_order"] = {"UNROLL", "TILE", "fixed"};
  kernel.metadata = MetadataJson(metadata);
  return kernel;
}

ProblemRecord tuned() {
  ProblemRecord problem;
  problem.name = "p";
  problem.kernels = {point(4, 1, 20), point(16, 1, 10), point(4, 2, 40), point(16, 2, 12.5)};
  problem.kernels[2].race->dropped_after = 6;
  return problem;
}

TEST(TunablesTest, PointsByTheirTimeAndAMapOfTwoTunables) {
  EXPECT_EQ(tunables_text(tuned(), {}),
            R"(points    UNROLL  TILE    us  of best  ended
               1    16  10.0    100 %  ran to the end
               2    16  12.5     80 %  ran to the end
               1     4  20.0     50 %  ran to the end
               2     4  40.0     25 %  round 6
% of best UNROLL \ TILE   4   16
          1              50  100
          2              25   80
)");
}

TEST(TunablesTest, AKernelWithoutTunablesHasNone) {
  ProblemRecord problem = tuned();
  problem.kernels.resize(1);
  EXPECT_EQ(tunables_text(problem, {}), "");
}

TEST(TunablesTest, APointThatFellHasNoTime) {
  ProblemRecord problem = tuned();
  problem.kernels[1].ending = ending::Mismatch{"out[0] = nan"};
  const std::string text = tunables_text(problem, {});
  EXPECT_THAT(text, HasSubstr("1    16     -        -  mismatch"));
  EXPECT_THAT(text, HasSubstr("2    16  12.5    100 %"));
}

TEST(TunablesTest, APageHasTheMap) {
  const std::string page = tunables_html(assay::testing::make_record({tuned()}));
  EXPECT_THAT(page, HasSubstr("<td class=\"heat5\">50</td><td class=\"heat9\">100</td>"));
  EXPECT_EQ(tunables_html(assay::testing::make_record()), "");
}

}  // namespace
}  // namespace assay::report
