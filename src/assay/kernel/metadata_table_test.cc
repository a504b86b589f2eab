#include "assay/kernel/metadata_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/json.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

KernelTraits traits(std::string name) {
  KernelTraits traits;
  traits.provider = "toys";
  traits.family = "toy";
  traits.name = std::move(name);
  traits.rule = std::make_shared<const ProblemRule>();
  traits.specialised_on = {"k"};
  traits.deterministic = false;
  traits.prepares = true;
  return traits;
}

// Two rows of one family, one without attributes, then the family again.
std::vector<KernelMetadata> rows() {
  const auto shared = std::make_shared<const KernelTraits>(traits("toy_{tile_m}_{kind}"));
  std::vector<DesignAxis> axes = {{{"tile_m"}, {{int64_t{32}}, {int64_t{16}}}},
                                  {{"kind"}, {{std::string("fast")}}}};
  const auto product = std::make_shared<const DesignAxes>(std::move(axes));
  return {KernelMetadata(shared, Design(product, 0)), KernelMetadata(shared, Design(product, 1)),
          KernelMetadata(traits("plain"), Design()),
          KernelMetadata(shared, Design({{"ratio", 0.5}, {"default", true}}))};
}

std::string error_of(const Json& table) {
  const Status read =
      read_table(table, [](const Json&, const KernelMetadata&) { return Status(); });
  return read ? "no error" : read.error().message;
}

TEST(MetadataTable, RowsComeBackInOrderAndShareWhatTheyShared) {
  const std::vector<KernelMetadata> before = rows();
  const auto table = parse_json(canonical(table_json(before)), "table");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->size(), 3u);
  std::vector<KernelMetadata> after;
  ASSERT_TRUE(read_table(*table, [&](const Json& block, KernelMetadata row) {
    EXPECT_TRUE(block.contains("rows"));
    after.push_back(std::move(row));
    return Status();
  }));
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].to_json(), before[i].to_json()) << i;
    EXPECT_EQ(after[i].id(), before[i].id()) << i;
  }
  EXPECT_EQ(after[0].traits, after[1].traits);
  EXPECT_EQ(after[0].design.axes(), after[1].design.axes());
}

// 77,036 configurations of CUTLASS are 900 designs.
TEST(MetadataTable, DesignsOfSeveralRulesAreWrittenOnce) {
  const auto axes = std::make_shared<const DesignAxes>(
      std::vector<DesignAxis>{{{"tile_m"}, {{int64_t{64}}, {int64_t{32}}, {int64_t{16}}}}});
  std::vector<KernelMetadata> before;
  for (const char* name : {"one", "other", "third"}) {
    const auto shared = std::make_shared<const KernelTraits>(traits(name));
    for (const uint64_t row : {2, 0, 1}) before.emplace_back(shared, Design(axes, row));
    if (before.size() == 3) before.pop_back();  // A later block has one more.
  }
  // Of axes of its own, with the same column.
  before.emplace_back(traits("fourth"), Design({{"tile_m", int64_t{8}}}));
  const Json table = table_json(before);
  size_t designs = 0;
  for (const Json& block : table) designs += block["designs"].size();
  EXPECT_EQ(table.size(), 4u);
  EXPECT_EQ(designs, 4u);
  std::vector<KernelMetadata> after;
  ASSERT_TRUE(read_table(table, [&](const Json&, KernelMetadata row) {
    after.push_back(std::move(row));
    return Status();
  }));
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i].id(), before[i].id()) << i;
  EXPECT_EQ(after.front().design.axes(), after.back().design.axes());
}

TEST(MetadataTable, AnErrorOfWhoTakesThemEndsIt) {
  int taken = 0;
  const Status read =
      read_table(table_json(rows()), [&](const Json&, const KernelMetadata&) -> Status {
        return ++taken == 2 ? Status(fail(ErrorCode::failed, "enough")) : Status();
      });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "enough");
  EXPECT_EQ(taken, 2);
}

TEST(MetadataTable, HostileTablesAreErrors) {
  const Json good = table_json(rows());
  const auto with = [&](const char* pointer, Json value) {
    Json json = good;
    json[Json::json_pointer(pointer)] = std::move(value);
    return error_of(json);
  };
  EXPECT_EQ(error_of(good), "no error");
  EXPECT_THAT(error_of(3), HasSubstr("list"));
  EXPECT_THAT(error_of(Json::array({3})), HasSubstr("object"));
  EXPECT_THAT(with("/0/shared", 3), HasSubstr("shared"));
  EXPECT_THAT(with("/0/shared/rule", 3), HasSubstr("rule"));
  EXPECT_THAT(with("/0/shared/name", ""), HasSubstr("name"));
  EXPECT_THAT(with("/0/columns", "tile_m"), HasSubstr("columns"));
  EXPECT_THAT(with("/0/columns/0", 3), HasSubstr("columns[0]"));
  EXPECT_THAT(with("/0/columns/0", "kind"), HasSubstr("differ"));
  EXPECT_THAT(with("/0/columns/0", ""), HasSubstr("differ"));
  EXPECT_THAT(with("/0/designs", 3), HasSubstr("designs"));
  EXPECT_THAT(with("/0/designs/1", {16}), HasSubstr("designs"));
  EXPECT_THAT(with("/0/designs/1/0", nullptr), HasSubstr("designs"));
  EXPECT_THAT(with("/0/designs/1/0", 18446744073709551615u), HasSubstr("designs"));
  EXPECT_THAT(with("/0/rows", 3), HasSubstr("rows"));
  EXPECT_THAT(with("/0/rows/1", 2), HasSubstr("rows"));
  EXPECT_THAT(with("/0/rows/1", -1), HasSubstr("rows"));
  EXPECT_THAT(with("/0/rows/1", "0"), HasSubstr("rows"));
  EXPECT_THAT(with("/1/rows/0", 1), HasSubstr("rows"));
  for (const Json& like : {Json(1), Json(2), Json(7), Json(-1), Json("0")})
    EXPECT_THAT(with("/1/like", like), HasSubstr("like")) << like;
}

}  // namespace
}  // namespace assay
