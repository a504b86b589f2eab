#include "assay/select/tuned_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/hash.h"
#include "assay/base/random.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/op/gemm/tuned.h"
#include "assay/select/testing/sample_table.h"

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::shape;
using testing::Toys;

// Adds its index to the first element of out: who ran, and how often.
struct Mark {
  float value;
};
int mark(const void* state, void* const* data) {
  static_cast<float*>(data[2])[0] += static_cast<const Mark*>(state)->value;
  return 0;
}

class TunedTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    device_ = std::move(*cpu::open({.threads = 1}));
    stream_ = std::move(*device_->make_stream());
    toys_.family->bind = [](const Binding&, std::vector<Step>& steps) -> Status {
      steps.push_back(HostStep{&mark, std::make_shared<const Mark>(Mark{1})});
      return {};
    };
  }

  TunedTable table(TableContents contents) {
    auto made = TunedTable::create(std::move(contents), toys_.catalog, {.device = device_.get()});
    EXPECT_TRUE(made) << made.error().message;
    return *made;
  }

  gemm::Arguments arguments(int64_t m, int64_t n, int64_t k) {
    const auto view = [](float* data, std::array<int64_t, 2> sizes) {
      return *dense_view(data, DType::f32, sizes);
    };
    gemm::Arguments made;
    made.a = view(a_.data(), {m, k});
    made.b = view(b_.data(), {n, k});
    std::swap(made.b.size[0], made.b.size[1]);  // Stored [n, k]: column-major, as `tn` says.
    std::swap(made.b.stride[0], made.b.stride[1]);
    made.out = view(out_.data(), {m, n});
    return made;
  }

  std::string name(const Result<Choice>& choice) {
    return choice ? choice->kernel->metadata().name() : choice.error().message;
  }

  Toys toys_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  alignas(64) std::array<float, 4096> a_{}, b_{}, out_{}, other_{};
};

TEST_F(TunedTableTest, AProblemThatWasTunedGetsItsWinner) {
  TableContents contents = toys_.table();
  for (int64_t m = 1; m <= 64; ++m)
    contents.add(shape(m, 32, 32), {{static_cast<uint32_t>(m % 3), 1.0 * m}});
  const TunedTable table = this->table(contents);
  for (int64_t m = 1; m <= 64; ++m) {
    const auto choice = table.choose(shape(m, 32, 32), device_->target());
    ASSERT_TRUE(choice) << choice.error().message;
    EXPECT_EQ(choice->rule, ChoiceRule::exact);
    EXPECT_EQ(choice->problem, static_cast<uint32_t>(m - 1));
    EXPECT_EQ(choice->tuned_us, static_cast<double>(m));
    EXPECT_EQ(choice->distance, 0);
    EXPECT_EQ(name(choice), toys_.kernels[static_cast<size_t>(m % 3)].metadata().name());
  }
}

TEST_F(TunedTableTest, NamesRolesAndWeightsDoNotMatterAndSizesDo) {
  TableContents contents = toys_.table();
  contents.add(shape(4, 32, 32), {{0, 1}});
  const TunedTable table = this->table(contents);
  const auto other = gemm::problem(
      gemm::Shape{.name = "x", .role = "decode", .m = 4, .n = 32, .k = 32, .weight = 3});
  EXPECT_EQ(table.choose(*other, device_->target())->rule, ChoiceRule::exact);
  EXPECT_EQ(table.choose(shape(5, 32, 32), device_->target())->rule, ChoiceRule::nearest);
  // The same sizes, further apart in memory.
  const auto padded = gemm::problem(gemm::Shape{.m = 4, .n = 32, .k = 32, .lda = 48});
  const auto choice = table.choose(*padded, device_->target());
  EXPECT_EQ(choice->rule, ChoiceRule::nearest);
  EXPECT_EQ(choice->distance, 0);
}

