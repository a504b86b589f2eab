#include "assay/kernel/catalog.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/json.h"
#include "assay/kernel/testing/toy_family.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::names;
using testing::ToyFamily;

Problem small(DType dtype = DType::f32) {
  auto problem = gemm::problem(gemm::Shape{.m = 4, .n = 8, .k = 16, .dtype = dtype});
  EXPECT_TRUE(problem) << problem.error().message;
  return *problem;
}

int64_t count(const Found& found, Reason reason) {
  for (const auto& [code, refused] : found.refusals) {
    if (code == reason) return refused.count;
  }
  return 0;
}

// toys: tiles 8, 16, 32 in f32 and one kernel in f64 with stages; plain: one kernel without tiles.
Catalog make_catalog() {
  std::vector<DesignGroup> groups = testing::toy_groups();
  groups.push_back(
      {.traits = {.name = "double", .rule = testing::shared(testing::gemm_rule(DType::f64))},
       .axes = {axis("stages", {2})}});
  std::vector<DesignGroup> plain;
  plain.push_back({.traits = {.name = "plain", .rule = testing::shared(testing::gemm_rule())}});
  Catalog catalog;
  catalog.add("toys", ProviderRole::ours, std::make_shared<ToyFamily>("toy", std::move(groups)));
  catalog.add("others", ProviderRole::stock,
              std::make_shared<ToyFamily>("plain", std::move(plain)));
  return catalog;
}

class MissingLibrary final : public Provider {
 public:
  const ProviderInfo& info() const override { return info_; }

 private:
  Availability do_availability(const ProviderSettings&) const override { return {}; }
  Result<std::vector<std::shared_ptr<const Family>>> do_families(
      const ProviderSettings&) const override {
    return fail(ErrorCode::unsupported, "libvendor.so is not here; install vendor-dev");
  }
  ProviderInfo info_{.name = "vendor", .role = ProviderRole::stock};
};

// A library of one kernel.
class Library final : public Provider {
 public:
  Library(std::string name, int rank, ProviderRole role = ProviderRole::stock) {
    info_.name = std::move(name);
    info_.role = role;
    info_.rank = rank;
  }
  const ProviderInfo& info() const override { return info_; }

 private:
  Availability do_availability(const ProviderSettings&) const override { return {}; }
  Result<std::vector<std::shared_ptr<const Family>>> do_families(
      const ProviderSettings&) const override {
    std::vector<DesignGroup> groups;
    groups.push_back(
        {.traits = {.name = "of_" + info_.name, .rule = testing::shared(testing::gemm_rule())}});
    return std::vector<std::shared_ptr<const Family>>{
        std::make_shared<ToyFamily>("gemm", std::move(groups))};
  }
  ProviderInfo info_;
};

// Whose default is a race's baseline must not depend on how folders are called.
TEST(Catalog, StandsByRankAndThenAsItWasGiven) {
  Catalog catalog;
  catalog.add(Library("aardvark", kNoRank));
  catalog.add(Library("badger", 20));
  catalog.add(Library("cat", 10));
  catalog.add(Library("dog", kNoRank));
  catalog.add(Library("eel", 20));
  EXPECT_THAT(names(*catalog.get_kernels()),
              ElementsAre("of_cat", "of_badger", "of_eel", "of_aardvark", "of_dog"));
}

// As Triton's baseline beside the files that users bring to it.
TEST(Catalog, WhatAProviderOfUsersFilesListsByItselfIsNoUsers) {
  Catalog catalog;
  catalog.add(Library("takes_files", kNoRank, ProviderRole::user));
  catalog.add(Library("vendor", 10));
  ASSERT_EQ(catalog.entries().size(), 2u);
  EXPECT_EQ(catalog.entries()[0].role, ProviderRole::stock);
  EXPECT_EQ(catalog.entries()[1].role, ProviderRole::ours);
}

TEST(Catalog, GivesEverythingOrWhatCanRunAProblem) {
  const Catalog catalog = make_catalog();
  EXPECT_THAT(names(*catalog.get_kernels()),
              ElementsAre("toy_8", "toy_16", "toy_32", "double", "plain"));
  const auto found = catalog.get_kernels(small());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(names(*found), ElementsAre("toy_8", "toy_16", "toy_32", "plain"));
  EXPECT_EQ(count(*found, Reason::dtype), 1);
  EXPECT_EQ(found->refusals.total(), 1);
}

