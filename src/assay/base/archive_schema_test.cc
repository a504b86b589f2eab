#include "assay/base/archive_schema.h"

#include <gtest/gtest.h>

namespace assay::schema_test {

enum class Colour { red, green };
std::string_view to_string(Colour colour) { return colour == Colour::green ? "green" : "red"; }
std::optional<Colour> parse_colour(std::string_view text) {
  if (text == "red") return Colour::red;
  if (text == "green") return Colour::green;
  return std::nullopt;
}
Status read_value(const JsonField& field, Colour& colour) {
  ASSAY_TRY(const std::string text, field.as_string());
  colour = parse_colour(text).value_or(Colour::red);
  return {};
}
Json schema_value(SchemaOf<Colour>, SchemaTypes&) { return enum_schema<Colour>(parse_colour); }

struct Leaf {
  std::int64_t count = 0;
  double share = 0;
};

template <class A, archive::Is<Leaf> T>
void describe(A& a, T& leaf) {
  a.required("count", leaf.count, archive::kPositive);
  a("share", leaf.share, archive::Range{0, 1});
}

struct Tree {
  std::string name;
  bool tall = false;
  std::vector<Leaf> leaves;
  std::optional<Leaf> first;
  std::map<std::string, double> sizes;
  Json rest;
  std::uint32_t seed = 0;
  Colour colour = Colour::red;
};

template <class A, archive::Is<Tree> T>
void describe(A& a, T& tree) {
  a.required("name", tree.name, archive::at_most(10));
  a("tall", tree.tall);
  a.required("leaves", tree.leaves);
  a("first", tree.first);
  a.required("sizes", tree.sizes, archive::kNotNegative);
  a("rest", tree.rest);
  a.required("seed", tree.seed);
  a.required("colour", tree.colour);
}

TEST(ArchiveSchemaTest, ItSaysWhatADescriptionSays) {
  const Json schema = file_schema<Tree>("A tree", {{"const", "tree/1"}});
  const Json& properties = schema["properties"];
  EXPECT_EQ(schema["title"], "A tree");
  EXPECT_EQ(schema["required"], Json({"name", "leaves", "sizes", "seed", "colour", "schema"}));
  EXPECT_EQ(properties["name"], Json({{"type", "string"}, {"maxLength", 10}}));
  EXPECT_EQ(properties["tall"],
            Json::parse(R"({"anyOf": [{"type": "boolean"}, {"type": "null"}]})"))
      << "null counts as absent";
  const std::string leaf = "#/$defs/schema_test.Leaf";
  EXPECT_EQ(properties["leaves"], Json({{"type", "array"}, {"items", {{"$ref", leaf}}}}));
  EXPECT_EQ(properties["first"]["anyOf"][0], Json({{"$ref", leaf}}));
  EXPECT_EQ(properties["first"]["anyOf"].size(), 2u);
  EXPECT_EQ(properties["sizes"]["additionalProperties"],
            Json({{"type", "number"}, {"minimum", 0}}));
  EXPECT_EQ(properties["rest"], Json::object()) << "whatever there is";
  EXPECT_EQ(properties["seed"],
            Json({{"type", "integer"}, {"minimum", 0}, {"maximum", 4294967295}}));
  EXPECT_EQ(properties["colour"]["enum"], Json({"red", "green"}));
  EXPECT_EQ(properties["schema"], Json({{"const", "tree/1"}}));
  const Json& defined = schema["$defs"]["schema_test.Leaf"];
  EXPECT_EQ(defined["properties"]["count"], Json({{"type", "integer"}, {"minimum", 1}}));
  EXPECT_EQ(defined["properties"]["share"]["anyOf"][0],
            Json({{"type", "number"}, {"minimum", 0}, {"maximum", 1}}));
  EXPECT_EQ(defined["required"], Json::array({"count"}));
}

}  // namespace assay::schema_test