// The rule `nearest` as it is defined, without any of its index: what is expected to be lost by
// each kernel on `asked`, and where none of them can take it, nothing.
struct Tuned {
  Problem problem;
  std::vector<TableChoice> choices;
};

double distance(const Problem& x, const Problem& y) {
  double sum = 0;
  for (const char* name : {"m", "n", "k"}) {
    const double step = std::log2(static_cast<double>(x.dimension(name))) -
                        std::log2(static_cast<double>(y.dimension(name)));
    sum += step * step * (*name == 'm' ? 4 : 1);
  }
  return std::sqrt(sum);
}

std::vector<const Tuned*> by_distance(const std::vector<Tuned>& table, const Problem& asked) {
  std::vector<const Tuned*> sorted;
  for (const Tuned& one : table) sorted.push_back(&one);
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Tuned* x, const Tuned* y) {
    return distance(asked, x->problem) < distance(asked, y->problem);
  });
  return sorted;
}

const TableChoice* choice_of(const Tuned& tuned, uint32_t kernel) {
  for (const TableChoice& choice : tuned.choices)
    if (choice.kernel == kernel) return &choice;
  return nullptr;
}

std::map<uint32_t, double> expected_losses(const std::vector<Tuned>& table, const Problem& asked) {
  std::vector<const Tuned*> neighbours = by_distance(table, asked);
  if (neighbours.size() > 6) neighbours.resize(6);
  std::map<uint32_t, double> losses;
  for (const Tuned* one : neighbours)
    for (const TableChoice& choice : one->choices) losses[choice.kernel] = 0;
  for (auto& [kernel, loss] : losses) {
    double weights = 0;
    for (const Tuned* one : neighbours) {
      const double weight = std::pow(distance(asked, one->problem), -2);
      const TableChoice* said = choice_of(*one, kernel);
      loss += weight *
              (said == nullptr ? 0.1 : std::log(said->median_us / one->choices.front().median_us));
      weights += weight;
    }
    loss /= weights;
  }
  return losses;
}

// Tuned problems of random sizes with random choices of three kernels.
std::vector<Tuned> random_tuned(uint64_t seed, size_t count, size_t most_choices) {
  const CounterRandom random{.key = seed};
  uint64_t next = 0;
  // From 2 on: a matrix of one row or column may be of another kind, lying as it does in both.
  const auto size = [&] { return static_cast<int64_t>(2 + random.below(next++, 300)); };
  std::vector<Tuned> tuned;
  for (size_t i = 0; i < count; ++i) {
    const int64_t m = size(), n = size(), k = size();
    Tuned& one = tuned.emplace_back(Tuned{shape(m, n, k), {}});
    std::array<uint32_t, 3> order = {0, 1, 2};
    for (size_t j = order.size(); j > 1; --j)
      std::swap(order[j - 1], order[random.below(next++, j)]);
    double us = 10;
    for (size_t j = 0; j <= random.below(next, most_choices); ++j) {
      one.choices.push_back({order[j], us});
      us *= 1 + 0.2 * random.uniform_unit(++next);
    }
    ++next;
  }
  return tuned;
}

