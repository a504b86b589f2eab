#pragma once

// A station of one small problem on a device that there is not, with a crew of fakes.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/op/gemm/gemm.h"
#include "assay/sweep/stages/find.h"
#include "assay/sweep/stages/station.h"
#include "assay/sweep/testing/fake_children.h"

namespace assay::sweep::testing {

class StageTest : public ::testing::Test {
 protected:
  // What is unlike in two kernels of a field.
  struct Row {
    std::string name;
    ProviderRole role = ProviderRole::stock;
    double compile_seconds = 0;
    bool is_default = false;
    bool prepares = false, dependent_launch = false;
  };

  void SetUp() override {
    auto made = TemporaryDirectory::create();
    ASSERT_TRUE(made);
    home_.emplace(std::move(*made));
    // A GPU: who is timed there has no clock of the parent's beside it.
    request_.venue.gpu = "GPU-fake";
    request_.question.kind = "sweep";
    request_.keep.folder = home_->path() + "/run";
    request_.keep.cache = home_->path() + "/cache";
    auto journal = Journal::open(request_.keep.folder, Json::object(), IfPresent::refuse);
    ASSERT_TRUE(journal) << journal.error().message;
    journal_.emplace(std::move(*journal));
    condition_.spacing = measure::Spacing::back_to_back;
  }

  static process::OfferedKernel offer(const Row& row) {
    KernelTraits traits;
    traits.provider = row.role == ProviderRole::user ? "mine" : "toys";
    traits.family = row.name;
    traits.name = row.name;
    traits.rule = std::make_shared<const ProblemRule>();
    traits.compile_seconds = row.compile_seconds;
    traits.prepares = row.prepares;
    traits.dependent_launch = row.dependent_launch;
    return {KernelMetadata(std::move(traits), Design({{"default", row.is_default}})), row.role};
  }

  static Candidate& named(Field& field, std::string_view name) {
    const auto found = std::ranges::find(field.candidates, name, &Candidate::family);
    EXPECT_NE(found, field.candidates.end()) << name;
    return *found;
  }
  static std::vector<std::string> names(const Field& field) {
    std::vector<std::string> all;
    for (const Candidate& candidate : field.candidates) all.push_back(candidate.family);
    return all;
  }

  // Lists them, as a discovery does.
  Result<Field> find(const std::vector<Row>& rows) {
    children_.offered.clear();
    for (const Row& row : rows) children_.offered.push_back(offer(row));
    return find_candidates(station());
  }

  Station& station() {
    if (!station_)
      station_.emplace(Station{request_, crew(), *journal_, observer_, problem_, condition_});
    return *station_;
  }
  Crew& crew() {
    if (!crew_) crew_.emplace(request_, children_.starter());
    return *crew_;
  }

  std::optional<TemporaryDirectory> home_;
  FakeChildren children_;
  Request request_;
  std::optional<Crew> crew_;
  std::optional<Journal> journal_;
  Observer observer_;
  Problem problem_ = *gemm::problem(
      {.m = 4, .n = 64, .k = 64, .dtype = DType::bf16, .out = DType::f32, .layout = "tn"});
  measure::Condition condition_;
  std::optional<Station> station_;
};

}  // namespace assay::sweep::testing