TEST(Catalog, RowsCarryTheNamesTheyWereAddedUnder) {
  const Catalog catalog = make_catalog();
  const auto found = catalog.get_kernels();
  EXPECT_EQ(found->kernels[0].metadata().provider(), "toys");
  EXPECT_EQ(found->kernels[0].metadata().family(), "toy");
  EXPECT_EQ(found->kernels[4].metadata().provider(), "others");
}

TEST(Catalog, CountsWhatItLeavesOut) {
  const Catalog catalog = make_catalog();
  auto found = catalog.get_kernels(
      small(), {.where = [](const KernelMetadata& row) { return row.design["tile_m"] == 16; }});
  EXPECT_THAT(names(*found), ElementsAre("toy_16"));
  EXPECT_EQ(count(*found, Reason::filter), 3);
  EXPECT_EQ(count(*found, Reason::dtype), 1);

  found = catalog.get_kernels(small(), {.providers = {"others"}});
  EXPECT_THAT(names(*found), ElementsAre("plain"));
  EXPECT_EQ(count(*found, Reason::provider), 4);
  EXPECT_EQ(found->kernels.size() + static_cast<size_t>(found->refusals.total()), 5u);
}

TEST(Catalog, FiltersByText) {
  const Catalog catalog = make_catalog();
  const auto pick = [&](const char* filter) {
    const auto found = catalog.get_kernels(small(), {.filter = filter});
    EXPECT_TRUE(found) << found.error().message;
    return found ? names(*found) : std::vector<std::string>();
  };
  EXPECT_THAT(pick("tile_m == 32 and provider == 'toys'"), ElementsAre("toy_32"));
  EXPECT_THAT(pick("tile_m * 2 <= 32"), ElementsAre("toy_8", "toy_16"));
  EXPECT_THAT(pick("name == 'plain'"), ElementsAre("plain"));
  EXPECT_THAT(pick("a == 'f32' and not prepares"),
              ElementsAre("toy_8", "toy_16", "toy_32", "plain"));
  EXPECT_THAT(pick("tile_m == 256"), IsEmpty());
}

TEST(Catalog, AnAttributeThatAKernelLacksDoesNotMatchIt) {
  const Catalog catalog = make_catalog();
  const auto pick = [&](const char* filter) {
    const auto found = catalog.get_kernels({.filter = filter});
    EXPECT_TRUE(found) << found.error().message;
    return found ? names(*found) : std::vector<std::string>();
  };
  EXPECT_THAT(pick("tile_m != 8"), ElementsAre("toy_16", "toy_32"));
  EXPECT_THAT(pick("not (tile_m == 8)"), ElementsAre("toy_16", "toy_32"));
  EXPECT_THAT(pick("tile_m == 8 or provider == 'others'"), ElementsAre("toy_8", "plain"));
  EXPECT_THAT(pick("provider == 'others' or tile_m == 8"), ElementsAre("toy_8", "plain"));
  EXPECT_THAT(pick("not (tile_m == 8 or provider == 'others')"), ElementsAre("toy_16", "toy_32"));
  EXPECT_THAT(pick("min(tile_m, 4) == 4 and family == 'toy'"),
              ElementsAre("toy_8", "toy_16", "toy_32"));
}

TEST(Catalog, AnAttributeOfOtherKernelsIsNoErrorAndOfNoneIs) {
  const Catalog catalog = make_catalog();
  // stages belongs to the f64 kernel, which this problem keeps out.
  const auto none = catalog.get_kernels(small(), {.filter = "stages == 2"});
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none->kernels.empty());

  const auto wrong = catalog.get_kernels(small(), {.filter = "tile_n == 8"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid_input);
  EXPECT_THAT(wrong.error().message, HasSubstr("no kernel has an attribute 'tile_n'"));
  EXPECT_THAT(wrong.error().message, HasSubstr("'tile_m'"));
}

TEST(Catalog, AFilterThatCannotBeIsAnError) {
  const Catalog catalog = make_catalog();
  EXPECT_THAT(catalog.get_kernels({.filter = "tile_m =="}).error().message, HasSubstr("column"));
  EXPECT_THAT(catalog.get_kernels({.filter = "provider == 3"}).error().message,
              HasSubstr("cannot be compared"));
  EXPECT_FALSE(catalog.get_kernels({.filter = "1 + 1"}));
}

TEST(Catalog, UnknownProvidersAreErrorsWithTheNearestName) {
  const auto found = make_catalog().get_kernels({.providers = {"toyz"}});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::not_found);
  EXPECT_THAT(found.error().message, HasSubstr("did you mean 'toys'"));
}