TEST_F(TunedTableTest, OtherProblemsGetTheLeastExpectedLossOfKernelsThatCan) {
  // Kernel 0 takes even m alone, kernel 1 nothing below 100, kernel 2 all but k of a multiple of 3.
  toys_.family->supports = [](const KernelMetadata& row, const Problem& problem) {
    Refusals refusals;
    const int64_t tile = row.design.integer("tile_m", 0), m = problem.dimension("m");
    if ((tile == 8 && m % 2 != 0) || (tile == 16 && m < 100) ||
        (tile == 32 && problem.dimension("k") % 3 == 0))
      refusals.add(Reason::size, "no");
    return refusals;
  };
  const auto can = [&](uint32_t kernel, const Problem& problem) {
    return toys_.kernels[kernel].supports(problem, device_->target()).empty();
  };
  int beyond = 0, refused = 0;
  for (const size_t most_choices : {1, 3}) {
    const std::vector<Tuned> all = random_tuned(most_choices, 200, most_choices);
    TableContents contents = toys_.table();
    std::vector<Tuned> tuned;
    for (const Tuned& one : all)
      if (contents.add(one.problem, one.choices)) tuned.push_back(one);
    const TunedTable table = this->table(contents);
    for (const Tuned& query : random_tuned(50 + most_choices, 400, 1)) {
      const Problem& asked = query.problem;
      const auto choice = table.choose(asked, device_->target());
      if (!can(0, asked) && !can(1, asked) && !can(2, asked)) {
        EXPECT_FALSE(choice);
        ++refused;
        continue;
      }
      ASSERT_TRUE(choice) << choice.error().message;
      if (choice->rule == ChoiceRule::exact) continue;
      const Tuned& named = tuned[choice->problem];
      const uint32_t kernel = named.choices[choice->rank].kernel;
      EXPECT_EQ(name(choice), toys_.kernels[kernel].metadata().name());
      EXPECT_TRUE(can(kernel, asked));
      EXPECT_NEAR(choice->distance, distance(asked, named.problem), 1e-4);
      const auto plan = table.plan(Arguments{asked, {a_.data(), b_.data(), out_.data()}}, *device_);
      ASSERT_TRUE(plan) << plan.error().message;
      EXPECT_EQ(&plan->kernel(), choice->kernel);
      EXPECT_EQ(plan->choice().problem, choice->problem);
      // No nearer problem confirmed it: but for equally near ones.
      for (const Tuned& other : tuned)
        if (choice_of(other, kernel) != nullptr) {
          EXPECT_GE(distance(asked, other.problem) + 1e-4, choice->distance);
        }
      std::map<uint32_t, double> losses = expected_losses(tuned, asked);
      std::erase_if(losses, [&](const auto& loss) { return !can(loss.first, asked); });
      if (losses.empty()) {
        // Then the nearest problem with a kernel that can.
        ++beyond;
        for (const Tuned* one : by_distance(tuned, asked)) {
          if (distance(asked, one->problem) + 1e-4 > choice->distance) break;
          for (const TableChoice& other : one->choices) EXPECT_FALSE(can(other.kernel, asked));
        }
        continue;
      }
      ASSERT_TRUE(losses.contains(kernel));
      for (const auto& [other, loss] : losses) EXPECT_GE(loss + 1e-5, losses.at(kernel));
    }
  }
  EXPECT_GT(beyond, 5);
  EXPECT_GT(refused, 5);
}

TEST_F(TunedTableTest, TheOrderOfATablesProblemsDoesNotMatter) {
  std::vector<Tuned> tuned = random_tuned(7, 100, 3);
  const auto make = [&] {
    TableContents contents = toys_.table();
    for (const Tuned& one : tuned) contents.add(one.problem, one.choices);
    return table(contents);
  };
  const TunedTable before = make();
  std::reverse(tuned.begin(), tuned.end());
  std::rotate(tuned.begin(), tuned.begin() + 31, tuned.end());
  const TunedTable after = make();
  for (const Tuned& query : random_tuned(8, 300, 1)) {
    const auto one = before.choose(query.problem, device_->target());
    const auto other = after.choose(query.problem, device_->target());
    ASSERT_TRUE(one && other);
    EXPECT_EQ(name(one), name(other));
    EXPECT_EQ(one->distance, other->distance);
    EXPECT_EQ(before.contents().problems[one->problem].name,
              after.contents().problems[other->problem].name);
  }
}

