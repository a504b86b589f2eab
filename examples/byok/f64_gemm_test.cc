// The story of bringing a kernel, from finding it to being told why it does not fit.

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/json.h"
#include "assay/base/random.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/kernel/catalog.h"
#include "assay/op/gemm/gemm.h"
#include "examples/byok/f64_gemm_family.h"

namespace byok {
namespace {

using namespace assay;  // NOLINT: as main.cc does.
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> names(const Found& found) {
  std::vector<std::string> list;
  for (const Kernel& kernel : found.kernels) list.push_back(kernel.metadata().name());
  return list;
}

// a, b and out in memory, with layouts as letters: t rows contiguous, n columns.
struct Data {
  int64_t l, m, n, k;
  std::string layout;
  std::vector<double> a, b, out;

  Data(int64_t batch, int64_t rows, int64_t columns, int64_t depth, std::string letters)
      : l(batch),
        m(rows),
        n(columns),
        k(depth),
        layout(std::move(letters)),
        a(static_cast<size_t>(l * m * k)),
        b(static_cast<size_t>(l * k * n)),
        out(static_cast<size_t>(l * m * n), std::nan("")) {
    const CounterRandom random{2025, 0};
    random.fill_uniform(0, std::span(a));
    random.fill_uniform(a.size(), std::span(b));
  }

  static TensorView view(std::vector<double>& data, int64_t l, int64_t rows, int64_t columns,
                         char letter) {
    TensorView made{.data = data.data(), .dtype = DType::f64, .rank = 3};
    made.size = {l, rows, columns};
    if (letter == 't') {
      made.stride = {rows * columns, columns, 1};
    } else {
      made.stride = {rows * columns, 1, rows};
    }
    return made;
  }

  gemm::Arguments typed() {
    return {.a = view(a, l, m, k, layout[0]),
            .b = view(b, l, k, n, layout[1]),
            .out = view(out, l, m, n, layout[2]),
            .accumulate = DType::f64};
  }

  static double at(const TensorView& view, int64_t i, int64_t row, int64_t column) {
    return static_cast<const double*>(
        view.data)[i * view.stride[0] + row * view.stride[1] + column * view.stride[2]];
  }

  // Largest |out - a x b|, not a number where an element was not written.
  double largest_error() {
    const gemm::Arguments views = typed();
    double largest = 0;
    for (int64_t i = 0; i < l; ++i) {
      for (int64_t row = 0; row < m; ++row) {
        for (int64_t column = 0; column < n; ++column) {
          long double sum = 0;
          for (int64_t x = 0; x < k; ++x) {
            sum += static_cast<long double>(at(views.a, i, row, x)) * at(views.b, i, x, column);
          }
          const double error = std::fabs(at(views.out, i, row, column) - static_cast<double>(sum));
          if (!(error <= largest)) largest = error;
        }
      }
    }
    return largest;
  }
};

class F64Gemm : public ::testing::Test {
 protected:
  F64Gemm() {
    catalog_.add("byok", ProviderRole::user, make_f64_gemm_family());
    device_ = std::move(*cpu::open({.threads = 1}));
    stream_ = std::move(*device_->make_stream());
  }

  Found find(const Problem& problem, KernelQuery query = {}) {
    query.target = device_->target();
    auto found = catalog_.get_kernels(problem, query);
    EXPECT_TRUE(found) << found.error().message;
    return std::move(*found);
  }

