// What stands in a CUDA file, and what compiles without a GPU. The examples are the input.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "assay/base/file.h"
#include "assay/input/kernel_source.h"
#include "assay/kernel/catalog.h"
#include "assay/op/gemm/gemm.h"
#include "family.h"
#include "flags.h"
#include "nvrtc.h"
#include "providers/cuda_source/info.h"

namespace assay::cuda_source {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string kExamples = ASSAY_EXAMPLES;

Result<std::vector<KernelEntry>> read(const std::string& file) {
  ASSAY_TRY(auto sources, input::read_sources(std::vector{file}, [](const KernelEntry&) {
              return LaunchForm::geometry;
            }));
  return std::move(sources.front().entries);
}

// What a file has for a problem on a Hopper GPU.
Found kernels_of(const std::string& file, const gemm::Shape& shape) {
  Found found;
  const auto problem = gemm::problem(shape);
  const auto entries = read(file);
  EXPECT_TRUE(problem) << problem.error().message;
  EXPECT_TRUE(entries) << entries.error().message;
  if (!problem || !entries) return found;
  Catalog catalog;
  for (const KernelEntry& entry : *entries) {
    auto family = make_family(entry, {});
    EXPECT_TRUE(family) << family.error().message;
    if (family) catalog.add("cuda_source", ProviderRole::user, *family);
  }
  KernelQuery query;
  query.target = *Target::parse("sm_90a");
  auto asked = catalog.get_kernels(*problem, query);
  EXPECT_TRUE(asked) << asked.error().message;
  return asked ? std::move(*asked) : std::move(found);
}

std::string refusals_of(const Found& found) {
  std::string text;
  for (const auto& [reason, count] : found.refusals) text += count.example + "\n";
  return text;
}

std::string message_of(std::string_view head) {
  auto folder = TemporaryDirectory::create(std::filesystem::temp_directory_path(), "cuda-source-");
  EXPECT_TRUE(folder);
  const std::string file = folder->file("k.cu");
  std::ofstream(file) << "// assay: " << head << "\n__global__ void f() {}\n";
  const auto entries = read(file);
  return entries ? "" : entries.error().message;
}

TEST(CudaSource, FlagsAreThoseThatSayHowCodeIsMade) {
  for (const char* flag : {"-DX=1",
                           "--define-macro=X",
                           "-UX",
                           "-I/usr/include",
                           "--include-path=/x",
                           "-std=c++20",
                           "--std=c++17",
                           "--use_fast_math",
                           "-ftz=true",
                           "--prec-div=false",
                           "--fmad=false",
                           "-lineinfo",
                           "-G",
                           "--maxrregcount=128",
                           "--restrict",
                           "--extra-device-vectorization",
                           "--device-int128",
                           "--diag-suppress=161,1105",
                           "--ptxas-options=--register-usage-level=10",
                           "--ptxas-options=-v,-O3",
                           "-Xptxas=-dlcm=cg",
                           "-rdc=false",
                           "--minimal",
                           "-default-device"})
    EXPECT_TRUE(check_flag(flag)) << flag;
  for (const char* flag : {"--create-pch=/path",
                           "--pch",
                           "--use-pch=/x",
                           "--pch-dir=/x",
                           "--time=/x",
                           "--fdevice-time-trace=/x",
                           "--pre-include=/etc/passwd",
                           "-include=/etc/passwd",
                           "--gpu-architecture=sm_80",
                           "-arch=sm_80",
                           "--dlto",
                           "-rdc=true",
                           "--ptxas-options=-o,/x",
                           "--ptxas-options=--output-file=/x",
                           "--ptxas-options=",
                           "-Xptxas",
                           "-D",
                           "-I",
                           "--maxrregcount=/x",
                           "--diag-suppress=",
                           "--ftz=maybe",
                           "-B/x",
                           "-std=/x",
                           "--std"}) {
    const Status allowed = check_flag(flag);
    ASSERT_FALSE(allowed) << flag;
    EXPECT_THAT(allowed.error().message, HasSubstr("Allowed are -DNAME=VALUE"));
  }
  // A provider's own refusal stands behind the file and its line.
  auto entries = read(kExamples + "/hopper_skinny/skinny.cu");
  ASSERT_TRUE(entries) << entries.error().message;
  KernelEntry entry = entries->front();
  entry.flags = {"--create-pch=/path"};
  const auto family = make_provider()->bring(entry);
  ASSERT_FALSE(family);
  EXPECT_THAT(family.error().message, HasSubstr("skinny.cu:7: flags: '--create-pch=/path'"));
}

TEST(CudaSource, EveryExampleHandsOverFlagsThatAreAllowed) {
  for (const auto& file : std::filesystem::recursive_directory_iterator(kExamples)) {
    if (file.path().extension() != ".cu") continue;
    const auto entries = read(file.path().string());
    if (!entries) continue;
    for (const KernelEntry& entry : *entries)
      for (const std::string& flag : entry.flags)
        EXPECT_TRUE(check_flag(flag)) << file.path() << ' ' << flag;
  }
}

TEST(CudaSource, TheExamplesHaveKernelsForWhatTheySay) {
  const std::string skinny = kExamples + "/hopper_skinny/skinny.cu";
  const auto decode = [](int64_t m, DType dtype) {
    return gemm::Shape{.m = m, .n = 4096, .k = 4096, .dtype = dtype};
  };
  EXPECT_THAT(kernels_of(skinny, decode(8, DType::f16)).kernels, SizeIs(40));
  EXPECT_THAT(kernels_of(skinny, decode(16, DType::bf16)).kernels, SizeIs(40));
  EXPECT_THAT(kernels_of(skinny, decode(17, DType::f16)).kernels, SizeIs(0));
  const gemm::Shape f64{.m = 33, .n = 17, .k = 5, .batch = 2, .dtype = DType::f64, .layout = "tnt"};
  EXPECT_THAT(kernels_of(kExamples + "/byok/f64_gemm.cu", f64).kernels, SizeIs(2));
}

TEST(CudaSource, TensorMapsThatAGpuCannotMakeAreRefused) {
  const std::string file = kExamples + "/hopper_gemm/gemm.cu";
  EXPECT_THAT(kernels_of(file, {.m = 333, .n = 5000, .k = 4104, .dtype = DType::bf16}).kernels,
              SizeIs(8));
  const gemm::Shape odd{.m = 64, .n = 64, .k = 256, .dtype = DType::f16, .lda = 260};
  EXPECT_THAT(kernels_of(file, odd).kernels, SizeIs(0));
  // The example asks for aligned rows itself; who does not is refused for the map.
  const auto refusals_with = [&](std::string_view map) {
    auto folder =
        TemporaryDirectory::create(std::filesystem::temp_directory_path(), "cuda-source-");
    EXPECT_TRUE(folder);
    const std::string own = folder->file("k.cu");
    std::ofstream(own)
        << "// assay: {entry: f, dtype: f16, layout: tn, args: [map_a, b, out, m, n, "
           "k], launch: {grid: 1, block: 32, maps: {a: "
        << map << "}}}\n__global__ void f() {}\n";
    const Found found = kernels_of(own, odd);
    EXPECT_THAT(found.kernels, SizeIs(0));
    return refusals_of(found);
  };
  EXPECT_THAT(refusals_with("{box: [64, 64], swizzle: 128}"),
              HasSubstr("map_a: a tensor map steps by multiples of 16 bytes, not by 520"));
}

TEST(CudaSource, MapsAreSaidOnceAndRight) {
  const auto with = [](std::string_view args, std::string_view maps) {
    return message_of("{entry: f, dtype: f16, layout: tn, args: [" + std::string(args) +
                      ", out, m, n, k], launch: {grid: 1, block: 32" + std::string(maps) + "}}");
  };
  EXPECT_EQ(with("map_a, b", ", maps: {a: {box: [64, 128], swizzle: 128, promotion: 256}}"), "");
  EXPECT_THAT(with("map_a, b", ", maps: {a: {box: [64, 128], swizzle: 96}}"),
              HasSubstr("96 is not a number of bytes that a GPU knows; write 0, 32, 64, 128"));
  EXPECT_THAT(with("map_a, b", ", maps: {a: {box: 64}}"), HasSubstr("two or three extents"));
  EXPECT_THAT(with("map_a, b", ", maps: {q: {box: [64, 128]}}"), HasSubstr("'q'"));
  EXPECT_THAT(with("map_a, b", ""), HasSubstr("has 'map_a', but launch.maps does not"));
  EXPECT_THAT(with("a, b", ", maps: {a: {box: [64, 128]}}"), HasSubstr("lacks 'map_a'"));
}

TEST(CudaSource, BuildsAgainWhenAHeaderChangesAndNotWhenTheFolderMoves) {
  if (const auto nvrtc = Nvrtc::open({}); !nvrtc) GTEST_SKIP() << nvrtc.error().message;
  auto folder = TemporaryDirectory::create(std::filesystem::temp_directory_path(), "cuda-source-");
  ASSERT_TRUE(folder);
  const std::filesystem::path root = folder->path();
  const ArtifactCache cache(root / "cache", Log{});
  const auto compiled = [&](const std::string& place, const char* value) -> std::string {
    const auto at = root / place;
    std::filesystem::create_directories(at);
    std::ofstream(at / "value.h") << "#define VALUE " << value << '\n';
    std::ofstream(at / "f.cu") << "// assay: {entry: f, dtype: f32, layout: tt, args: [a, b, out], "
                                  "launch: {grid: 1, block: 32}}\n#include \"value.h\"\n"
                                  "__global__ void f(const float*, const float*, float* out) "
                                  "{ out[0] = VALUE; }\n";
    const gemm::Shape shape{.m = 4, .n = 4, .k = 4, .layout = "tt"};
    const Found found = kernels_of((at / "f.cu").string(), shape);
    if (found.kernels.size() != 1) return "no kernel";
    const auto artifact = found.kernels.front().compile(
        *gemm::problem(shape), *Target::parse("sm_90a"), {.cache = &cache});
    return artifact ? artifact->hash : artifact.error().message;
  };
  const std::string first = compiled("here", "2");
  EXPECT_EQ(first.size(), 64u) << first;
  EXPECT_EQ(compiled("here", "2"), first);
  EXPECT_NE(compiled("here", "3"), first);
  EXPECT_EQ(compiled("there", "2"), first);
}

TEST(CudaSource, FindsTheHeadersThatNvccFindsUnasked) {
  const auto nvrtc = Nvrtc::open({});
  if (!nvrtc) GTEST_SKIP() << nvrtc.error().message;
  std::vector<std::string> options = {"--gpu-architecture=sm_90a"};
  bool there = false;
  for (const std::string& folder : (*nvrtc)->include_folders()) {
    options.push_back("-I" + folder);
    there = there || std::filesystem::exists(folder + "/cccl/cuda/std/type_traits") ||
            std::filesystem::exists(folder + "/cuda/std/type_traits");
  }
  if (!there) GTEST_SKIP() << "the toolkit has no <cuda/std/type_traits>";
  const auto compiled = (*nvrtc)->compile(
      "#include <cuda/std/type_traits>\n"
      "__global__ void f(cuda::std::make_unsigned_t<int>* out) { *out = 1; }\n",
      "f.cu", "f", options);
  EXPECT_TRUE(compiled) << compiled.error().message;
}

TEST(CudaSource, CompilesForAGpuThatIsNotThere) {
  if (const auto nvrtc = Nvrtc::open({}); !nvrtc) GTEST_SKIP() << nvrtc.error().message;
  auto folder = TemporaryDirectory::create(std::filesystem::temp_directory_path(), "cuda-source-");
  ASSERT_TRUE(folder);
  const ArtifactCache cache(folder->path(), Log{});
  const gemm::Shape shapes[] = {{.m = 4, .n = 4096, .k = 4096, .dtype = DType::bf16},
                                {.m = 64, .n = 64, .k = 256, .dtype = DType::f16},
                                {.m = 8, .n = 8, .k = 8, .dtype = DType::f64}};
  const char* files[] = {"hopper_skinny/skinny.cu", "hopper_gemm/gemm.cu", "byok/f64_gemm.cu"};
  for (size_t i = 0; i < 3; ++i) {
    SCOPED_TRACE(files[i]);
    const auto problem = gemm::problem(shapes[i]);
    const Found found = kernels_of(kExamples + "/" + files[i], shapes[i]);
    ASSERT_FALSE(found.kernels.empty());
    const auto artifact =
        found.kernels.front().compile(*problem, *Target::parse("sm_90a"), {.cache = &cache});
    ASSERT_TRUE(artifact) << artifact.error().message;
    EXPECT_GT(artifact->facts.at("registers").get<int>(), 8);
    EXPECT_EQ(artifact->facts.at("spill_store_bytes").get<int>(), 0);
    EXPECT_EQ(read_file(artifact->file.string(), size_t{1} << 24).value_or("").substr(0, 4),
              "\x7f"
              "ELF");
  }
}

}  // namespace
}  // namespace assay::cuda_source
