// What stands above a Triton function, what the compiler is asked, and what is believed of its
// answer: with a Python that is none (testing/fake_triton.h), and with a real one where there is
// one.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "assay/input/kernel_source.h"
#include "assay/kernel/catalog.h"
#include "assay/kernel/export.h"
#include "assay/op/gemm/gemm.h"
#include "family.h"
#include "providers/triton/info.h"
#include "python.h"
#include "testing/bound_kernel.h"
#include "testing/fake_gpu.h"
#include "testing/fake_triton.h"
#include "testing/provider_conformance.h"

namespace assay::triton {
namespace {

using ::testing::AllOf;
using testing::FakeTriton;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const Target kHopper = *Target::parse("sm_90a");
const std::string kExamples = ASSAY_EXAMPLES;

constexpr const char* kHead =
    "# assay: {name: f, entry: f, dtype: f32, layout: tn, args: [a, b, out, m, n, k],\n"
    "#         launch: {grid: [m]}}\n";

Problem problem_of(const gemm::Shape& shape) {
  auto made = gemm::problem(shape);
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

class Folder {
 public:
  Folder() : fake_(folder_->path(), "3.9.0"), cache_(folder_->path() + "/cache", Log{}) {}

  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = std::filesystem::path(folder_->path()) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  const FakeTriton& fake() const { return fake_; }
  const std::string& path() const { return folder_->path(); }
  ProviderSettings settings() const { return {{"python", fake_.python()}}; }

  CompileContext context() const {
    return {.cache = &cache_, .timeout_seconds = timeout_seconds, .run_guest = &run_here};
  }

  Result<std::vector<KernelEntry>> read(const std::string& file) const {
    ASSAY_TRY(auto sources, input::read_sources(std::vector{file}, [](const KernelEntry&) {
                return LaunchForm::grid;
              }));
    return std::move(sources.front().entries);
  }

  Found kernels(const std::string& file, const Problem& problem) const {
    Catalog catalog;
    const auto entries = read(file);
    EXPECT_TRUE(entries) << entries.error().message;
    for (const KernelEntry& entry : entries ? *entries : std::vector<KernelEntry>()) {
      auto family = make_family(entry, settings());
      EXPECT_TRUE(family) << family.error().message;
      if (family) catalog.add("triton", ProviderRole::user, *family);
    }
    auto found = catalog.get_kernels(problem, {.target = kHopper});
    EXPECT_TRUE(found) << found.error().message;
    return found ? std::move(*found) : Found{};
  }

  Result<Artifact> compile(const std::string& file, const Problem& problem) const {
    const Found found = kernels(file, problem);
    if (found.kernels.empty()) return fail(ErrorCode::failed, "no kernel");
    return found.kernels.front().compile(problem, kHopper, context());
  }

  // What compiling a file with such a head says.
  std::string error_of(const std::string& head) const {
    const auto entries = read(write("k.py", head));
    if (!entries) return entries.error().message;
    const auto family = make_provider()->bring(entries->front(), settings());
    return family ? "" : family.error().message;
  }

  double timeout_seconds = 60;

 private:
  Result<TemporaryDirectory> folder_ = TemporaryDirectory::create("/tmp", "assay-triton-");
  FakeTriton fake_;
  ArtifactCache cache_;
};

const gemm::Shape kSmall{.m = 16, .n = 32, .k = 48};

TEST(TritonPython, IsFoundByItsPackageAndSaysWhatToInstallOtherwise) {
  const Folder folder;
  const auto found = find_python(folder.settings());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->version, "3.9.0");
  EXPECT_EQ(found->program, folder.fake().python());
  const auto reason = [](const std::string& python) {
    const auto availability = make_provider()->availability({{"python", python}});
    EXPECT_FALSE(availability.available);
    return availability.reason;
  };
  EXPECT_THAT(reason("/bin/sh"), HasSubstr("pip install triton"));
  EXPECT_THAT(reason(folder.path() + "/nothing"), HasSubstr("no program"));
  const std::string old = folder.path() + "/old";
  EXPECT_THAT(reason(FakeTriton(old, "3.1.0").python()), HasSubstr("3.2 is the oldest"));
  EXPECT_THAT(make_provider()->check({{"python", "python3"}}).error().message,
              HasSubstr("whole path"));
  EXPECT_TRUE(make_provider()->check({{"python", "found"}, {"ptxas", "bundled"}}));
}

TEST(TritonHead, HasAGridAndLeavesTheRestToTheCompiler) {
  const Folder folder;
  const auto with = [&](std::string_view besides) {
    return folder.error_of(
        "# assay: {entry: f, dtype: f32, layout: tn, args: [a, b, out, m, n, "
        "k]" +
        std::string(besides) + "}\n");
  };
  EXPECT_EQ(with(", launch: {grid: [m]}"), "");
  EXPECT_THAT(with(""), HasSubstr("launch: {grid: [ceil_div(n, 64), m]}"));
  EXPECT_THAT(with(", launch: {grid: [m], block: [32]}"), HasSubstr("block"));
  EXPECT_THAT(with(", launch: {grid: [m]}, flags: [-O3]"), HasSubstr("num_warps"));
  EXPECT_THAT(with(", launch: {grid: [m]}, tunables: {aligned: [true]}"), HasSubstr("aligned"));
}

TEST(TritonRows, AreListedWithoutPython) {
  const Folder folder;
  folder.fake().run("exit 9");
  const std::string file = folder.write("k.py", kHead);
  EXPECT_THAT(folder.kernels(file, problem_of(kSmall)).kernels, SizeIs(1));
  EXPECT_THAT(folder.kernels(file, problem_of({.m = 5, .n = 6, .k = 7})).kernels, SizeIs(1));
  EXPECT_FALSE(folder.fake().was_asked());
}

// The example's configurations, and the embedded baseline, which is the same file.
TEST(TritonRows, OfTheBaselineFitTheirProblems) {
  const Folder folder;
  const std::string file = kExamples + "/triton_matmul/triton_matmul.py";
  const auto of = [&](const gemm::Shape& shape) {
    std::map<std::string, int> families;
    for (const Kernel& kernel : folder.kernels(file, problem_of(shape)).kernels)
      ++families[std::string(kernel.metadata().family())];
    return families;
  };
  const auto few = of({.m = 8, .n = 4096, .k = 4096, .dtype = DType::f16});
  EXPECT_EQ(few.count("matmul_tn"), 0u);
  EXPECT_GT(few.at("matmul_few_rows_tn"), 4);
  const auto many = of({.m = 4096, .n = 4096, .k = 8192, .dtype = DType::bf16});
  EXPECT_EQ(many.count("matmul_few_rows_tn"), 0u);
  EXPECT_GT(many.at("matmul_tn"), 4);
  EXPECT_GT(many.at("matmul_descriptors"), 2);
  EXPECT_LE(many.at("matmul_tn") + many.at("matmul_descriptors"), 32);
  EXPECT_THAT(of({.m = 64, .n = 64, .k = 64, .dtype = DType::f64}), IsEmpty());
  const auto own = make_provider()->families(folder.settings());
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_THAT(*own, SizeIs(7));
  const auto older = make_provider()->families(
      {{"python", FakeTriton(folder.path() + "/older", "3.2.0").python()}});
  ASSERT_TRUE(older) << older.error().message;
  EXPECT_THAT(*older, SizeIs(6)) << "descriptors came later";
  EXPECT_FALSE(make_provider()->families({{"python", "/bin/sh"}}));
}

// What decides how wide loads can be: it is asked for where the problem has it, and not elsewhere.
TEST(TritonRequest, SaysTypesConstantsAndMultiples) {
  const Folder folder;
  folder.fake().answer(FakeTriton::kernel("triton_gemm"));
  const std::string file = folder.write(
      "k.py",
      "# assay: {entry: f, dtype: [f16, bf16], layout: tn,\n"
      "#         args: [a, b, out, l, m, n, k, a_m, a_k, ldb, out_l, tile, alpha, beta],\n"
      "#         divisibility: {l: 1, m: 4}, specialised_on: [n],\n"
      "#         tunables: {tile: [32], num_warps: [8], fast: [true]}, launch: {grid: [m]}}\n"
      "import local\n");
  folder.write("local.py", "x = 1\n");
  const auto argument = [&](const Json& request, std::string_view name) {
    for (const Json& one : request.at("args"))
      if (one.at("name") == name) return one;
    return Json();
  };
  for (const bool aligned : {true, false}) {
    SCOPED_TRACE(aligned);
    const auto artifact = folder.compile(
        file, problem_of({.m = 4, .n = 64, .k = aligned ? 32 : 40, .dtype = DType::bf16}));
    ASSERT_TRUE(artifact) << artifact.error().message;
    const Json request = folder.fake().request();
    ASSERT_TRUE(request.is_object());
    EXPECT_EQ(request.at("capability"), 90);
    EXPECT_EQ(argument(request, "a"), (Json{{"name", "a"}, {"type", "*bf16"}, {"divisible", 16}}));
    const int multiple = aligned ? 16 : 1;
    EXPECT_EQ(argument(request, "k"),
              (Json{{"name", "k"}, {"type", "i32"}, {"divisible", multiple}}));
    EXPECT_EQ(argument(request, "ldb").at("divisible"), multiple);
    EXPECT_EQ(argument(request, "m").at("divisible"), 4) << "as the entry promises";
    EXPECT_EQ(argument(request, "a_k"), (Json{{"name", "a_k"}, {"value", 1}}));
    EXPECT_EQ(argument(request, "n"), (Json{{"name", "n"}, {"value", 64}}));
    EXPECT_EQ(argument(request, "alpha").at("type"), "fp32");
    EXPECT_EQ(argument(request, "tile"), Json()) << "by name";
    EXPECT_EQ(request.at("tunables"), (Json{{"tile", 32}, {"num_warps", 8}, {"fast", true}}));
    EXPECT_EQ(request.at("options"), (Json{{"num_warps", 8}}));
    EXPECT_EQ(request.at("files").size(), 2u);
    EXPECT_EQ(request.at("files").at("local.py"), "x = 1\n");
  }
}

TEST(TritonRequest, DescriptorsAreBlocks) {
  const Folder folder;
  folder.fake().answer(FakeTriton::kernel("triton_gemm"));
  const std::string file = folder.write(
      "k.py",
      "# assay: {entry: f, dtype: f16, layout: tn, args: [map_a, map_b, out, m, n, k],\n"
      "#         tunables: {wide: [64]},\n"
      "#         launch: {grid: [m], maps: {a: {box: [wide, 128]}, b: {box: [64, wide * 2]}}}}\n");
  const auto artifact =
      folder.compile(file, problem_of({.m = 64, .n = 64, .k = 64, .dtype = DType::f16}));
  ASSERT_TRUE(artifact) << artifact.error().message;
  const Json request = folder.fake().request();
  EXPECT_EQ(request.at("args").at(0).at("type"), "tensordesc<fp16[128,64]>");
  EXPECT_EQ(request.at("args").at(1).at("type"), "tensordesc<fp16[128,64]>");
  EXPECT_THAT(folder.error_of("# assay: {entry: f, dtype: f16, layout: tn, args: [map_a, b, out, "
                              "m], launch: {grid: [m], maps: {a: {box: [64, 64], swizzle: 128}}}}"),
              HasSubstr("swizzle"));
}

TEST(TritonArtifact, IsCachedByItsFilesItsTritonAndWhatWasAsked) {
  const Folder folder;
  folder.fake().answer(FakeTriton::kernel("triton_gemm"));
  const Problem problem = problem_of(kSmall);
  const std::string file = folder.write("k.py", std::string(kHead) + "import local\n");
  folder.write("local.py", "x = 1\n");
  const auto asked = [&] {
    const auto artifact = folder.compile(file, problem);
    EXPECT_TRUE(artifact) << artifact.error().message;
    return folder.fake().request().is_object();
  };
  EXPECT_TRUE(asked());
  EXPECT_FALSE(asked());
  folder.write("local.py", "x = 2\n");
  EXPECT_TRUE(asked());
  folder.write("other.py", "x = 2\n");
  EXPECT_FALSE(asked());
  folder.write("lib/python3.11/site-packages/triton-3.9.0.dist-info/RECORD", "another\n");
  EXPECT_TRUE(asked());
  EXPECT_FALSE(asked());
}

TEST(TritonArtifact, OfAFileThatIsNoUtf8IsMadeAllTheSame) {
  const Folder folder;
  folder.fake().answer(FakeTriton::kernel("triton_gemm"));
  const auto artifact =
      folder.compile(folder.write("k.py", std::string(kHead) + "# \xff\xfe\n"), problem_of(kSmall));
  EXPECT_TRUE(artifact) << artifact.error().message;
}

TEST(TritonArtifact, HasTheFactsOfTheLaunchAndOfTheCode) {
  const Folder folder;
  folder.fake().answer(FakeTriton::kernel("triton_gemm"));
  const auto artifact = folder.compile(folder.write("k.py", kHead), problem_of(kSmall));
  ASSERT_TRUE(artifact) << artifact.error().message;
  const Json& facts = artifact->facts;
  EXPECT_EQ(facts.at("compiler"), "triton 3.9.0");
  EXPECT_EQ(facts.at("registers"), 40);
  EXPECT_EQ(facts.at("spill_store_bytes"), 8);
  EXPECT_EQ(facts.at("num_warps"), 4);
  EXPECT_EQ(facts.at("shared_bytes"), 1024);
  EXPECT_EQ(read_file(artifact->file.string()).value_or(""), testing::fake_cubin("triton_gemm"));
}

// The helper ran a user's code: whatever it says is a sentence, and nothing else happens.
TEST(TritonAnswer, OfAHostileHelperIsABuildFailure) {
  Folder folder;
  const Problem problem = problem_of(kSmall);
  const std::string file = folder.write("k.py", kHead);
  const auto failure = [&] {
    const auto artifact = folder.compile(file, problem);
    EXPECT_FALSE(artifact);
    if (artifact) return std::string();
    EXPECT_EQ(artifact.error().code, ErrorCode::build_failed) << artifact.error().message;
    EXPECT_THAT(artifact.error().message, HasSubstr("k.py:1: "));
    EXPECT_LT(artifact.error().message.size(), 10000u);
    EXPECT_THAT(artifact.error().message, Not(HasSubstr("\x1b")));
    return artifact.error().message;
  };
  const auto said = [&](std::string_view script) {
    folder.fake().run(script);
    return failure();
  };
  EXPECT_THAT(said("echo nonsense"), HasSubstr("no answer of the helper's"));
  EXPECT_THAT(said("echo '[]'"), HasSubstr("no answer of the helper's"));
  EXPECT_THAT(said("echo '{}'"), HasSubstr("kernel"));
  EXPECT_THAT(said("exit 0"), HasSubstr("exited with code 0 before it had compiled anything"));
  EXPECT_THAT(said("echo 'a \033[31mred word' >&2; kill -SEGV $$"), HasSubstr("SIGSEGV"));
  EXPECT_THAT(said("echo '  File \"x\", line 1' >&2; echo 'ImportError: no triton' >&2; exit 1"),
              HasSubstr("ImportError: no triton"));
  EXPECT_THAT(said("yes '[[[[[[[[[[' | head -c 60000000"), HasSubstr("it is too long"));
  EXPECT_THAT(said("yes '[' | head -c 1000000 | tr -d '\\n'"), HasSubstr("no answer"));
  folder.timeout_seconds = 0.3;
  EXPECT_THAT(said("sleep 100"), HasSubstr("was stopped after 300 ms (--compile-timeout)"));
  folder.timeout_seconds = 60;

  const auto changed = [&](const char* field, const Json& value) {
    Json answer = FakeTriton::kernel("triton_gemm");
    if (value.is_discarded())
      answer["kernel"].erase(field);
    else
      answer["kernel"][field] = value;
    folder.fake().answer(answer);
    return failure();
  };
  const Json gone(Json::value_t::discarded);
  const Json whole = FakeTriton::kernel("triton_gemm").at("kernel");
  for (const auto& [name, value] : whole.items())
    if (name != "num_ctas") {
      EXPECT_THAT(changed(name.c_str(), gone), HasSubstr(name));
    }
  EXPECT_THAT(changed("num_warps", 33), HasSubstr("num_warps"));
  EXPECT_THAT(changed("num_warps", "four"), HasSubstr("num_warps"));
  EXPECT_THAT(changed("shared_bytes", -1), HasSubstr("shared_bytes"));
  EXPECT_THAT(changed("cluster", {1, 1}), HasSubstr("cluster"));
  EXPECT_THAT(changed("cluster", {1, 1, 0}), HasSubstr("cluster"));
  EXPECT_THAT(changed("global_scratch_bytes", int64_t{1} << 40), HasSubstr("global_scratch"));
  EXPECT_THAT(changed("parameters", 1e9), HasSubstr("parameters"));
  EXPECT_THAT(changed("descriptors", {{{"block_size", {1 << 20, 64}}, {"swizzle", 3}}}),
              HasSubstr("block_size"));
  EXPECT_THAT(changed("symbol", "a b; rm"), HasSubstr("symbol"));
  EXPECT_THAT(changed("cubin", "AAAA"), HasSubstr("cubin"));
  EXPECT_THAT(changed("cubin", "?!"), HasSubstr("cubin"));
  EXPECT_THAT(changed("cooperative", true), HasSubstr("cooperative"));
}

TEST(TritonAnswer, AUsersErrorHasItsPlaceAndItsLastLine) {
  const Folder folder;
  folder.fake().answer({{"error",
                         {{"place", "k.py:37"},
                          {"what", "NameError: name 'x' is not defined\n\033[2J"},
                          {"trace", "never shown"}}}});
  const auto artifact = folder.compile(folder.write("k.py", kHead), problem_of(kSmall));
  ASSERT_FALSE(artifact);
  EXPECT_THAT(artifact.error().message,
              HasSubstr("k.py:37: NameError: name 'x' is not defined\\n\\x1b[2J"));
  EXPECT_THAT(artifact.error().message, Not(HasSubstr("never shown")));
}

// On a GPU that is the host: four warps a block, scratch memory for each, two pointers behind.
TEST(TritonLaunch, GivesScratchMemoryToEachBlock) {
  auto gpu = testing::open_fake_gpu();
  if (!gpu) GTEST_SKIP() << gpu.error().message;
  const testing::FakeControls controls("fake_cuda");
  auto* const allocated = controls.find<uint64_t()>("fake_cuda_allocated");
  ASSERT_NE(allocated, nullptr);
  const Folder folder;
  Json answer = FakeTriton::kernel("triton_gemm");
  answer["kernel"]["global_scratch_bytes"] = 64;
  answer["kernel"]["cluster"] = {2, 1, 1};
  folder.fake().answer(answer);
  const Problem problem = problem_of({.m = 8, .n = 16, .k = 32});
  const Found found = folder.kernels(folder.write("k.py", kHead), problem);
  ASSERT_THAT(found.kernels, SizeIs(1));
  const auto artifact = found.kernels.front().compile(problem, kHopper, folder.context());
  ASSERT_TRUE(artifact) << artifact.error().message;
  std::vector<std::unique_ptr<Buffer>> buffers;
  Arguments arguments{problem, {}};
  for (const Operand& operand : problem.operands()) {
    auto buffer = (*gpu)->allocate(static_cast<size_t>(operand.span_bytes), {});
    ASSERT_TRUE(buffer);
    arguments.data.push_back((*buffer)->data());
    buffers.push_back(std::move(*buffer));
  }
  const uint64_t before = allocated();
  {
    auto plan = found.kernels.front().plan(
        {.arguments = arguments, .artifact = *artifact, .device = **gpu, .workspace = {}});
    ASSERT_TRUE(plan) << plan.error().message;
    const auto& step = std::get<DeviceStep>(plan->steps().front());
    EXPECT_EQ(step.grid, (std::array<uint32_t, 3>{16, 1, 1})) << "clusters of two";
    EXPECT_EQ(step.block, (std::array<uint32_t, 3>{128, 1, 1}));
    EXPECT_EQ(step.cluster, (std::array<uint32_t, 3>{2, 1, 1}));
    EXPECT_EQ(step.shared_bytes, 1024u);
    EXPECT_THAT(step.parameters, SizeIs(8));
    EXPECT_GE(allocated() - before, 16u * 64);
  }
  EXPECT_EQ(allocated(), before) << "it goes with its plan";
  answer["kernel"]["parameters"] = 5;
  folder.fake().answer(answer);
  folder.write("k.py", std::string(kHead) + "# changed\n");
  const auto other = folder.kernels(folder.path() + "/k.py", problem)
                         .kernels.front()
                         .compile(problem, kHopper, folder.context());
  ASSERT_TRUE(other) << other.error().message;
  const auto plan = found.kernels.front().plan(
      {.arguments = arguments, .artifact = *other, .device = **gpu, .workspace = {}});
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("takes 5 parameters, and args gives 6"));
}

// A descriptor is the driver's map of an operand, as Triton compiled it, with sizes and strides
// behind.
TEST(TritonExport, ShipsDescriptorsScratchMemoryAndWhatIsLeftOfTheArguments) {
  const Folder folder;
  Json answer = FakeTriton::kernel("triton_gemm");
  answer["kernel"]["descriptors"] = Json::array();
  for (const int64_t wide : {64, 32})
    answer["kernel"]["descriptors"].push_back(
        {{"block_size", {128, wide}}, {"swizzle", wide == 64 ? 3 : 2}});
  answer["kernel"]["parameters"] = 16;
  answer["kernel"]["num_warps"] = 8;
  answer["kernel"]["cluster"] = {2, 1, 1};
  answer["kernel"]["global_scratch_bytes"] = 128;
  folder.fake().answer(answer);
  const std::string file = folder.write(
      "k.py",
      "# assay: {entry: f, dtype: f16, layout: tn, args: [map_a, map_b, out, m, n, k],\n"
      "#         launch: {grid: [m], maps: {a: {box: [64, 128]}, b: {box: [64, 128]}}}}\n");
  const Problem problem = problem_of({.m = 64, .n = 80, .k = 96, .dtype = DType::f16});
  const Found found = folder.kernels(file, problem);
  ASSERT_FALSE(found.kernels.empty());
  const Kernel& kernel = found.kernels.front();
  const auto artifact = kernel.compile(problem, kHopper, folder.context());
  ASSERT_TRUE(artifact) << artifact.error().message;
  const auto made = export_kernel(kernel, problem, {.target = kHopper, .artifact = &*artifact});
  ASSERT_TRUE(made) << made.error().message;
  // 64 blocks of the user's grid in clusters of two, eight warps.
  EXPECT_THAT(made->code, HasSubstr("\"triton_gemm\", {128, 1, 1}, {256, 1, 1}, {2, 1, 1}, 1024,"));
  EXPECT_THAT(made->code, HasSubstr("{gpu::Parameter::tensor_map, 0, 0, 0,\n     {6, 2, {96, 64}, "
                                    "{192}, {64, 128}, 3, 2}}"));
  EXPECT_THAT(made->code, HasSubstr("{6, 2, {96, 80}, {192}, {32, 128}, 2, 2}}"));
  EXPECT_THAT(made->code, HasSubstr("gpu::Parameter::integer, -1, 96, 0"));
  EXPECT_THAT(made->code, HasSubstr("gpu::Parameter::scratch, -1, 16384, 0"));
  EXPECT_THAT(made->code, HasSubstr("gpu::Parameter::pointer, -1, 0, 0, {}},  // profile_scratch"));
  EXPECT_THAT(made->code, HasSubstr("kParameters, 16}"));
  EXPECT_TRUE(made->on_gpu);
}

// With a Triton of this machine, or of ASSAY_TEST_TRITON_PYTHON, for a GPU that is not there.
class RealTriton : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* python = std::getenv("ASSAY_TEST_TRITON_PYTHON"); python != nullptr)
      settings_["python"] = python;
    if (const auto found = find_python(settings_); !found) GTEST_SKIP() << found.error().message;
  }

  Result<Artifact> compile(const std::string& file, const Problem& problem,
                           std::string_view family) const {
    ASSAY_TRY(const auto entries, folder_.read(file));
    for (const KernelEntry& entry : entries) {
      if (entry.name != family) continue;
      Catalog catalog;
      ASSAY_TRY(auto made, make_family(entry, settings_));
      catalog.add("triton", ProviderRole::user, std::move(made));
      ASSAY_TRY(const Found found, catalog.get_kernels(problem, {.target = kHopper}));
      if (found.kernels.empty()) return fail(ErrorCode::failed, "no kernel");
      return found.kernels.front().compile(problem, kHopper, folder_.context());
    }
    return fail(ErrorCode::not_found, "no family {}", family);
  }

  bool before_3_4() const {
    const std::string version = find_python(settings_)->version;
    return version.starts_with("3.2.") || version.starts_with("3.3.");
  }

  Folder folder_;
  ProviderSettings settings_;
};