  Catalog catalog_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
};

// The document's example: L, M, N, K = 1, 256, 1024, 128, everything row-major.
const gemm::Shape kShape = {.m = 256, .n = 1024, .k = 128, .dtype = DType::f64, .layout = "ttt"};

TEST_F(F64Gemm, OwnsSixteenConfigurations) {
  const auto found = catalog_.get_kernels();
  ASSERT_TRUE(found);
  ASSERT_EQ(found->kernels.size(), 16u);
  const std::vector<std::string> all = names(*found);
  EXPECT_EQ(all.front(), "F64GemmKernel_tile32x32_ttt");
  EXPECT_EQ(all[1], "F64GemmKernel_tile32x32_ttn");
  EXPECT_EQ(all[8], "F64GemmKernel_tile16x16_ttt");
  EXPECT_EQ(all.back(), "F64GemmKernel_tile16x16_nnn");
  std::set<std::string> ids;
  for (const Kernel& kernel : found->kernels) ids.insert(kernel.metadata().id());
  EXPECT_EQ(ids.size(), 16u);
}

TEST_F(F64Gemm, IsDiscoveredWithTheReasonsOfTheOthers) {
  const Found found = find(*gemm::problem(kShape));
  EXPECT_THAT(names(found),
              ElementsAre("F64GemmKernel_tile32x32_ttt", "F64GemmKernel_tile16x16_ttt"));
  ASSERT_EQ(found.refusals.total(), 14);
  EXPECT_EQ(found.refusals.begin()->first, Reason::layout);
  EXPECT_THAT(found.refusals.begin()->second.example, HasSubstr("row-major"));
}

TEST_F(F64Gemm, RunsTheDocumentsExampleRight) {
  Data data(1, 256, 1024, 128, "ttt");
  const auto problem = gemm::problem(data.typed());
  ASSERT_TRUE(problem) << problem.error().message;
  const Found found = find(*problem);
  ASSERT_EQ(found.kernels.size(), 2u);
  const Arguments arguments{*problem, {data.a.data(), data.b.data(), data.out.data()}};
  const Status ran = found.kernels[0].run(arguments, *device_, *stream_, {});
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_LT(data.largest_error(), 1e-12);
}

// Every configuration on a problem whose sizes fit no tile, with two matrices in the batch.
TEST_F(F64Gemm, EveryConfigurationIsRightBeyondTheLastTile) {
  for (const char* layout : {"ttt", "ttn", "tnt", "tnn", "ntt", "ntn", "nnt", "nnn"}) {
    Data data(2, 33, 17, 19, layout);
    const auto problem = gemm::problem(data.typed());
    ASSERT_TRUE(problem) << problem.error().message;
    const Found found = find(*problem);
    EXPECT_THAT(names(found), ElementsAre(std::string("F64GemmKernel_tile32x32_") + layout,
                                          std::string("F64GemmKernel_tile16x16_") + layout));
    for (const Kernel& kernel : found.kernels) {
      std::fill(data.out.begin(), data.out.end(), std::nan(""));
      const Arguments arguments{*problem, {data.a.data(), data.b.data(), data.out.data()}};
      ASSERT_TRUE(kernel.run(arguments, *device_, *stream_, {}));
      EXPECT_LT(data.largest_error(), 1e-13) << kernel.metadata().name();
    }
  }
}

TEST_F(F64Gemm, CompilesOncePlansOnceAndLaunchesOften) {
  Data data(1, 8, 8, 8, "ttt"), other(1, 8, 8, 8, "ttt");
  const auto problem = gemm::problem(data.typed());
  const Kernel kernel = find(*problem).kernels[1];
  const auto artifact = kernel.compile(*problem, device_->target(), {});
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(kernel.workspace_bytes(*problem, 1), 0u);
  const Arguments arguments{*problem, {data.a.data(), data.b.data(), data.out.data()}};
  auto plan = kernel.plan({.arguments = arguments, .artifact = *artifact, .device = *device_});
  ASSERT_TRUE(plan) << plan.error().message;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(plan->launch(*stream_));
  EXPECT_LT(data.largest_error(), 1e-13);
  const std::vector<void*> moved = {other.a.data(), other.b.data(), other.out.data()};
  if (plan->rebind(moved)) {  // Unless the allocator placed it less well than the first.
    ASSERT_TRUE(plan->launch(*stream_));
    EXPECT_LT(other.largest_error(), 1e-13);
  }
}

TEST_F(F64Gemm, ATileThatDoesNotExistIsNotFound) {
  const Problem problem = *gemm::problem(kShape);
  const Found by_predicate =
      find(problem, {.where = [](const KernelMetadata& m) { return m.design["tile_m"] == 256; }});
  EXPECT_THAT(names(by_predicate), IsEmpty());
  EXPECT_EQ(by_predicate.refusals.total(), 16);
  EXPECT_THAT(names(find(problem, {.filter = "tile_m == 256"})), IsEmpty());
  EXPECT_THAT(names(find(problem, {.filter = "tile_m == 16 and family == 'F64GemmKernel'"})),
              ElementsAre("F64GemmKernel_tile16x16_ttt"));
}

TEST_F(F64Gemm, AnEpilogueIsRefusedByWhoHasNoneAndByAllIfItHasNoReference) {
  gemm::Shape shape = kShape;
  shape.epilogue = "relu";
  const Found fused = find(*gemm::problem(shape));
  EXPECT_THAT(names(fused), IsEmpty());
  EXPECT_GT(fused.refusals.total(), 0);
  shape.epilogue = "softmax";
  const auto refused = gemm::problem(shape);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("steps that have one: bias, row_bias"));
}

TEST_F(F64Gemm, AnotherTypeIsRefusedByTheRule) {
  gemm::Shape shape = kShape;
  shape.dtype = DType::f32;
  const Found found = find(*gemm::problem(shape));
  EXPECT_THAT(names(found), IsEmpty());
  EXPECT_EQ(found.refusals.begin()->first, Reason::dtype);
  EXPECT_EQ(found.refusals.begin()->second.count, 16);
}

TEST_F(F64Gemm, OperandsMustHaveRankThree) {
  const Problem whole = *gemm::problem(kShape);
  Problem::Parts parts;
  parts.operation = "gemm";
  parts.name = "flat";
  parts.dimensions = {whole.dimensions().begin(), whole.dimensions().end()};
  parts.attributes = whole.attributes();
  parts.layout = whole.layout();
  for (Operand operand : whole.operands()) {
    operand.sizes.erase(operand.sizes.begin());
    operand.strides.erase(operand.strides.begin());
    parts.operands.push_back(std::move(operand));
  }
  const Problem flat = Problem::from_parts(std::move(parts));
  const Kernel kernel = find(whole).kernels[0];
  EXPECT_TRUE(kernel.supports(whole, device_->target()).empty());
  const Refusals refusals = kernel.supports(flat, device_->target());
  EXPECT_EQ(refusals.size(), 3u);
  EXPECT_THAT(refusals.front().sentence, HasSubstr("operand a has rank 2; this takes rank 3"));
  EXPECT_THAT(names(find(flat)), IsEmpty());
}

TEST_F(F64Gemm, IsFoundAgainByItsId) {
  const Problem problem = *gemm::problem(kShape);
  for (const Kernel& kernel : find(problem).kernels) {
    const auto again = catalog_.find(kernel.metadata().id(), &problem);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->metadata().name(), kernel.metadata().name());
  }
}

TEST_F(F64Gemm, MetadataCrossesProcessesAsJson) {
  Data data(1, 20, 20, 20, "ttt");
  const auto problem = gemm::problem(data.typed());
  const Kernel kernel = find(*problem).kernels[0];
  const std::string text = canonical(kernel.metadata().to_json());
  const auto row = KernelMetadata::from_json(*parse_json(text, "metadata"));
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(row->to_json(), kernel.metadata().to_json());
  EXPECT_EQ(row->provider(), "byok");
  EXPECT_EQ(row->design.integer("tile_n", 0), 32);

  const auto again = catalog_.from_metadata(*row);
  ASSERT_TRUE(again) << again.error().message;
  const Arguments arguments{*problem, {data.a.data(), data.b.data(), data.out.data()}};
  ASSERT_TRUE(again->run(arguments, *device_, *stream_, {}));
  EXPECT_LT(data.largest_error(), 1e-13);
}

}  // namespace
}  // namespace byok
