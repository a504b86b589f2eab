#include "assay/input/form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::input {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Form tree() {
  const Form leaf = Form::fields({{"size", Form::integer(1, 8), Need::required}});
  return Form::fields({{"name", Form::text("^[a-z]+$"), Need::required, "What it is called."},
                       {"leaves", Form::list(leaf, 1)},
                       {"kind", Form::words({"oak", "elm"})},
                       {"env", Form::map(Form::scalar())}});
}

TEST(FormTest, ItsSchemaNamesEveryFieldAndNoOther) {
  const Json schema = file_schema("A tree", tree());
  EXPECT_EQ(schema["title"], "A tree");
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["required"], Json::array({"name"}));
  EXPECT_EQ(schema["properties"]["name"], Json::parse(R"({"type": "string", "pattern": "^[a-z]+$",
                            "description": "What it is called."})"));
  EXPECT_EQ(schema["properties"]["leaves"]["minItems"], 1);
  EXPECT_EQ(schema["properties"]["leaves"]["items"]["properties"]["size"],
            Json::parse(R"({"type": "integer", "minimum": 1, "maximum": 8})"));
  EXPECT_EQ(schema["properties"]["kind"]["enum"], Json({"oak", "elm"}));
  EXPECT_EQ(schema["properties"]["env"]["additionalProperties"]["type"].size(), 3u);
}

TEST(FormTest, SomeOfItsFieldsMayBeNeeded) {
  const Json any = tree().with_any_of({{"kind"}, {"leaves", "env"}}).schema();
  EXPECT_EQ(any["anyOf"],
            Json::parse(R"([{"required": ["kind"]}, {"required": ["leaves", "env"]}])"));
  EXPECT_EQ(tree().with_one_of({{"kind"}}).schema()["oneOf"].size(), 1u);
  EXPECT_EQ(any["required"], Json::array({"name"}));
}

TEST(FormTest, AReaderTakesItsNamesFromIt) {
  const Form form = tree();
  EXPECT_THAT(form.names(), ElementsAre("name", "leaves", "kind", "env"));
  EXPECT_THAT(form.at("leaves").item().names(), ElementsAre("size"));
  const auto file = parse_yaml("{name: a, leafs: []}", "tree.yaml");
  ASSERT_TRUE(file.has_value());
  EXPECT_THAT(only(*file, form).error().message, HasSubstr("did you mean 'leaves'?"));
  const auto right = parse_yaml("{name: a, kind: oak}", "tree.yaml");
  EXPECT_TRUE(only(*right, form).has_value());
  EXPECT_FALSE(only(*right, form, {"kind"}).has_value()) << "not there in this case";
}

}  // namespace
}  // namespace assay::input
