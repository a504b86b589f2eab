#include "assay/select/tuned_table.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/hash.h"
#include "assay/base/random.h"
#include "assay/device/cpu/cpu_device.h"
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

// The laws of the rule `nearest`, against all that the table has.
TEST_F(TunedTableTest, OtherProblemsGetTheNearestWhoseKernelCan) {
  const CounterRandom random{.key = 3};
  // From 2 on: a matrix of one row or column may be of another kind, lying as it does in both.
  const auto size = [&](uint64_t i) { return static_cast<int64_t>(2 + random.below(i, 300)); };
  // Kernel 0 takes even m alone, kernel 1 nothing below 100, kernel 2 everything.
  toys_.family->supports = [](const KernelMetadata& row, const Problem& problem) {
    Refusals refusals;
    const int64_t tile = row.design.integer("tile_m", 0), m = problem.dimension("m");
    if ((tile == 8 && m % 2 != 0) || (tile == 16 && m < 100)) refusals.add(Reason::size, "no");
    return refusals;
  };
  TableContents contents = toys_.table();
  std::vector<Problem> tuned;
  std::vector<uint32_t> winners;
  for (uint64_t i = 0; i < 200; ++i) {
    const Problem problem = shape(size(4 * i), size(4 * i + 1), size(4 * i + 2));
    const auto winner = static_cast<uint32_t>(random.below(4 * i + 3, 3));
    if (!contents.add(problem, {{winner, 1}})) continue;
    tuned.push_back(problem);
    winners.push_back(winner);
  }
  const TunedTable table = this->table(contents);
  const auto distance = [](const Problem& x, const Problem& y) {
    double sum = 0;
    for (const char* name : {"m", "n", "k"}) {
      const double step = std::log2(static_cast<double>(x.dimension(name))) -
                          std::log2(static_cast<double>(y.dimension(name)));
      sum += step * step * (*name == 'm' ? 4 : 1);
    }
    return std::sqrt(sum);
  };
  for (uint64_t i = 0; i < 400; ++i) {
    const Problem asked = shape(size(10'000 + 3 * i), size(10'001 + 3 * i), size(10'002 + 3 * i));
    const auto choice = table.choose(asked, device_->target());
    ASSERT_TRUE(choice) << choice.error().message;
    EXPECT_TRUE(choice->kernel->supports(asked, device_->target()).empty());
    EXPECT_NEAR(choice->distance, distance(asked, tuned[choice->problem]), 1e-4);
    for (size_t t = 0; t < tuned.size(); ++t) {
      if (!toys_.kernels[winners[t]].supports(asked, device_->target()).empty()) continue;
      EXPECT_GE(distance(asked, tuned[t]) + 1e-4, choice->distance);
    }
  }
}

TEST_F(TunedTableTest, WhereTheWinnerCannotTheNextOfTheSameProblemIsTaken) {
  toys_.family->supports = [](const KernelMetadata& row, const Problem& problem) {
    Refusals refusals;
    if (row.design.integer("tile_m", 0) == 8 && problem.dimension("m") == 6)
      refusals.add(Reason::size, "not six");
    return refusals;
  };
  TableContents contents = toys_.table();
  contents.add(shape(8, 32, 32), {{0, 1}, {2, 1.1}});
  contents.add(shape(16, 32, 32), {{1, 2}});
  const auto choice = table(contents).choose(shape(6, 32, 32), device_->target());
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
  auto plan = table.plan(asked, *device_);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->choice().rule, ChoiceRule::exact);
  EXPECT_EQ(plan->kernel().metadata().name(), "toy_16");
  EXPECT_EQ(plan->reason(), "exact: gemm_m4_n8_k16");
  EXPECT_THAT(plan->notes(), IsEmpty());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(plan->launch(*stream_));
  EXPECT_EQ(out_[0], 3);
  asked.out.data = other_.data();
  ASSERT_TRUE(plan->rebind(asked));
  ASSERT_TRUE(plan->launch(*stream_));
  EXPECT_EQ(out_[0], 3);
  EXPECT_EQ(other_[0], 1);
}

TEST_F(TunedTableTest, APlanOutlivesItsTable) {
  TableContents contents = toys_.table();
  contents.add(shape(4, 8, 16), {{1, 3}});
  auto table = std::make_unique<TunedTable>(this->table(contents));
  auto plan = table->plan(arguments(5, 8, 16), *device_);
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
  const auto plan = table.plan(arguments(4, 8, 16), *device_);
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
  const auto plan = table.plan(asked, *device_);
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
  auto plan = table.plan(arguments(4, 8, 16), *device_);
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
    const auto plan = table.plan(arguments(4, 8, 16), *device_);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(bytes, "code");
    EXPECT_EQ(hash, kernel.artifact_hash);
    EXPECT_TRUE(std::filesystem::exists(file));
    // Code that saw other types, or more alignment than there is, is not for this problem.
    gemm::Arguments unaligned = arguments(4, 8, 16);
    unaligned.a.data = a_.data() + 1;
    const auto refused = table.plan(unaligned, *device_);
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
  const auto plan = table.plan(arguments(4, 8, 16), *device_);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("the table's code is for x86_64+avx1024"));
}

}  // namespace
}  // namespace assay
