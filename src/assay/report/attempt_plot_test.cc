#include "assay/report/attempt_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

AttemptPlot plot(int points) {
  AttemptPlot one;
  one.title = "model/case";
  one.metric = "decode.us";
  for (int i = 0; i < points; ++i) {
    AttemptPoint point;
    point.seq = i + 1;
    point.value = 100.0 - i % 7;
    point.outcome = i % 5 == 0 ? AttemptOutcome::keep : AttemptOutcome::discard;
    point.moves_best = i % 5 == 0;
    point.baseline = i == 0;
    point.run_tag = i < points / 2 ? "first" : "second";
    point.label = "a change";
    one.points.push_back(point);
  }
  return one;
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(AttemptPlotTest, EveryAttemptIsAPointAtTwoAndAtTwoThousand) {
  for (const int points : {1, 2, 2000}) {
    const std::string svg = attempt_svg(plot(points));
    EXPECT_EQ(count(svg, "<circle"), static_cast<std::size_t>(points) + 4) << points;
    EXPECT_EQ(count(svg, "class=\"best\" d=\"M"), 1u);
    EXPECT_EQ(count(svg, "class=\"base\""), 1u);
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
  EXPECT_EQ(count(attempt_svg(plot(2000)), "class=\"tag\""), 1u);
}

TEST(AttemptPlotTest, TheAxisHasRoundNumbers) {
  AttemptPlot one = plot(2);
  one.points[0].value = 651'272;
  one.points[1].value = 149'260;
  std::string svg = attempt_svg(one);
  for (const char* round : {">200000<", ">400000<", ">600000<"}) EXPECT_THAT(svg, HasSubstr(round));
  one.points[0].value = 12.52;
  one.points[1].value = 12.47;
  svg = attempt_svg(one);
  for (const char* round : {">12.4<", ">12.5<", ">12.6<"}) EXPECT_THAT(svg, HasSubstr(round));
}

TEST(AttemptPlotTest, NoLabelCoversAnother) {
  AttemptPlot one = plot(24);
  for (AttemptPoint& point : one.points) point.moves_best = false;
  for (const size_t i : {20, 21}) {
    one.points[i].outcome = AttemptOutcome::keep;
    one.points[i].moves_best = true;
    one.points[i].label = "change " + std::to_string(i);
  }
  one.points[20].value = one.points[21].value = 90;
  const std::string svg = attempt_svg(one);
  EXPECT_THAT(svg, HasSubstr(">change 21</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">change 20</text>")));
}

TEST(AttemptPlotTest, WithoutAnyValueThereIsStillADrawing) {
  AttemptPlot one = plot(1);
  one.points[0].value.reset();
  one.points[0].outcome = AttemptOutcome::crash;
  EXPECT_THAT(attempt_svg(one), HasSubstr("class=\"failed\""));
}

TEST(AttemptPlotTest, GuardrailsHaveAPanelWithWhatIsAllowedAndWhoWentBeyond) {
  AttemptPlot one = plot(4);
  EXPECT_THAT(attempt_svg(one), Not(HasSubstr("guardrails")));
  one.points[1].guardrails = {{"single.<us>", 0.999, 0.01, true}};
  one.points[2].guardrails = {{"single.<us>", 0.90, 0.01, false}};
  const std::string svg = attempt_svg(one);
  EXPECT_THAT(svg, HasSubstr("height=\"540\""));
  EXPECT_EQ(count(svg, "class=\"allowed\""), 1u);
  EXPECT_EQ(count(svg, "<rect class=\"keep\""), 1u);
  EXPECT_EQ(count(svg, "<rect class=\"failed\""), 1u);
  EXPECT_THAT(svg, HasSubstr("3 single.&lt;us&gt;: -10.00 %, 1 % may be lost"));
  one.points[2].guardrails[0].low = 0;  // No bound at all.
  EXPECT_THAT(attempt_svg(one), Not(HasSubstr("nan")));
}

TEST(AttemptPlotTest, CostStandsBesideTheMetric) {
  AttemptPlot one = plot(2);
  one.cost = "2.50 dollars a keep";
  EXPECT_THAT(attempt_svg(one), HasSubstr("(less is better); 2.50 dollars a keep"));
}

TEST(AttemptPlotTest, TextOfUsersIsNoMarkup) {
  AttemptPlot one = plot(2);
  one.title = "<script>alert(1)</script>";
  one.points[0].label = "\"><image href=x>";
  one.points[1].run_tag = "a<b";
  const std::string svg = attempt_svg(one);
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("<image")));
  EXPECT_THAT(svg, Not(HasSubstr("a<b")));
}

}  // namespace
}  // namespace assay::report
