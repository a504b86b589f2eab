#include "assay/kernel/metadata.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/hash.h"
#include "assay/base/json.h"
#include "assay/kernel/testing/toy_family.h"

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

KernelMetadata sample(std::string name = "k_{tile_m}_{layout}_{fast}_{ratio}_{none}") {
  ProblemRule rule = testing::gemm_rule();
  rule.operands[0] = {.role = "a",
                      .dtypes = {DType::f16, DType::bf16},
                      .major = Major::row,
                      .divisibility = 8,
                      .alignment = 16};
  rule.operands[1].prepared = true;
  rule.accumulate = {DType::f32};
  rule.targets = {*Target::parse("x86_64+avx2+fma")};
  return {KernelTraits{.provider = "toys",
                       .family = "toy",
                       .name = std::move(name),
                       .rule = testing::shared(std::move(rule)),
                       .specialised_on = {"k", "n"},
                       .deterministic = false,
                       .prepares = true,
                       .dependent_launch = true},
          Design{{"tile_m", 32}, {"layout", "tn"}, {"fast", true}, {"ratio", 0.5}}};
}

TEST(KernelMetadata, NameIsFilledInFromTheDesign) {
  EXPECT_EQ(sample().name(), "k_32_tn_1_0.5_{none}");
  EXPECT_EQ(sample("plain").name(), "plain");
  EXPECT_EQ(sample("{").name(), "{");
  EXPECT_EQ(sample("{{tile_m}}").name(), "{32}");
}

TEST(KernelMetadata, IdIsTheHashOfWhatWasAskedFor) {
  const KernelMetadata row = sample();
  const Json json = row.to_json();
  const Json asked = {{"provider", json.at("provider")},
                      {"family", json.at("family")},
                      {"rule", json.at("rule")},
                      {"design", json.at("design")}};
  EXPECT_EQ(row.id(), sha256_hex(canonical(asked)));
}

// What a user's file says of its call is a part of the id, and the id says so; a record from before
// keeps the id that it has.
TEST(KernelMetadata, TheCallIsPartOfAnIdOfVersionTwo) {
  const KernelMetadata silent = sample();
  KernelTraits traits = *silent.traits;
  traits.call = R"({"args":["a","b","out"]})";
  const KernelMetadata row(traits, silent.design);
  EXPECT_NE(row.id(), silent.id());
  traits.call = R"({"args":["b","a","out"]})";
  EXPECT_NE(KernelMetadata(traits, silent.design).id(), row.id());
  const Json json = row.to_json();
  EXPECT_EQ(json.at("id_version"), 2);
  EXPECT_EQ(json.at("call").at("args").size(), 3u);
  EXPECT_FALSE(silent.to_json().contains("id_version"));
  EXPECT_EQ(KernelMetadata::from_json(json)->id(), row.id());
  EXPECT_EQ(KernelMetadata::from_json(silent.to_json())->id(), silent.id());
  EXPECT_TRUE(row.has_id(row.id()));
  EXPECT_TRUE(row.has_id(silent.id()));
  EXPECT_FALSE(silent.has_id(row.id()));
  Json later = json;
  later["id_version"] = 3;
  EXPECT_THAT(KernelMetadata::from_json(later).error().message, HasSubstr("id_version"));
  Json other = json;
  other["call"]["args"] = {"b"};
  EXPECT_THAT(KernelMetadata::from_json(other).error().message, HasSubstr("is not the hash"));
}

TEST(KernelMetadata, RenamingKeepsTheIdAndAnyOtherChangeDoesNot) {
  const std::string id = sample().id();
  EXPECT_EQ(sample("other").id(), id);
  std::set<std::string> ids = {id};
  KernelMetadata row = sample();
  row.design.set("tile_m", 64);
  ids.insert(row.id());
  row = sample();
  row.design.set("stages", 2);
  ids.insert(row.id());
  for (const bool provider : {true, false}) {
    KernelTraits traits = *sample().traits;
    (provider ? traits.provider : traits.family) = "others";
    ids.insert(KernelMetadata(traits, sample().design).id());
  }
  KernelTraits traits = *sample().traits;
  ProblemRule rule = *traits.rule;
  rule.batch = false;
  traits.rule = testing::shared(rule);
  ids.insert(KernelMetadata(traits, sample().design).id());
  EXPECT_EQ(ids.size(), 6u);
}

KernelMetadata with_error(ErrorBound error) {
  KernelTraits traits = *sample().traits;
  traits.error_bound = error;
  return {traits, sample().design};
}