TEST_F(RealTriton, CompilesTheExamplesForATensorCoreThatIsNotThere) {
  const std::string file = kExamples + "/triton_matmul/triton_matmul.py";
  const Problem prefill = problem_of({.m = 512, .n = 1024, .k = 1024, .dtype = DType::f16});
  for (const char* family : {"matmul_tn", "matmul_descriptors"}) {
    SCOPED_TRACE(family);
    if (before_3_4() && std::string_view(family) != "matmul_tn") continue;
    const auto artifact = compile(file, prefill, family);
    ASSERT_TRUE(artifact) << artifact.error().message;
    EXPECT_GT(artifact->facts.at("wgmma").get<int>(), 0);
    EXPECT_GT(artifact->facts.at("registers").get<int>(), 32);
    EXPECT_EQ(artifact->facts.at("spill_store_bytes").get<int>(), 0);
    EXPECT_EQ(artifact->facts.at("descriptors").size(),
              std::string_view(family) == "matmul_tn" ? 0u : 2u);
    EXPECT_EQ(read_file(artifact->file.string()).value_or("").substr(0, 4),
              "\x7f"
              "ELF");
  }
  const auto few = compile(file, problem_of({.m = 8, .n = 1024, .k = 1024, .dtype = DType::bf16}),
                           "matmul_few_rows_tn");
  ASSERT_TRUE(few) << few.error().message;
  const auto f64 = compile(kExamples + "/byok/f64_gemm.py",
                           problem_of({.m = 33, .n = 17, .k = 5, .batch = 2, .dtype = DType::f64}),
                           "F64GemmKernelTriton_tnt");
  ASSERT_TRUE(f64) << f64.error().message;
}

