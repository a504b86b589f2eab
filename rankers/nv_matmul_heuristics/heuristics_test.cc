#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/dynamic_library.h"
#include "assay/op/gemm/gemm.h"
#include "library.h"
#include "testing/fake_gpu.h"
#include "testing/ranker_conformance.h"

namespace assay::nv_matmul_heuristics {

std::unique_ptr<Ranker> make_ranker();

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Beside the test.
ProviderSettings fake() {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  return {{"library", (here / "libfake_nv_matmul_heuristics.so").string()}};
}

// The real one, where it is installed or this variable says it is.
ProviderSettings real() {
  const char* file = std::getenv("ASSAY_NV_MATMUL_HEURISTICS");
  return file == nullptr ? ProviderSettings{} : ProviderSettings{{"library", file}};
}

ASSAY_RANKER_CONFORMANCE(fake, {.make = make_ranker, .settings = fake});
ASSAY_RANKER_CONFORMANCE(real, {.make = make_ranker, .settings = real});

KernelMetadata row(int64_t m, int64_t n, int64_t cluster_m, int64_t cluster_n,
                   int64_t split_k = 1) {
  return testing::gpu_row({{"tile_m", m},
                           {"tile_n", n},
                           {"tile_k", int64_t{64}},
                           {"cluster_m", cluster_m},
                           {"cluster_n", cluster_n},
                           {"split_k", split_k}});
}

Scores score(const std::vector<KernelMetadata>& rows, const gemm::Shape& shape,
             const DeviceFacts& device, const ProviderSettings& settings) {
  const auto scorer = make_ranker()->open(settings);
  EXPECT_TRUE(scorer) << scorer.error().message;
  const auto problem = gemm::problem(shape);
  EXPECT_TRUE(problem) << problem.error().message;
  return (*scorer)->score(rows, *problem, device);
}

const gemm::Shape kShape{.m = 4096, .n = 4096, .k = 4096, .dtype = DType::f16};

TEST(NvMatmulHeuristics, ProposalsStandInFrontInTheirOrderTheRestByEstimate) {
  const std::vector<KernelMetadata> rows = {
      row(256, 128, 1, 1), row(64, 64, 1, 1),     row(128, 256, 2, 1), row(64, 64, 2, 1),
      row(96, 64, 1, 1),   row(64, 128, 1, 1, 4), row(64, 128, 1, 1)};
  const Scores scores = score(rows, kShape, testing::h200(), fake());
  EXPECT_EQ(scores.costs[2], 0);
  EXPECT_EQ(scores.costs[1], 1);
  EXPECT_EQ(scores.costs[5], 2) << "it splits k, as the third proposal does";
  EXPECT_GT(scores.costs[3], 1000) << "another cluster is no proposal";
  EXPECT_GT(scores.costs[6], scores.costs[3]);
  EXPECT_GT(scores.costs[0], scores.costs[6]);
  EXPECT_TRUE(std::isnan(scores.costs[4]));
  EXPECT_THAT(scores.unscored, ElementsAre(::testing::Pair(HasSubstr("no estimate"), 1)));
}

TEST(NvMatmulHeuristics, OperandsThatChangePlacesChangeTheirTiles) {
  const std::vector<KernelMetadata> rows = {testing::gpu_row({{"tile_m", int64_t{256}},
                                                              {"tile_n", int64_t{128}},
                                                              {"tile_k", int64_t{64}},
                                                              {"cluster_m", int64_t{1}},
                                                              {"cluster_n", int64_t{2}},
                                                              {"swapped", true}})};
  EXPECT_EQ(score(rows, kShape, testing::h200(), fake()).costs[0], 0);
}

TEST(NvMatmulHeuristics, TheLibraryIsToldTheLayout) {
  const std::vector<KernelMetadata> rows = {row(128, 256, 2, 1)};
  gemm::Shape shape = kShape;
  for (const auto& [layout, place] :
       {std::pair("tn", 0.0), {"tt", 1.0}, {"nt", 1.0}, {"tnn", 1.0}, {"ntn", 1.0}}) {
    shape.layout = layout;
    EXPECT_EQ(score(rows, shape, testing::h200(), fake()).costs[0], place) << layout;
  }
}

TEST(NvMatmulHeuristics, AGpuOrATypeThatItDoesNotKnowIsAReason) {
  const std::vector<KernelMetadata> rows = {row(128, 256, 2, 1)};
  DeviceFacts other = testing::h200();
  other.name = "NVIDIA Quadro 9";
  EXPECT_THAT(score(rows, kShape, other, fake()).unscored,
              ElementsAre(::testing::Pair(HasSubstr("the GPU NVIDIA Quadro 9"), 1)));
  gemm::Shape bytes = kShape;
  bytes.dtype = DType::s8;
  bytes.out = DType::s32;
  EXPECT_THAT(score(rows, bytes, testing::h200(), fake()).unscored,
              ElementsAre(::testing::Pair(HasSubstr("element types"), 1)));
  EXPECT_EQ(gpu_number("NVIDIA H100 80GB HBM3"), 9000u);
  EXPECT_EQ(gpu_number("NVIDIA H100 PCIe"), 9001u);
  EXPECT_EQ(gpu_number("NVIDIA H100 NVL"), 9002u);
  EXPECT_EQ(gpu_number("NVIDIA H200"), 9003u);
  EXPECT_EQ(gpu_number("NVIDIA H20"), 9004u);
  EXPECT_EQ(gpu_number("NVIDIA A100-SXM4-80GB"), 8000u);
  EXPECT_EQ(gpu_number("NVIDIA A10"), 8003u);
  EXPECT_EQ(gpu_number("NVIDIA A100 80GB PCIe"), 8001u);
  EXPECT_EQ(gpu_number("NVIDIA L40S"), 8902u);
  EXPECT_EQ(gpu_number("Quadro"), std::nullopt);
}

TEST(NvMatmulHeuristics, AMissingLibrarySaysWhatToInstall) {
  const auto none = make_ranker()->open({{"library", "/nowhere/libnvMatmulHeuristics.so.0"}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::unsupported);
  EXPECT_THAT(none.error().message, HasSubstr("/nowhere/libnvMatmulHeuristics.so.0"));
  EXPECT_THAT(none.error().message, HasSubstr("install nvidia-matmul-heuristics"));
  // Another library is none.
  const auto other = make_ranker()->open({{"library", "libc.so.6"}});
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("nvMatmulHeuristicsCreate"));
}

TEST(NvMatmulHeuristics, DescriptorsEndWithTheirScorerAndTheHandleIsLeftAlone) {
  auto library = DynamicLibrary::open(fake().at("library"));
  ASSERT_TRUE(library) << library.error().message;
  int (*live)() = nullptr;
  ASSERT_TRUE(library->load("fake_live_objects", live));
  const int before = live();
  { (void)score({row(128, 256, 2, 1)}, kShape, testing::h200(), fake()); }
  EXPECT_EQ(live(), before);
}

// What a worker tells rankers of the GPU that its driver shows.
TEST(NvMatmulHeuristics, ScoresOnAGpuAsItsDriverTellsOfIt) {
  const auto gpu = testing::open_fake_gpu();
  ASSERT_TRUE(gpu) << gpu.error().message;
  const DeviceFacts facts = facts_of(**gpu);
  EXPECT_EQ(facts.capability, 9);
  EXPECT_EQ(facts.multiprocessors, 132);
  EXPECT_GT(facts.clock_hz, 1e9);
  EXPECT_GT(facts.bytes_per_second, 1e12);
  EXPECT_GT(facts.l2_bytes, 1e6);
  EXPECT_EQ(score({row(128, 256, 2, 1)}, kShape, facts, fake()).costs[0], 0);
}

// Facts of 0.1.0.27, on a square problem of an H200: a large tile leads, and small ones are far
// behind.
TEST(NvMatmulHeuristics, TheRealLibraryPrefersLargeTilesForLargeProblems) {
  const auto scorer = make_ranker()->open(real());
  if (!scorer) GTEST_SKIP() << scorer.error().message;
  EXPECT_FALSE((*scorer)->version().empty());
  const std::vector<KernelMetadata> rows = {row(64, 64, 1, 1), row(128, 256, 2, 1)};
  const Scores scores = score(rows, kShape, testing::h200(), real());
  EXPECT_LT(scores.costs[1], scores.costs[0]);
  EXPECT_LT(scores.costs[1], 8) << "it is proposed";
}

}  // namespace
}  // namespace assay::nv_matmul_heuristics