TEST_F(TunedTableTest, AFlukeIsOutvotedAndTheReasonNamesWhoDecided) {
  TableContents contents = toys_.table();
  contents.add(shape(8, 32, 16), {{0, 10}, {1, 10.2}});  // toy_8 was lucky here.
  contents.add(shape(8, 8, 16), {{1, 10}, {2, 10.5}});
  contents.add(shape(8, 16, 8), {{1, 10}, {2, 10.5}});
  contents.add(shape(8, 16, 64), {{1, 10}, {2, 10.5}});
  const TunedTable table = this->table(contents);
  const auto choice = table.choose(shape(8, 16, 16), device_->target());
  EXPECT_EQ(name(choice), "toy_16");
  EXPECT_EQ(choice->problem, 0u);  // The nearest that confirmed it: second there.
  EXPECT_EQ(choice->rank, 1u);
  EXPECT_EQ(choice->tuned_us, 10.2);
  // Where the lucky one was tuned, it stays.
  EXPECT_EQ(name(table.choose(shape(8, 32, 16), device_->target())), "toy_8");
  const auto plan = gemm::plan(table, arguments(8, 16, 16), *device_);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->kernel().metadata().name(), "toy_16");
  EXPECT_EQ(plan->reason(),
            "nearest: gemm_m8_n32_k16, at a distance of 1.00; gemm_m8_n8_k16, at 1.00; "
            "gemm_m8_n16_k8, at 1.00; gemm_m8_n16_k64, at 2.00");
}

TEST_F(TunedTableTest, TheSameSizesInOtherStridesDecideWhateverNeighboursSay) {
  TableContents contents = toys_.table();
  contents.add(shape(8, 32, 32), {{2, 10}});
  for (const int64_t m : {7, 9, 10}) contents.add(shape(m, 32, 32), {{0, 10}, {1, 11}});
  const auto padded = gemm::problem(gemm::Shape{.m = 8, .n = 32, .k = 32, .lda = 48});
  const TunedTable tuned = table(contents);  // A choice points into it.
  const auto choice = tuned.choose(*padded, device_->target());
  EXPECT_EQ(choice->rule, ChoiceRule::nearest);
  EXPECT_EQ(name(choice), "toy_32");
}

TEST_F(TunedTableTest, BeyondTheNeighboursAProblemDecidesByItself) {
  toys_.family->supports = [](const KernelMetadata& row, const Problem& problem) {
    Refusals refusals;
    if (row.design.integer("tile_m", 0) != 32 && problem.dimension("m") == 8)
      refusals.add(Reason::size, "not eight");
    return refusals;
  };
  TableContents contents = toys_.table();
  for (int64_t n = 17; n <= 22; ++n) contents.add(shape(8, n, 16), {{0, 10}, {1, 11}});
  contents.add(shape(8, 64, 16), {{1, 10}, {2, 11}});
  contents.add(shape(8, 128, 16), {{2, 10}});
  const auto plan = gemm::plan(table(contents), arguments(8, 16, 16), *device_);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->kernel().metadata().name(), "toy_32");
  EXPECT_EQ(plan->reason(), "nearest: gemm_m8_n64_k16, at a distance of 2.00, its choice number 2");
  EXPECT_THAT(plan->notes(), ElementsAre(HasSubstr("toy_8"), HasSubstr("toy_16")));
}

TEST_F(TunedTableTest, WhereTheWinnerCannotTheNextOfTheSameProblemIsTaken) {
  toys_.family->supports = [](const KernelMetadata& row, const Problem& problem) {
    Refusals refusals;
    if (row.design.integer("tile_m", 0) == 8 && problem.dimension("m") == 6)
      refusals.add(Reason::size, "not six");
    return refusals;
  };
  TableContents contents = toys_.table();
  contents.add(shape(8, 32, 32), {{0, 1}, {2, 1.01}});
  contents.add(shape(16, 32, 32), {{1, 2}});
  const TunedTable tuned = table(contents);
  const auto choice = tuned.choose(shape(6, 32, 32), device_->target());
  ASSERT_TRUE(choice);
  EXPECT_EQ(name(choice), "toy_32");
  EXPECT_EQ(choice->rank, 1u);
  EXPECT_EQ(choice->problem, 0u);
}

