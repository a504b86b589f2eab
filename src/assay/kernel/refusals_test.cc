#include "assay/kernel/refusals.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/json.h"
#include "assay/kernel/provider.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

TEST(Reason, EveryNameReadsBack) {
  for (int code = 0; code <= static_cast<int>(Reason::other); ++code) {
    const auto reason = static_cast<Reason>(code);
    EXPECT_EQ(parse_reason(to_string(reason)).value(), reason) << code;
  }
  EXPECT_THAT(parse_reason("aligment").error().message, HasSubstr("'alignment'"));
}

TEST(ProviderRole, EveryNameReadsBack) {
  for (const auto role :
       {ProviderRole::stock, ProviderRole::ours, ProviderRole::user, ProviderRole::reference}) {
    EXPECT_EQ(parse_provider_role(to_string(role)).value(), role);
  }
  EXPECT_FALSE(parse_provider_role("vendor"));
}

TEST(RefusalCounts, AKernelCountsUnderItsFirstReason) {
  Refusals two;
  two.add(Reason::dtype, "first");
  two.add(Reason::layout, "second");
  RefusalCounts counts;
  counts.add(two);
  counts.add(Reason::dtype, 4, "later");
  counts.add(Refusals());
  counts.add(Reason::batch, 0, "none");
  EXPECT_EQ(counts.total(), 5);
  ASSERT_EQ(std::distance(counts.begin(), counts.end()), 1);
  EXPECT_EQ(counts.begin()->second.example, "first");
}

TEST(RefusalCounts, MergesAndGoesThroughJson) {
  RefusalCounts one, other;
  one.add(Reason::dtype, 2, "x");
  other.add(Reason::dtype, 3, "y");
  other.add(Reason::other, 1, "z");
  one.merge(other);
  EXPECT_EQ(one.total(), 6);
  const auto again = RefusalCounts::from_json(one.to_json());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->to_json(), one.to_json());
}

TEST(RefusalCounts, DoesNotOverflow) {
  RefusalCounts counts;
  counts.add(Reason::dtype, std::numeric_limits<int64_t>::max(), "x");
  counts.add(Reason::dtype, 10, "x");
  counts.add(Reason::size, 10, "x");
  EXPECT_EQ(counts.total(), std::numeric_limits<int64_t>::max());
}

TEST(RefusalCounts, HostileJsonIsAnError) {
  for (const char* text :
       {"3", R"({"dtype": 3})", R"({"dtype": {"count": -1}})", R"({"dtype": {"count": 1.5}})",
        R"({"colour": {"count": 1}})", R"({"dtype": {"count": 1, "example": []}})"}) {
    EXPECT_FALSE(RefusalCounts::from_json(Json::parse(text))) << text;
  }
}

}  // namespace
}  // namespace assay
