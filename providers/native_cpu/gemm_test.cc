#include "gemm.h"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/device/cpu/cpu_device.h"
#include "assay/kernel/catalog.h"
#include "assay/op/gemm/gemm.h"
#include "design.h"
#include "providers/native_cpu/info.h"
#include "testing/provider_conformance.h"

ASSAY_PROVIDER_CONFORMANCE(native_cpu,
                           {.make = assay::native_cpu::make_provider, .rows_per_problem = 12});

namespace assay::native_cpu {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

Target everything() {
  Target target = target_of(Isa::avx512_bf16, Element::f16);
  target.features.insert("avx512_vnni");
  return target;
}

// Families that offer a kernel for the shape on a machine that has everything.
std::set<std::string> families_for(const Problem& problem) {
  Catalog catalog;
  for (const auto& family : make_families()) catalog.add("native_cpu", ProviderRole::ours, family);
  const auto found = catalog.get_kernels(problem, {.target = everything()});
  EXPECT_TRUE(found) << found.error().message;
  std::set<std::string> names;
  for (const Kernel& kernel : found->kernels) names.insert(kernel.metadata().family());
  return names;
}

std::set<std::string> families_for(const gemm::Shape& shape) {
  const auto problem = gemm::problem(shape);
  EXPECT_TRUE(problem) << problem.error().message;
  return families_for(*problem);
}

TEST(NativeCpuGemm, LayoutOfTheWeightsDecidesTheFamily) {
  EXPECT_THAT(families_for({.m = 4, .n = 64, .k = 64, .layout = "tt"}),
              AllOf(Contains("rows"), Not(Contains("dots"))));
  EXPECT_THAT(families_for({.m = 4, .n = 64, .k = 64, .layout = "tn"}),
              AllOf(Contains("dots"), Not(Contains("rows"))));
}

TEST(NativeCpuGemm, PanelsNeedConstantWeights) {
  gemm::Shape shape{.m = 4, .n = 64, .k = 64, .layout = "tt"};
  EXPECT_THAT(families_for(shape), Not(Contains("panels")));
  shape.constant = {"b"};
  EXPECT_THAT(families_for(shape), Contains("panels"));
}

TEST(NativeCpuGemm, TakesBf16WithEitherOutput) {
  for (const DType out : {DType::f32, DType::bf16})
    EXPECT_THAT(
        families_for({.m = 4, .n = 64, .k = 64, .dtype = DType::bf16, .out = out, .layout = "tt"}),
        Contains("rows"));
}

TEST(NativeCpuGemm, TakesF16WithEitherOutputAndS8WithS32) {
  for (const DType out : {DType::f32, DType::f16})
    EXPECT_THAT(
        families_for({.m = 4, .n = 64, .k = 64, .dtype = DType::f16, .out = out, .layout = "tn"}),
        Contains("dots"));
  EXPECT_THAT(families_for({.m = 4, .n = 64, .k = 64, .dtype = DType::s8, .layout = "tt"}),
              Contains("rows"));
}

TEST(NativeCpuGemm, TakesWholeScalarsOfIntegersAsFarAsTheyFit) {
  gemm::Shape shape{.m = 4, .n = 64, .k = 64, .dtype = DType::s8, .layout = "tt", .alpha = -3};
  EXPECT_THAT(families_for(shape), Contains("rows"));
  shape.alpha = 0x1p31;
  EXPECT_THAT(families_for(shape), IsEmpty());
}

// Weights whose columns and rows both have gaps between elements.
TEST(NativeCpuGemm, TakesBatchesAndAnyStrides) {
  EXPECT_THAT(families_for({.m = 4, .n = 64, .k = 64, .batch = 3, .layout = "tt", .ldb = 70}),
              Contains("rows"));
  gemm::Arguments scattered;
  scattered.a = {nullptr, DType::f32, 3, {2, 3, 8}, {24, 8, 1}};
  scattered.b = {nullptr, DType::f32, 3, {2, 8, 5}, {400, 3, 30}};
  scattered.out = {nullptr, DType::f32, 3, {2, 3, 5}, {15, 5, 1}};
  EXPECT_THAT(families_for(*gemm::problem(scattered)), Contains("blocked"));
}

TEST(NativeCpuGemm, RefusesOtherTypes) {
  EXPECT_THAT(families_for({.m = 4, .n = 64, .k = 64, .dtype = DType::f64}), IsEmpty());
}

TEST(NativeCpuGemm, PrefillAlwaysHasAGeneralKernel) {
  for (const char* layout : {"tt", "tn", "nt", "nn"})
    EXPECT_THAT(families_for({.m = 4096, .n = 64, .k = 64, .layout = layout}), Contains("blocked"));
}

}  // namespace
}  // namespace assay::native_cpu