TEST_F(TunedTableTest, OnlyProblemsOfTheSameKindAreNeighbours) {
  TableContents contents = toys_.table();
  contents.add(shape(8, 32, 32, {"b"}), {{0, 1}});
  const TunedTable table = this->table(contents);
  EXPECT_TRUE(table.choose(shape(9, 32, 32, {"b"}), device_->target()));
  const auto lifetimes = table.choose(shape(8, 32, 32), device_->target());
  ASSERT_FALSE(lifetimes);
  EXPECT_EQ(lifetimes.error().code, ErrorCode::unsupported);
  EXPECT_THAT(lifetimes.error().message, HasSubstr("only with other lifetimes"));
  for (const gemm::Shape& other :
       {gemm::Shape{.m = 8, .n = 32, .k = 32, .dtype = DType::f64, .constant = {"b"}},
        gemm::Shape{.m = 8, .n = 32, .k = 32, .layout = "tt", .constant = {"b"}},
        gemm::Shape{.m = 8, .n = 32, .k = 32, .constant = {"b"}, .alpha = 2}}) {
    const auto choice = table.choose(*gemm::problem(other), device_->target());
    ASSERT_FALSE(choice);
    EXPECT_THAT(choice.error().message, HasSubstr("no tuned problem is of the kind"));
  }
}

TEST_F(TunedTableTest, WhereNothingFitsTheReasonsAreGiven) {
  TableContents contents = toys_.table();
  contents.add(shape(8, 32, 32), {{0, 1}, {1, 1}});
  const TunedTable table = this->table(contents);
  toys_.family->supports = [](const KernelMetadata&, const Problem&) {
    Refusals refusals;
    refusals.add(Reason::size, "too odd");
    return refusals;
  };
  const auto choice = table.choose(shape(7, 32, 32), device_->target());
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, ErrorCode::unsupported);
  EXPECT_THAT(choice.error().message, HasSubstr("toy_8: too odd"));
  EXPECT_THAT(choice.error().message, HasSubstr("toy_16: too odd"));
}

TEST_F(TunedTableTest, APlanLaunchesAndRebinds) {
  TableContents contents = toys_.table();
  contents.add(shape(4, 8, 16), {{1, 3}});
  const TunedTable table = this->table(contents);
  gemm::Arguments asked = arguments(4, 8, 16);
  auto plan = gemm::plan(table, asked, *device_);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->choice().rule, ChoiceRule::exact);
  EXPECT_EQ(plan->kernel().metadata().name(), "toy_16");
  EXPECT_EQ(plan->reason(), "exact: gemm_m4_n8_k16");
  EXPECT_THAT(plan->notes(), IsEmpty());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(plan->launch(*stream_));
  EXPECT_EQ(out_[0], 3);
  asked.out.data = other_.data();
  ASSERT_TRUE(gemm::rebind(*plan, asked));
  ASSERT_TRUE(plan->launch(*stream_));
  EXPECT_EQ(out_[0], 3);
  EXPECT_EQ(other_[0], 1);
}

TEST_F(TunedTableTest, APlanOutlivesItsTable) {
  TableContents contents = toys_.table();
  contents.add(shape(4, 8, 16), {{1, 3}});
  auto table = std::make_unique<TunedTable>(this->table(contents));
  auto plan = gemm::plan(*table, arguments(5, 8, 16), *device_);
  table.reset();
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->reason(), HasSubstr("nearest: gemm_m4_n8_k16, at a distance of 0.64"));
  ASSERT_TRUE(plan->launch(*stream_));
  EXPECT_EQ(out_[0], 1);
}

TEST_F(TunedTableTest, AKernelThatCannotBeBoundMakesRoomForTheNext) {
  TableContents contents = toys_.table();
  contents.add(shape(4, 8, 16), {{0, 1}, {2, 2}});
  const TunedTable table = this->table(contents);
  int calls = 0;
  toys_.family->bind = [&](const Binding&, std::vector<Step>& steps) -> Status {
    if (calls++ == 0) return fail(ErrorCode::failed, "not today");
    steps.push_back(HostStep{&mark, std::make_shared<const Mark>(Mark{1})});
    return {};
  };
  const auto plan = gemm::plan(table, arguments(4, 8, 16), *device_);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->kernel().metadata().name(), "toy_32");
  EXPECT_THAT(plan->notes(), ElementsAre(HasSubstr("toy_8: not today")));
}

