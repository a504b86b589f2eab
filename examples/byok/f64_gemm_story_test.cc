// The same story on all three forms of one kernel: in process, as a plug-in, as a source with a
// manifest. Found, filtered, refused, run, compared.

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/input/add_kernel_files.h"
#include "assay/kernel/catalog.h"
#include "assay/op/gemm/gemm.h"
#include "examples/byok/f64_gemm_family.h"

namespace byok {
namespace {

using namespace assay;  // NOLINT: as main.cc does.
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Form {
  std::string name;
  Result<Catalog> (*bring)();
};

Result<Catalog> in_process() {
  Catalog catalog;
  catalog.add("byok", ProviderRole::user, make_f64_gemm_family());
  return catalog;
}

Result<Catalog> from_file(const std::string& file) {
  Catalog catalog;
  const auto providers = built_in_providers();
  ASSAY_TRY(input::add_kernel_files(catalog, providers, {&file, 1}));
  return catalog;
}

Result<Catalog> from_plugin() { return from_file(BYOK_PLUGIN); }
Result<Catalog> from_source() { return from_file(BYOK_MANIFEST); }

class Story : public ::testing::TestWithParam<Form> {};

std::vector<std::string> names(const Found& found) {
  std::vector<std::string> list;
  for (const Kernel& kernel : found.kernels) list.push_back(kernel.metadata().name());
  return list;
}

TEST_P(Story, DiscoverInspectRunCompare) {
  const Result<Catalog> brought = GetParam().bring();
  ASSERT_TRUE(brought) << brought.error().message;
  const Catalog& catalog = *brought;
  auto device = cpu::open({.threads = 1});
  ASSERT_TRUE(device) << device.error().message;
  const Target target = (*device)->target();

  // Sixteen kernels, each with an id of its own.
  const auto all = catalog.get_kernels();
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_THAT(names(*all), SizeIs(16));
  EXPECT_THAT(names(*all), Each(HasSubstr("F64GemmKernel_")));
  std::set<std::string> ids;
  for (const Kernel& kernel : all->kernels) ids.insert(kernel.metadata().id());
  EXPECT_THAT(ids, SizeIs(16));

  // Two of them take the document's problem; the layout keeps the others out.
  gemm::Shape shape{.m = 256, .n = 1024, .k = 128, .dtype = DType::f64, .layout = "ttt"};
  const auto problem = gemm::problem(shape);
  ASSERT_TRUE(problem) << problem.error().message;
  const auto found = catalog.get_kernels(*problem, {.target = target});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(names(*found), SizeIs(2));
  EXPECT_THAT(names(*found), Each(HasSubstr("ttt")));
  EXPECT_EQ(found->refusals.total(), 14);
  EXPECT_EQ(found->refusals.begin()->first, Reason::layout);

  // Filters on the design: by predicate and by text, some and none.
  const auto tile = [&](int64_t rows) {
    return catalog.get_kernels(*problem,
                               {.target = target, .where = [&](const KernelMetadata& row) {
                                  return row.design["tile_m"] == rows;
                                }});
  };
  EXPECT_THAT(names(*tile(32)), SizeIs(1));
  EXPECT_EQ(tile(32)->kernels.front().metadata().design.integer("tile_n", 0), 32);
  EXPECT_THAT(names(*catalog.get_kernels(*problem, {.target = target, .filter = "tile_m == 16"})),
              SizeIs(1));
  EXPECT_THAT(names(*tile(256)), IsEmpty());
  EXPECT_EQ(tile(256)->refusals.total(), 16);

  // An epilogue that nothing could prove is refused before any kernel is asked.
  gemm::Shape fused = shape;
  fused.epilogue = "softmax";
  const auto refused = gemm::problem(fused);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("steps that have one: bias, row_bias"));

  // Both run, and every element is compared with the float64 reference; so are batches, and sizes
  // that fit no tile, in every layout.
  auto folder = TemporaryDirectory::create("/tmp", "assay-byok-");
  ASSERT_TRUE(folder) << folder.error().message;
  const ArtifactCache cache(folder->path(), Log{});
  auto stream = (*device)->make_stream();
  ASSERT_TRUE(stream) << stream.error().message;
  std::vector<gemm::Shape> shapes = {shape};
  for (const char* layout : {"ttt", "ttn", "tnt", "tnn", "ntt", "ntn", "nnt", "nnn"})
    shapes.push_back(
        {.m = 33, .n = 17, .k = 19, .batch = 2, .dtype = DType::f64, .layout = layout});
  std::set<std::string> ran;
  for (const gemm::Shape& one : shapes) {
    const auto asked = gemm::problem(one);
    ASSERT_TRUE(asked) << asked.error().message;
    const auto instance = gemm::operation().make_instance(*asked, InputKind::uniform, 2025);
    ASSERT_TRUE(instance) << instance.error().message;
    const auto can = catalog.get_kernels(*asked, {.target = target});
    ASSERT_TRUE(can) << can.error().message;
    EXPECT_THAT(names(*can), SizeIs(2)) << one.layout;
    for (const Kernel& kernel : can->kernels) {
      std::vector<std::unique_ptr<Buffer>> buffers;
      Arguments arguments{*asked, {}};
      std::span<std::byte> out;
      for (size_t i = 0; i < asked->operands().size(); ++i) {
        const Operand& operand = asked->operands()[i];
        auto buffer = (*device)->allocate(static_cast<size_t>(operand.span_bytes), {});
        ASSERT_TRUE(buffer) << buffer.error().message;
        const std::span<std::byte> bytes(static_cast<std::byte*>((*buffer)->data()),
                                         static_cast<size_t>(operand.span_bytes));
        std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
        const auto input = (*instance)->input(i);
        std::copy(input.begin(), input.end(), bytes.begin());
        if (operand.access == Access::write) out = bytes;
        arguments.data.push_back(bytes.data());
        buffers.push_back(std::move(*buffer));
      }
      const Status done = kernel.run(arguments, **device, **stream, {.cache = &cache});
      ASSERT_TRUE(done) << kernel.metadata().name() << ": " << done.error().message;
      const Check check = (*instance)->check(out);
      EXPECT_TRUE(check.right) << kernel.metadata().name() << ": " << check.first_wrong;
      ran.insert(kernel.metadata().id());
    }
  }
  EXPECT_EQ(ran, ids);
}

INSTANTIATE_TEST_SUITE_P(F64Gemm, Story,
                         ::testing::Values(Form{"in_process", in_process},
                                           Form{"plugin", from_plugin},
                                           Form{"source", from_source}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace byok