TEST_F(RealTriton, PointsAtTheLineThatIsWrong) {
  const Problem problem = problem_of(kSmall);
  const auto failure = [&](const std::string& code) {
    const auto artifact = compile(folder_.write("w.py", kHead + code), problem, "f");
    return artifact ? std::string("compiled") : artifact.error().message;
  };
  const std::string begin =
      "import triton\nimport triton.language as tl\n\n@triton.jit\n"
      "def f(a, b, out, m, n, k):\n";
  EXPECT_THAT(failure(begin + "    x = tl.load(a)\n    y = tl.nothing(x)\n"),
              AllOf(HasSubstr("w.py:9: "), HasSubstr("AttributeError")));
  EXPECT_THAT(failure(begin + "    return (\n"), HasSubstr("w.py:8: SyntaxError"));
  EXPECT_THAT(failure("import no_such_module\n"), HasSubstr("w.py:3: ModuleNotFoundError"));
  EXPECT_THAT(failure("raise SystemExit('enough')\n"), HasSubstr("w.py:3: SystemExit"));
  EXPECT_THAT(failure("x = 1\n"), HasSubstr("defines no function 'f'"));
  EXPECT_THAT(failure("def f(a): pass\n"), HasSubstr("'f' is no @triton.jit function"));
  EXPECT_THAT(failure("import triton\n@triton.jit\ndef f(a, b, out, m, n):\n    pass\n"),
              HasSubstr("args has no place for 'k'"));
  EXPECT_THAT(failure("import triton\nimport triton.language as tl\n@triton.jit\n"
                      "def f(a, b, out, m, n, k, t: tl.constexpr):\n    pass\n"),
              HasSubstr("'t' is a tl.constexpr that no tunable gives a value"));
}