TEST_F(TunedTableTest, OperandsThatLieLessAlignedAreSaidToAndAskedAbout) {
  TableContents contents = toys_.table();
  contents.add(shape(4, 8, 16), {{0, 1}});
  const TunedTable table = this->table(contents);
  gemm::Arguments asked = arguments(4, 8, 16);
  asked.a.data = a_.data() + 4;  // 16-byte aligned.
  const auto plan = gemm::plan(table, asked, *device_);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->choice().rule, ChoiceRule::less_aligned);
}

TEST_F(TunedTableTest, WhatIsWrongWithPointersIsSaidOnce) {
  TableContents contents = toys_.table();
  contents.add(shape(4, 8, 16), {{0, 1}, {1, 1}});
  const TunedTable table = this->table(contents);
  const Arguments asked{shape(4, 8, 16), {a_.data() + 1, b_.data(), out_.data()}};
  const auto plan = table.plan(asked, *device_);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::invalid_input);
}

TEST_F(TunedTableTest, ATableOfThisMachineIsNotStale) {
  TableContents contents = toys_.table();
  contents.origin.device_kind = "cpu";
  contents.origin.device_id = device_->fingerprint().id;
  contents.add(shape(4, 8, 16), {{0, 1}});
  EXPECT_THAT(table(contents).staleness(), IsEmpty());
}

TEST_F(TunedTableTest, OtherMachinesLibrariesAndVersionsAreSaidAndTheTableStillWorks) {
  TableContents contents = toys_.table();
  contents.origin.device_kind = "cpu";
  contents.origin.device_id = "0123456789abcdef";
  contents.origin.device_name = "Old CPU";
  contents.origin.assay_version = "0.0.1";
  contents.origin.threads = 3;
  contents.kernels[0].artifact_facts = {{"version", "0.9"}};
  contents.kernels[0].artifact_hash = Artifact::without_bytes({{"version", "0.9"}}).hash;
  toys_.family->compile = [](const MaskedProblem&) {
    return Result<Artifact>(Artifact::without_bytes({{"version", "1.1"}}));
  };
  for (size_t i : {1, 2}) {
    contents.kernels[i].artifact_hash = Artifact::without_bytes({{"version", "1.1"}}).hash;
    contents.kernels[i].artifact_facts = {{"version", "1.1"}};
  }
  contents.add(shape(4, 8, 16), {{0, 1}});
  const TunedTable table = this->table(contents);
  EXPECT_THAT(table.staleness(), Contains(HasSubstr("another machine: Old CPU")));
  EXPECT_THAT(table.staleness(), Contains(HasSubstr("by assay 0.0.1")));
  EXPECT_THAT(table.staleness(), Contains(HasSubstr("with 3 threads")));
  EXPECT_THAT(table.staleness(),
              Contains(HasSubstr("toys: tuned with version 0.9; here it has version 1.1")));
  EXPECT_EQ(table.staleness().size(), 4u);
  auto plan = gemm::plan(table, arguments(4, 8, 16), *device_);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->notes(), Contains(HasSubstr("stale: tuned with version 0.9")));
  EXPECT_TRUE(plan->launch(*stream_));
}

