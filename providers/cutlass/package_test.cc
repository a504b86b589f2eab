// Against the package nvidia-cutlass and a real nvcc, where they are: the folder that holds
// cutlass_library is named by ASSAY_TEST_CUTLASS. Compiling one kernel takes a minute and 3.4 GB,
// so that is done only where ASSAY_TEST_NVCC names the compiler as well.
#include <cstdlib>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/subprocess.h"
#include "assay/kernel/catalog.h"
#include "assay/op/gemm/gemm.h"
#include "call.h"
#include "providers/cutlass/info.h"
#include "space.h"

namespace assay::cutlass {
namespace {

class CutlassPackage : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const folder = std::getenv("ASSAY_TEST_CUTLASS");
    if (folder == nullptr)
      GTEST_SKIP() << "ASSAY_TEST_CUTLASS names no folder with the package nvidia-cutlass";
    folder_ = folder;
  }

  // What Python prints, with the package where it is imported from.
  std::string python(std::string_view script, std::vector<std::string> words) const {
    SubprocessOptions options;
    options.argv = {"python3", "-"};
    options.argv.insert(options.argv.end(), words.begin(), words.end());
    options.env = {"PYTHONDONTWRITEBYTECODE=1"};
    const auto output = run_command(options, {.max_output = size_t{64} << 20, .input = script});
    EXPECT_TRUE(output && output->status.success()) << (output ? output->err : "");
    return output ? output->out : "";
  }

  static std::string embedded(std::string_view name) {
    for (const EmbeddedFile& file : embedded_files())
      if (file.name == name) return std::string(file.content);
    return {};
  }

  // Names as ours are made, and as the generator makes them.
  void expect_same_names(const Table& table, const std::string& level) const {
    std::set<std::string> ours, theirs;
    for (const Group& group : table.groups)
      for (const uint32_t design : table.lists[group.list])
        ours.insert(Configuration{table.designs[design], group.operands}.stock_name());
    const std::string script =
        "import sys\nsys.argv = ['x', sys.argv[1]]\nsource = " +
        Json(embedded("list_configurations.py")).dump() +
        "\nscope = {'__name__': 'listing'}\nexec(source, scope)\nsys.path.insert(0, sys.argv[1])\n"
        "import contextlib\n"
        "with contextlib.redirect_stdout(sys.stderr): all = list(scope['operations']('" +
        level +
        "'))\n"
        "for operation in all: print(operation.procedural_name())\n";
    std::istringstream lines(python(script, {folder_}));
    for (std::string name; std::getline(lines, name);) theirs.insert(name);
    EXPECT_EQ(static_cast<int64_t>(theirs.size()), table.configurations);
    EXPECT_EQ(ours, theirs);
  }

  std::string folder_;
};

TEST_F(CutlassPackage, TheTableInTheProgramIsTheGenerators) {
  EXPECT_EQ(python(embedded("list_configurations.py"), {folder_}), embedded("configurations.txt"));
  expect_same_names(table_of(sm90()), "default");
  EXPECT_EQ(python(embedded("list_configurations.py"), {folder_, "--level", "sm80"}),
            embedded("configurations_sm80.txt"));
  expect_same_names(table_of(sm80()), "sm80");
}

TEST_F(CutlassPackage, TheLargestLevelHas77036Configurations) {
  const auto cache = TemporaryDirectory::create("/tmp", "assay-cutlass-");
  ASSERT_TRUE(cache);
  const auto table = whole_table({.directory = folder_, .cache = cache->path()});
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->configurations, 77036);
  expect_same_names(*table, "max");
}

// Which kernel for which GPU, and what it is of CUTLASS's.
struct Compiled {
  const char* filter;
  const char* target;
  bool swapped = false;
  int least_registers = 0;
};

class CutlassCompiler : public CutlassPackage, public ::testing::WithParamInterface<Compiled> {};

TEST_P(CutlassCompiler, MakesAKernelThatAnswersWithoutAGpu) {
  const char* const nvcc = std::getenv("ASSAY_TEST_NVCC");
  if (nvcc == nullptr) GTEST_SKIP() << "ASSAY_TEST_NVCC names no nvcc to compile with for a minute";
  const auto folder = TemporaryDirectory::create("/tmp", "assay-cutlass-");
  ASSERT_TRUE(folder);
  const ProviderSettings settings = {
      {"nvcc", nvcc}, {"directory", folder_}, {"cache", folder->path()}, {"ampere", "all"}};
  const auto provider = make_provider();
  Catalog catalog;
  catalog.add(*provider, settings);
  const auto problem =
      gemm::problem(gemm::Shape{.m = 16, .n = 6144, .k = 4096, .dtype = DType::f16});
  const Target target = *Target::parse(GetParam().target);
  const auto found = catalog.get_kernels(*problem, {.target = target, .filter = GetParam().filter});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->kernels.size(), 1u);
  const Kernel& kernel = found->kernels.front();
  const ArtifactCache cache(folder->path(), Log{});
  const auto artifact = kernel.compile(*problem, target, {.cache = &cache, .timeout_seconds = 600});
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(artifact->facts["spill_store_bytes"], 0);
  EXPECT_GT(artifact->facts["registers"].get<int>(), GetParam().least_registers);
  EXPECT_GE(artifact->facts["stages"].get<int>(), 3);
  RecordProperty("facts", artifact->facts.dump());
  const auto mapped = MappedKernel::open(artifact->file.string());
  ASSERT_TRUE(mapped) << mapped.error().message;
  auto call = problem_of(*problem, kernel.metadata());
  ASSERT_TRUE(call);
  EXPECT_EQ(call->m, GetParam().swapped ? 6144 : 16);
  alignas(16) static char somewhere[16];
  assay_cutlass::Pointers pointers{somewhere, somewhere, somewhere, somewhere, somewhere};
  EXPECT_EQ(mapped->kernel->can_implement(&*call, &pointers), 0);
  auto odd = *call;
  odd.k = 4097;
  EXPECT_NE(mapped->kernel->can_implement(&odd, &pointers), 0);
  if (GetParam().swapped) return;  // Hopper's asks for a GPU's multiprocessors.
  EXPECT_EQ(mapped->kernel->workspace_bytes(&*call), 0u);
  call->splits = 4;
  assay::Design split = kernel.metadata().design;
  split.set("split_k", int64_t{4});
  EXPECT_LE(mapped->kernel->workspace_bytes(&*call),
            most_workspace_bytes(*problem, KernelMetadata(kernel.metadata().traits, split)));
  EXPECT_GT(mapped->kernel->workspace_bytes(&*call), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    All, CutlassCompiler,
    ::testing::Values(
        Compiled{"family == 'gemm' and name == '128x128x64_2x1_cooperative_tma_persistent'",
                 "sm_90a", true, 100},
        Compiled{"name == '128x128x32_2x2_4_multistage'", "sm_80", false, 60},
        Compiled{"name == '128x128x32_2x2_4_multistage'", "sm_90a", false, 60},
        Compiled{"name == '64x256x64_1x4_4_multistage'", "sm_80", false, 60}));

}  // namespace
}  // namespace assay::cutlass