// Of kernels that promise nothing new the id is what it always was.
TEST(KernelMetadata, APromiseOfOtherErrorsIsPartOfTheId) {
  const KernelMetadata plain = with_error(ErrorBound::elementwise);
  EXPECT_EQ(plain.id(), sample().id());
  EXPECT_FALSE(plain.to_json().contains("error"));
  EXPECT_EQ(plain.lookup("error"), Value("elementwise"));
  const KernelMetadata normwise = with_error(ErrorBound::normwise);
  EXPECT_NE(normwise.id(), sample().id());
  EXPECT_EQ(normwise.lookup("error"), Value("normwise"));
  Json json = normwise.to_json();
  const auto again = KernelMetadata::from_json(json);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->error_bound(), ErrorBound::normwise);
  EXPECT_EQ(again->to_json(), json);
  json.erase("error");
  EXPECT_THAT(KernelMetadata::from_json(json).error().message, HasSubstr("id: is not the hash"));
  json["error"] = "none";
  EXPECT_THAT(
      KernelMetadata::from_json(json).error().message,
      HasSubstr("error: no bound of errors is called 'none'; write elementwise or normwise"));
}

TEST(KernelMetadata, LooksUpWhatFiltersAskFor) {
  const KernelMetadata row = sample("plain");
  EXPECT_EQ(row.lookup("provider"), Value("toys"));
  EXPECT_EQ(row.lookup("family"), Value("toy"));
  EXPECT_EQ(row.lookup("name"), Value("plain"));
  EXPECT_EQ(row.lookup("prepares"), Value(true));
  EXPECT_EQ(row.lookup("deterministic"), Value(false));
  EXPECT_EQ(row.lookup("tile_m"), Value(32));
  EXPECT_EQ(row.lookup("a"), Value("f16|bf16"));
  EXPECT_EQ(row.lookup("out"), Value("f32"));
  EXPECT_EQ(row.lookup("c"), std::nullopt);
  for (const std::string& name : row.attribute_names()) EXPECT_TRUE(row.lookup(name)) << name;
  EXPECT_THAT(row.attribute_names(), Contains("ratio"));
}

TEST(KernelMetadata, GoesThroughJson) {
  const KernelMetadata row = sample();
  const auto again = KernelMetadata::from_json(row.to_json());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->to_json(), row.to_json());
  EXPECT_EQ(again->id(), row.id());
  EXPECT_EQ(again->name(), row.name());
  EXPECT_TRUE(again->design == row.design) << "the order too";
  EXPECT_EQ(again->rule(), row.rule());
  EXPECT_EQ(again->specialised_on(), row.specialised_on());
  EXPECT_TRUE(again->prepares() && again->dependent_launch() && !again->deterministic());
}

TEST(KernelMetadata, JsonThroughTextKeepsTheId) {
  const auto json = parse_json(canonical(sample().to_json()), "text");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(KernelMetadata::from_json(*json).value().id(), sample().id());
}

TEST(KernelMetadata, AnIdThatDoesNotFitIsAnError) {
  Json json = sample().to_json();
  json["design"]["tile_m"] = 33;
  EXPECT_THAT(KernelMetadata::from_json(json).error().message, HasSubstr("id: is not the hash"));
}

// Every value of the JSON replaced by every kind of wrong one: an error, or metadata that is
// consistent with itself; never a crash or an exception.
void replace_each(Json& node, const std::function<void()>& check) {
  const Json kept = node;
  for (const Json& wrong : {Json(), Json(true), Json(-1), Json(1e300), Json(18446744073709551615u),
                            Json(""), Json("\xff\xfe"), Json(std::string(5000, '{')), Json::array(),
                            Json::object(), Json::array({Json::object()}), Json{{"x", {1, 2}}}}) {
    node = wrong;
    check();
  }
  node = kept;
  if (!node.is_structured()) return;
  for (auto& child : node) replace_each(child, check);
}

TEST(KernelMetadata, HostileJsonNeverThrows) {
  Json json = sample().to_json();
  json.erase("id");
  int accepted = 0, refused = 0;
  replace_each(json, [&] {
    const auto row = KernelMetadata::from_json(json);
    if (!row) {
      EXPECT_FALSE(row.error().message.empty());
      ++refused;
      return;
    }
    ++accepted;
    EXPECT_EQ(row->id().size(), 64u);
    EXPECT_LT(row->name().size(), 100000u);
  });
  EXPECT_GT(refused, 300);
  EXPECT_GT(accepted, 0);
}

TEST(KernelMetadata, MissingFieldsAreNamed) {
  const Json whole = sample().to_json();
  for (const char* field : {"provider", "family", "name", "rule", "design"}) {
    Json json = whole;
    json.erase(field);
    const auto row = KernelMetadata::from_json(json);
    ASSERT_FALSE(row) << field;
    EXPECT_THAT(row.error().message, HasSubstr(field));
  }
}

TEST(KernelMetadata, DesignOrderMustNameTheDesign) {
  for (const Json& order :
       {Json{"tile_m"}, Json{"tile_m", "tile_m", "fast", "ratio"}, Json{"a", "b", "c", "d"}}) {
    Json json = sample().to_json();
    json["design_order"] = order;
    EXPECT_FALSE(KernelMetadata::from_json(json)) << order;
  }
}

}  // namespace
}  // namespace assay