TEST_F(TunedTableTest, KernelsThatAreNotHereAreSaidAndPassedOver) {
  TableContents contents = toys_.table();
  contents.add(shape(4, 8, 16), {{0, 1}, {1, 2}});
  contents.add(shape(64, 8, 16), {{0, 1}});
  KernelTraits traits = *contents.kernels[0].metadata.traits;
  traits.provider = "vendor";
  contents.kernels[0].metadata = KernelMetadata(traits, contents.kernels[0].metadata.design);
  const TunedTable table = this->table(contents);
  EXPECT_THAT(table.staleness(), ElementsAre(HasSubstr("vendor/toy_8 is not here: no family")));
  const auto choice = table.choose(shape(4, 8, 16), device_->target());
  ASSERT_TRUE(choice);
  EXPECT_EQ(name(choice), "toy_16");
  EXPECT_EQ(choice->rank, 1u);
  // As if it had not been tuned.
  const auto other = table.choose(shape(64, 8, 16), device_->target());
  ASSERT_TRUE(other);
  EXPECT_EQ(other->rule, ChoiceRule::nearest);
  EXPECT_EQ(name(other), "toy_16");
}

TEST_F(TunedTableTest, ATableWithoutAnyKernelOfTheCatalogDoesNotLoad) {
  TableContents contents = toys_.table();
  contents.add(shape(4, 8, 16), {{0, 1}});
  const auto table = TunedTable::create(contents, Catalog(), {});
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, ErrorCode::unsupported);
  EXPECT_THAT(table.error().message, HasSubstr("no family toy of provider toys is here"));
}

TEST_F(TunedTableTest, CodeOfTheTableIsUsedWhereItFitsAndGoesWithTheTable) {
  TableContents contents = toys_.table();
  TableKernel& kernel = contents.kernels[0];
  kernel.blob = TableBlob{.bytes = "code",
                          .file_name = "kernel.so",
                          .target = "",
                          .visible = MaskedProblem(shape(4, 8, 16), {}).key()};
  kernel.artifact_hash =
      sha256_hex(canonical({{"bytes", sha256_hex("code")}, {"facts", kernel.artifact_facts}}));
  kernel.blob->target = device_->target().to_string();
  contents.add(shape(4, 8, 16), {{0, 1}});
  toys_.family->compile = [](const MaskedProblem&) {
    return Result<Artifact>(fail(ErrorCode::unsupported, "no compiler here"));
  };
  std::string file, bytes, hash;
  toys_.family->bind = [&](const Binding& binding, std::vector<Step>& steps) -> Status {
    file = binding.artifact.file.string();
    hash = binding.artifact.hash;
    std::ifstream(file) >> bytes;
    steps.push_back(HostStep{&mark, std::make_shared<const Mark>(Mark{1})});
    return {};
  };
  {
    // The others have no code in the table, and their family cannot compile: so they are stale.
    const TunedTable table = this->table(contents);
    EXPECT_THAT(table.staleness(), ElementsAre("toys: no compiler here"));
    const auto plan = gemm::plan(table, arguments(4, 8, 16), *device_);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(bytes, "code");
    EXPECT_EQ(hash, kernel.artifact_hash);
    EXPECT_TRUE(std::filesystem::exists(file));
    // Code that saw other types, or more alignment than there is, is not for this problem.
    gemm::Arguments unaligned = arguments(4, 8, 16);
    unaligned.a.data = a_.data() + 1;
    const auto refused = gemm::plan(table, unaligned, *device_);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("compiled for other sizes or types"));
    EXPECT_THAT(refused.error().message, HasSubstr("no compiler here"));
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(TunedTableTest, CodeForAnotherTargetIsNotUsed) {
  TableContents contents = toys_.table();
  contents.kernels[0].blob = TableBlob{.bytes = "code",
                                       .file_name = "kernel.so",
                                       .target = "x86_64+avx1024",
                                       .visible = MaskedProblem(shape(4, 8, 16), {}).key()};
  contents.add(shape(4, 8, 16), {{0, 1}});
  const TunedTable table = this->table(contents);
  toys_.family->compile = [](const MaskedProblem&) {
    return Result<Artifact>(fail(ErrorCode::unsupported, "no compiler here"));
  };
  const auto plan = gemm::plan(table, arguments(4, 8, 16), *device_);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("the table's code is for x86_64+avx1024"));
}

}  // namespace
}  // namespace assay