TEST(Catalog, RemembersAProviderWithoutItsLibrary) {
  Catalog catalog = make_catalog();
  catalog.add(MissingLibrary());
  EXPECT_THAT(catalog.missing().at("vendor"), HasSubstr("install vendor-dev"));
  const auto found = catalog.get_kernels();
  EXPECT_EQ(count(*found, Reason::library_missing), 1);
  EXPECT_EQ(found->kernels.size(), 5u);
  EXPECT_TRUE(catalog.get_kernels({.providers = {"vendor"}})->kernels.empty());
  EXPECT_EQ(count(*catalog.get_kernels({.providers = {"toys"}}), Reason::library_missing), 0);
}

TEST(Catalog, AsksTheFamilyWhatItsRuleDoesNotSay) {
  auto family = std::make_shared<ToyFamily>("toy", testing::toy_groups());
  family->supports = [](const KernelMetadata& row, const Problem&) {
    Refusals refusals;
    if (row.design["tile_m"] == 8) refusals.add(Reason::size, "too small a tile");
    return refusals;
  };
  Catalog catalog;
  catalog.add("toys", ProviderRole::user, family);
  const auto found = catalog.get_kernels(small(), {.target = Target{"x86_64", {}}});
  EXPECT_THAT(names(*found), ElementsAre("toy_16", "toy_32"));
  EXPECT_EQ(count(*found, Reason::size), 1);
}

TEST(Catalog, MatchesRowsOfAFamilyThatDoesNotLookAtTheQuery) {
  auto family = std::make_shared<ToyFamily>("toy", std::vector<DesignGroup>());
  const auto rule = testing::shared(testing::gemm_rule(DType::f64));
  family->enumerate = [rule](const Query&, const MetadataSink& sink) {
    sink({KernelTraits{.name = "one", .rule = rule}, {}});
    sink({KernelTraits{.name = "two", .rule = rule}, {{"x", 1}}});
    sink(KernelMetadata());
    sink({KernelTraits{.name = "no rule"}, {}});
  };
  Catalog catalog;
  catalog.add("toys", ProviderRole::user, family);
  const auto found = catalog.get_kernels(small());
  EXPECT_TRUE(found->kernels.empty());
  EXPECT_EQ(count(*found, Reason::dtype), 2);
  EXPECT_EQ(count(*found, Reason::other), 2);
  EXPECT_THAT(names(*catalog.get_kernels(small(DType::f64))), ElementsAre("one", "two"));
}

TEST(Catalog, AFamilyThatThrowsIsAnErrorWithItsName) {
  auto family = std::make_shared<ToyFamily>("toy", std::vector<DesignGroup>());
  family->enumerate = [](const Query&, const MetadataSink&) { throw std::runtime_error("oops"); };
  Catalog catalog;
  catalog.add("toys", ProviderRole::user, family);
  const auto found = catalog.get_kernels();
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("family toy of toys threw"));
  EXPECT_THAT(found.error().message, HasSubstr("oops"));
}

TEST(Catalog, FindsAKernelAgainByItsId) {
  const Catalog catalog = make_catalog();
  const auto found = catalog.get_kernels();
  for (const Kernel& kernel : found->kernels) {
    const std::string id = kernel.metadata().id();
    const auto again = catalog.find(id);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->metadata().name(), kernel.metadata().name());
    EXPECT_EQ(catalog.find(id.substr(0, 12))->metadata().id(), id);
  }
  const Problem problem = small();
  EXPECT_TRUE(catalog.find(found->kernels[0].metadata().id(), &problem));
  EXPECT_EQ(catalog.find(found->kernels[3].metadata().id(), &problem).error().code,
            ErrorCode::not_found)
      << "the f64 kernel cannot be one that was found for an f32 problem";
  EXPECT_EQ(catalog.find(std::string(64, '0')).error().code, ErrorCode::not_found);
  EXPECT_EQ(catalog.find("abc").error().code, ErrorCode::invalid_input);
  EXPECT_EQ(catalog.find("../../etc/passwd").error().code, ErrorCode::invalid_input);
}

TEST(Catalog, MakesAKernelFromMetadataThatCrossedAProcess) {
  const Catalog catalog = make_catalog();
  const Kernel kernel = catalog.get_kernels()->kernels[1];
  const auto row = KernelMetadata::from_json(kernel.metadata().to_json());
  ASSERT_TRUE(row) << row.error().message;
  const auto again = catalog.from_metadata(*row);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->metadata().id(), kernel.metadata().id());
  EXPECT_EQ(&again->family(), &kernel.family());

  KernelTraits strange = *row->traits;
  strange.family = "nobody";
  EXPECT_EQ(catalog.from_metadata({strange, row->design}).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace assay