TEST_F(RealTriton, ReadsModulesThatLieBesideIt) {
  folder_.write("parts/tools.py",
                "import triton\n\n@triton.jit\ndef twice(x):\n    return x + x\n");
  const std::string file = folder_.write(
      "k.py", std::string(kHead) +
                  "import triton\nimport triton.language as tl\nfrom parts.tools import twice\n"
                  "@triton.jit\ndef f(a, b, out, m, n, k):\n"
                  "    print_nothing = 1\n    tl.store(out, twice(tl.load(a)))\n");
  const auto artifact = compile(file, problem_of(kSmall), "f");
  ASSERT_TRUE(artifact) << artifact.error().message;
}

// The provider without its own kernels, which no fake compiles.
class Brought final : public Provider {
 public:
  const ProviderInfo& info() const override { return provider_->info(); }
  std::vector<std::string> extensions() const override { return provider_->extensions(); }
  LaunchForm launch_form() const override { return provider_->launch_form(); }

 private:
  Availability do_availability(const ProviderSettings& settings) const override {
    return provider_->availability(settings);
  }
  Result<std::vector<std::shared_ptr<const Family>>> do_families(
      const ProviderSettings&) const override {
    return std::vector<std::shared_ptr<const Family>>();
  }
  std::unique_ptr<Provider> provider_ = make_provider();
};

const Folder& shared_folder() {
  static const Folder folder;
  return folder;
}

std::vector<std::shared_ptr<const Family>> brought(const Provider&) {
  const Folder& folder = shared_folder();
  folder.fake().answer(FakeTriton::kernel("triton_gemm"));
  const auto entries = folder.read(folder.write("k.py", kHead));
  EXPECT_TRUE(entries);
  auto family = make_family(entries->front(), folder.settings());
  EXPECT_TRUE(family) << family.error().message;
  return {*family};
}

}  // namespace
}  // namespace assay::triton

ASSAY_PROVIDER_CONFORMANCE(triton,
                           {.make = [] { return std::make_unique<assay::triton::Brought>(); },
                            .settings = assay::triton::shared_folder().settings(),
                            .bring = assay::triton::brought,
                            .open_device = assay::testing::open_fake_gpu});
