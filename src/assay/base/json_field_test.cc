#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/json.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

class JsonFieldTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto parsed = parse_json_document(R"({
  "provider": "mine",
  "results": [
    {"name": "p1", "tflops": 1.5, "m": 128, "ok": true},
    {"name": "p2",
     "tflops": "fast", "m": 2.0, "big": 18446744073709551615, "none": null}
  ],
  "odd key\u001b": 1
})",
                                      "r.json");
    ASSERT_TRUE(parsed) << parsed.error().message;
    document_ = std::move(*parsed);
  }

  JsonField root() const { return JsonField(document_); }
  JsonField result(std::size_t index) const { return root().at("results")->items()->at(index); }

  JsonDocument document_;
};

TEST_F(JsonFieldTest, ReadsValues) {
  EXPECT_EQ(root().at("provider")->as_string().value(), "mine");
  EXPECT_EQ(result(0).at("tflops")->as_double().value(), 1.5);
  EXPECT_EQ(result(0).at("m")->as_double().value(), 128.0);
  EXPECT_EQ(result(0).at("m")->as_int64().value(), 128);
  EXPECT_TRUE(result(0).at("ok")->as_bool().value());
  EXPECT_EQ(root().at("results")->items()->size(), 2u);
  EXPECT_TRUE(result(1).at("none")->is_null());
}

TEST_F(JsonFieldTest, ErrorsNameFileLineFieldAndRemedy) {
  EXPECT_EQ(result(1).at("tflops")->as_double().error().message,
            "r.json:6: results[1].tflops: must be a finite number, but is the text 'fast'");
  EXPECT_EQ(result(0).at("tflop").error().message,
            "r.json:4: results[0]: the required key 'tflop' is missing; did you mean 'tflops'?");
  EXPECT_EQ(root().as_string().error().message,
            "r.json:1: must be text in quotes, but is an object");
  EXPECT_EQ(result(0).at("ok")->error(ErrorCode::stale, "is old").message,
            "r.json:4: results[0].ok: is old");
  EXPECT_EQ(result(0).at("ok")->error(ErrorCode::stale, "is old").code, ErrorCode::stale);
}

TEST_F(JsonFieldTest, IntegersAreNotGuessed) {
  EXPECT_THAT(result(1).at("m")->as_int64().error().message, HasSubstr("but is 2.0"));
  EXPECT_THAT(result(1).at("big")->as_int64().error().message, HasSubstr("integer of 64 bits"));
  EXPECT_THAT(result(0).at("ok")->as_int64().error().message, HasSubstr("but is true"));
}

TEST_F(JsonFieldTest, BoundsAreInclusive) {
  const JsonField m = *result(0).at("m");
  EXPECT_TRUE(m.as_int64(128, 128));
  EXPECT_THAT(m.as_int64(129, 500).error().message,
              HasSubstr("must be an integer from 129 to 500, but is 128"));
  EXPECT_THAT(m.as_int64(129).error().message, HasSubstr("at least 129"));
  EXPECT_TRUE(m.as_double(128, 128));
  EXPECT_THAT(m.as_double(0, 1).error().message, HasSubstr("a number from 0 to 1"));
}

TEST_F(JsonFieldTest, FindTellsAbsentFromNull) {
  EXPECT_FALSE(result(0).find("none"));
  ASSERT_TRUE(result(1).find("none"));
  EXPECT_FALSE(root().at("provider")->find("x")) << "text has no members";
  EXPECT_FALSE(root().at("provider")->expect_object());
}

TEST_F(JsonFieldTest, MembersAndItemsRefuseOtherKinds) {
  EXPECT_FALSE(root().items());
  EXPECT_FALSE(root().at("results")->members());
  EXPECT_EQ(result(0).members()->size(), 4u);
  EXPECT_EQ(result(0).members()->at(0).first, "m");
}

TEST_F(JsonFieldTest, UnknownKeysAreNamedWithTheNearestKnown) {
  EXPECT_TRUE(result(0).only_keys({"name", "tflops", "m", "ok"}));
  EXPECT_EQ(result(0).only_keys({"names", "tflops", "m", "ok"}).error().message,
            "r.json:4: results[0].name: unknown key; did you mean 'names'?");
}

TEST_F(JsonFieldTest, PathsArePrintable) {
  EXPECT_EQ(root().at("odd key\x1b")->path(), "['odd key\\x1b']");
}

}  // namespace
}  // namespace assay
