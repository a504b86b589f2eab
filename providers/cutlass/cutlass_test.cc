// The provider where nvcc is a script and the GPU runs on the host (testing/fake_nvcc.h,
// testing/fake_cuda): everything but what CUTLASS itself computes.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/fd.h"
#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/kernel/catalog.h"
#include "assay/op/gemm/gemm.h"
#include "compile.h"
#include "kernel_abi.h"
#include "providers/cutlass/info.h"
#include "space.h"
#include "testing/bound_kernel.h"
#include "testing/build_plugin.h"
#include "testing/fake_gpu.h"
#include "testing/fake_nvcc.h"
#include "testing/provider_conformance.h"

namespace assay::cutlass {
namespace {

using testing::BoundKernel;
using testing::FakeNvcc;
using ::testing::HasSubstr;

// Folders of one test; those of the conformance suite stay as long as the program.
struct Workplace {
  Workplace()
      : folder(*TemporaryDirectory::create("/tmp", "assay-cutlass-")), nvcc(folder.path()) {}

  ProviderSettings settings() const {
    return {
        {"nvcc", nvcc.nvcc()}, {"directory", nvcc.directory()}, {"cache", folder.file("cache")}};
  }

  TemporaryDirectory folder;
  FakeNvcc nvcc;
};

ProviderSettings conformance_settings() {
  static const Workplace workplace;
  ProviderSettings settings = workplace.settings();
  settings["ampere"] = "all";  // The GPU is Hopper's.
  return settings;
}

// Of Hopper and of Ampere, each for either order of the output.
constexpr size_t kRows = 2 * (2408 + 1320);

const Target kHopper = *Target::parse("sm_90a");

Problem problem_of(const gemm::Shape& shape) {
  auto made = gemm::problem(shape);
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

gemm::Shape shape(DType dtype = DType::f16, std::string layout = "tn") {
  return {.m = 16, .n = 24, .k = 32, .dtype = dtype, .layout = std::move(layout)};
}

class Cutlass : public ::testing::Test {
 protected:
  Found found(const Problem& problem, const ProviderSettings& settings,
              const Target& target = kHopper) {
    catalog_ = Catalog();
    catalog_.add(*provider_, settings);
    for (const auto& [name, why] : catalog_.missing()) ADD_FAILURE() << why;
    auto found = catalog_.get_kernels(problem, {.target = target});
    EXPECT_TRUE(found) << found.error().message;
    return *found;
  }
  Found found(const Problem& problem) { return found(problem, with({})); }
  ProviderSettings with(const ProviderSettings& more) const {
    ProviderSettings settings = more;
    const ProviderSettings all = place_.settings();
    settings.insert(all.begin(), all.end());
    return settings;
  }
  Kernel kernel(const Problem& problem, const std::string& name) {
    for (const Kernel& one : found(problem).kernels)
      if (one.metadata().name() == name) return one;
    ADD_FAILURE() << "no kernel " << name;
    return found(problem).kernels.front();
  }
  static std::string why(const Found& found, Reason reason) {
    for (const auto& [code, count] : found.refusals)
      if (code == reason) return count.example;
    return "nothing was refused for that";
  }
  Result<BoundKernel> bind(const Kernel& kernel, const Problem& problem) const {
    ASSAY_TRY(auto gpu, testing::open_fake_gpu());
    return BoundKernel::make(kernel, problem, 1, context_, std::move(gpu));
  }
  // Compiles, binds, launches and checks.
  void expect_right(const Kernel& kernel, const Problem& problem) const {
    SCOPED_TRACE(problem.name() + ' ' + kernel.metadata().name());
    auto bound = bind(kernel, problem);
    ASSERT_TRUE(bound) << bound.error().message;
    const Status launched = bound->launch();
    ASSERT_TRUE(launched) << launched.error().message;
    ASSERT_TRUE(bound->wait());
    EXPECT_TRUE(bound->check().right);
  }

  static constexpr const char* kGood = "128x128x64_2x1_cooperative_tma_persistent";
  const std::unique_ptr<Provider> provider_ = make_provider();
  const Workplace place_;
  const ArtifactCache cache_{place_.folder.file("cache"), Log{}};
  const CompileContext context_{.cache = &cache_};
  Catalog catalog_;
};

TEST_F(Cutlass, ListsEveryConfigurationForEitherOrderOfTheOutput) {
  catalog_.add(*provider_, place_.settings());
  const auto all = catalog_.get_kernels();
  ASSERT_TRUE(all);
  EXPECT_EQ(all->kernels.size(), kRows);
  std::set<std::string> ids;
  for (const Kernel& kernel : all->kernels) ids.insert(kernel.metadata().id());
  EXPECT_EQ(ids.size(), kRows);
  EXPECT_EQ(place_.nvcc.compiled(), 0);
}

TEST_F(Cutlass, WithoutACompilerTheReasonSaysWhatToInstallAndListingWorks) {
  const ProviderSettings none = {{"nvcc", "/no/such/nvcc"}, {"directory", place_.nvcc.directory()}};
  const Availability availability = provider_->availability(none);
  EXPECT_FALSE(availability.available);
  EXPECT_THAT(availability.reason, HasSubstr("'/no/such/nvcc' is no program; install"));
  const Found refused = found(problem_of(shape()), none);
  EXPECT_TRUE(refused.kernels.empty());
  EXPECT_THAT(why(refused, Reason::compiler_missing), HasSubstr("not compiled yet, and"));
  EXPECT_EQ(refused.refusals.total(), static_cast<int64_t>(kRows));
  const auto listed = catalog_.get_kernels();
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->kernels.size(), kRows);
  const ProviderSettings headless = {{"nvcc", place_.nvcc.nvcc()}, {"directory", "/no/such"}};
  EXPECT_THAT(provider_->availability(headless).reason,
              HasSubstr("cutlass.directory: '/no/such' holds no include/cutlass/cutlass.h"));
}

// A ranker says which of them are built: rows tell it what a compile takes, and what shares one.
TEST_F(Cutlass, EveryKernelOfAProblemIsListedAndSaysWhatItsCompileTakes) {
  const Problem problem = problem_of(shape());
  const Found all = found(problem);
  // 66 that read c, 40 and 12 ... of what the package's generator lists for f16, tn.
  ASSERT_EQ(all.kernels.size(), 66 + 52 + 6 + 6u);
  EXPECT_EQ(all.kernels.size() + static_cast<size_t>(all.refusals.total()), kRows);
  std::set<std::string> artifacts;
  for (const Kernel& kernel : all.kernels) {
    EXPECT_EQ(kernel.metadata().compile_seconds(), 45);
    artifacts.insert(kernel.metadata().artifact_id());
  }
  EXPECT_EQ(artifacts.size(), all.kernels.size());
  std::set<std::string> searched;
  const Found more = found(problem, with({{"runtime", "search"}}));
  EXPECT_GT(more.kernels.size(), 6 * all.kernels.size());
  for (const Kernel& kernel : more.kernels) searched.insert(kernel.metadata().artifact_id());
  EXPECT_EQ(searched, artifacts);
  EXPECT_EQ(place_.nvcc.compiled(), 0);
}

// What a ranker cannot tell apart is built as it is listed.
TEST_F(Cutlass, WhatRarelyWinsIsListedBehindTheOthers) {
  const Found all = found(problem_of(shape()));
  const KernelMetadata& first = all.kernels.front().metadata();
  EXPECT_EQ(first.rule().find_operand("c"), nullptr);
  EXPECT_EQ(first.design.text("epilogue", ""), "tma");
  bool reads_c = false, less_aligned = false;
  for (const Kernel& kernel : all.kernels) {
    const KernelMetadata& row = kernel.metadata();
    const bool reads = row.rule().find_operand("c") != nullptr;
    EXPECT_FALSE(reads_c && !reads) << row.name();
    reads_c = reads;
    const bool less = row.rule().operands.front().divisibility < 8;
    EXPECT_FALSE(less_aligned && !less) << row.name();
    less_aligned = less;
    if (row.design.text("schedule", "") == "auto") {
      EXPECT_EQ(row.design.text("epilogue", ""), "auto");
    }
  }
}

TEST_F(Cutlass, ComputesEveryLayoutAndTypeThatItLists) {
  std::set<std::string> layouts;
  for (const char* layout : {"ttt", "tnt", "ntt", "nnt", "ttn", "tnn", "ntn", "nnn"})
    for (const DType dtype : {DType::f16, DType::bf16})
      for (const DType out : {dtype, DType::f32}) {
        gemm::Shape asked = shape(dtype, layout);
        asked.out = out;
        const Problem problem = problem_of(asked);
        const Found listed = found(problem);
        ASSERT_FALSE(listed.kernels.empty()) << problem.name();
        EXPECT_EQ(listed.kernels.front().metadata().design.truth("swapped", false),
                  layout[2] == 't');
        expect_right(listed.kernels.front(), problem);
        layouts.insert(layout);
      }
  EXPECT_EQ(layouts.size(), 8u);
}

TEST_F(Cutlass, TakesFactorsAnAddendABatchPaddedRowsAndOneRow) {
  gemm::Shape scaled = shape(), batched = shape(), padded = shape(), narrow = shape(),
              half = shape();
  scaled.alpha = 0.5;
  scaled.beta = -2;
  batched.batch = 3;
  padded.lda = 48;
  padded.ldb = 40;
  padded.ldout = 32;
  narrow.m = 1;
  half.accumulate = DType::f16;
  for (const gemm::Shape& one : {scaled, batched, padded, narrow, half}) {
    const Problem problem = problem_of(one);
    const Found listed = found(problem);
    ASSERT_FALSE(listed.kernels.empty()) << problem.name();
    expect_right(listed.kernels.front(), problem);
  }
  EXPECT_NE(found(problem_of(scaled)).kernels.front().metadata().rule().find_operand("c"), nullptr);
}

TEST_F(Cutlass, WhatIsNotDivisibleOrOfAnotherTypeOrGpuIsRefused) {
  gemm::Shape odd = shape();
  odd.k = 33;
  EXPECT_TRUE(found(problem_of(odd)).kernels.empty());
  EXPECT_THAT(why(found(problem_of(odd)), Reason::divisibility),
              HasSubstr("k=33 is not a multiple"));
  gemm::Shape even = shape();
  even.k = 34;
  for (const Kernel& kernel : found(problem_of(even)).kernels)
    EXPECT_THAT(kernel.metadata().name(), HasSubstr("_align2"));
  EXPECT_TRUE(found(problem_of(shape(DType::f32))).kernels.empty());
  const auto elsewhere =
      catalog_.get_kernels(problem_of(shape()), {.target = Target::parse("sm_75").value()});
  ASSERT_TRUE(elsewhere);
  EXPECT_TRUE(elsewhere->kernels.empty());
  EXPECT_THAT(why(*elsewhere, Reason::target), HasSubstr("needs sm_90a"));
}

TEST_F(Cutlass, TheArtifactSaysWhatTheCompilerSaidAndIsMadeOnce) {
  const Problem problem = problem_of(shape());
  const Kernel good = kernel(problem, kGood);
  for (int i = 0; i < 2; ++i) {
    const auto artifact = good.compile(problem, kHopper, context_);
    ASSERT_TRUE(artifact) << artifact.error().message;
    EXPECT_EQ(artifact->facts["registers"], 168);
    EXPECT_EQ(artifact->facts["spill_store_bytes"], 0);
    EXPECT_EQ(artifact->facts["stack_bytes"], 16);
    EXPECT_EQ(artifact->facts["dynamic_shared_bytes"], 200'000);
    EXPECT_EQ(artifact->facts["stages"], 5);
    EXPECT_EQ(artifact->facts["cutlass"], "4.2.0");
    EXPECT_THAT(artifact->facts["compiler"].get<std::string>(), HasSubstr("13.0.99"));
    EXPECT_EQ(place_.nvcc.compiled(), 1);
  }
  // Another size is the same object; other headers are not.
  gemm::Shape larger = shape();
  larger.m = 64;
  ASSERT_TRUE(good.compile(problem_of(larger), kHopper, context_));
  EXPECT_EQ(place_.nvcc.compiled(), 1);
  ASSERT_TRUE(write_file_atomic(place_.nvcc.directory() + "/include/cutlass/more.h", "//\n"));
  ASSERT_TRUE(kernel(problem, kGood).compile(problem, kHopper, context_));
  EXPECT_EQ(place_.nvcc.compiled(), 2);
}

TEST_F(Cutlass, WhatSpillsOrIsSerialisedIsRefusedBeforeItIsTimed) {
  const Problem problem = problem_of(shape());
  const Kernel large = kernel(problem, "256x256x64_2x1_cooperative_direct_persistent");
  for (int i = 0; i < 2; ++i) {
    const auto spilled = large.compile(problem, kHopper, context_);
    ASSERT_FALSE(spilled);
    EXPECT_EQ(spilled.error().code, ErrorCode::unsupported);
    EXPECT_THAT(spilled.error().message,
                HasSubstr("it spills: 128 sums a thread do not fit beside the rest into its 168 "
                          "registers, and 2048 bytes are stored and loaded again"));
    EXPECT_EQ(place_.nvcc.compiled(), 1) << "once is enough to know it";
  }
  place_.nvcc.order("serialise");
  const auto serialised = kernel(problem, kGood).compile(problem, kHopper, context_);
  ASSERT_FALSE(serialised);
  EXPECT_THAT(serialised.error().message, HasSubstr("serialises its tensor instructions"));
}

TEST_F(Cutlass, ACompilerThatFailsIsQuoted) {
  place_.nvcc.order("fail");
  const Problem problem = problem_of(shape());
  const auto artifact = kernel(problem, kGood).compile(problem, kHopper, context_);
  ASSERT_FALSE(artifact);
  EXPECT_EQ(artifact.error().code, ErrorCode::build_failed);
  EXPECT_THAT(artifact.error().message, HasSubstr("error: the fake compiler was told to fail"));
  EXPECT_THAT(artifact.error().message,
              HasSubstr("cutlass3x_sm90_tensorop_gemm_f16_f16_f32_void_"));
}

// A pool is a cache that was brought: no compiler, and no headers, are asked for.
TEST_F(Cutlass, APoolServesAMachineWithoutACompiler) {
  const Problem problem = problem_of(shape());
  ASSERT_TRUE(kernel(problem, kGood).compile(problem, kHopper, context_));
  const ProviderSettings bare = {{"nvcc", "/no/such/nvcc"},
                                 {"directory", "/no/such"},
                                 {"cache", place_.folder.file("empty")},
                                 {"pool", place_.folder.file("cache")}};
  EXPECT_TRUE(provider_->availability(bare).available);
  const Found ready = found(problem, bare);
  ASSERT_EQ(ready.kernels.size(), 1u);
  EXPECT_EQ(ready.kernels.front().metadata().name(), kGood);
  const ArtifactCache empty(place_.folder.file("empty"), Log{});
  auto gpu = testing::open_fake_gpu();
  ASSERT_TRUE(gpu);
  auto bound =
      BoundKernel::make(ready.kernels.front(), problem, 1, {.cache = &empty}, std::move(*gpu));
  ASSERT_TRUE(bound) << bound.error().message;
  ASSERT_TRUE(bound->launch() && bound->wait());
  EXPECT_TRUE(bound->check().right);
  EXPECT_EQ(place_.nvcc.compiled(), 1);
  // Damaged, it is said of that file, not of headers that nobody needed until then.
  int spoilt = 0;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(place_.folder.file("cache"))) {
    if (file.path().extension() != ".so") continue;
    // Another file of its name: this process has the old one mapped.
    std::filesystem::remove(file.path());
    EXPECT_TRUE(write_file_atomic(file.path().string(), "no object"));
    ++spoilt;
  }
  EXPECT_EQ(spoilt, 1);
  const ArtifactCache other(place_.folder.file("other"), Log{});
  CompileContext anew = context_;
  anew.cache = &other;
  const auto compiled = found(problem, bare).kernels.front().compile(problem, kHopper, anew);
  ASSERT_FALSE(compiled);
  EXPECT_THAT(compiled.error().message, HasSubstr("does not have the hash in its manifest"));
  EXPECT_THAT(compiled.error().message, HasSubstr("bring that folder again"));
}

TEST_F(Cutlass, NewPointersMakeNewParametersAndTheOldOnesComeBack) {
  const Problem problem = problem_of(shape());
  auto bound = bind(kernel(problem, kGood), problem);
  ASSERT_TRUE(bound) << bound.error().message;
  const std::vector<void*> first(bound->plan().data().begin(), bound->plan().data().begin() + 3);
  ASSERT_TRUE(bound->launch() && bound->wait());
  EXPECT_TRUE(bound->check().right);
  // Another output, poisoned: what the first holds must not change, and this one must be written.
  auto other = bound->device().allocate(static_cast<size_t>(problem.operands()[2].span_bytes), {});
  ASSERT_TRUE(other);
  std::vector<void*> second = first;
  ASSERT_EQ(problem.operands()[2].role, "out");
  second[2] = (*other)->data();
  std::memset((*other)->data(), 0x55, (*other)->bytes());
  const std::vector<std::byte> before(static_cast<std::byte*>(first[2]),
                                      static_cast<std::byte*>(first[2]) + (*other)->bytes());
  ASSERT_TRUE(bound->plan().rebind(second));
  ASSERT_TRUE(bound->launch() && bound->wait());
  EXPECT_EQ(std::memcmp((*other)->data(), before.data(), before.size()), 0);
  std::memset(first[2], 0x33, before.size());
  ASSERT_TRUE(bound->plan().rebind(first));
  ASSERT_TRUE(bound->launch() && bound->wait());
  EXPECT_TRUE(bound->check().right);
}

TEST_F(Cutlass, RuntimeParametersShareOneObject) {
  const Problem problem = problem_of(shape());
  const Found searched = found(problem, with({{"runtime", "search"}}));
  std::vector<Kernel> rows;
  for (const Kernel& kernel : searched.kernels)
    if (kernel.metadata().name().starts_with("128x128x64_2x1_cooperative_tma_stream_k") &&
        kernel.metadata().rule().find_operand("c") == nullptr)
      rows.push_back(kernel);
  ASSERT_EQ(rows.size(), 9u)
      << "six orders and swizzles, two splits of k, and what CUTLASS chooses";
  for (const Kernel& row : rows) expect_right(row, problem);
  EXPECT_EQ(place_.nvcc.compiled(), 1);
}

TEST_F(Cutlass, AmperesKernelsAreForItsGpusAndForHopperWhenAsked) {
  const Problem problem = problem_of(shape());
  const Found there = found(problem, with({}), *Target::parse("sm_80"));
  // 22 tiles of f16 with f32 sums, of three alignments.
  ASSERT_EQ(there.kernels.size(), 66u);
  const KernelMetadata& first = there.kernels.front().metadata();
  EXPECT_EQ(first.family(), "gemm_sm80");
  EXPECT_EQ(first.name(), "64x64x32_2x2_10_multistage");
  EXPECT_FALSE(first.design.truth("swapped", true)) << "D is row-major to it, as the problem's";
  EXPECT_GT(first.compile_seconds(), 0);
  EXPECT_THAT(why(there, Reason::target), HasSubstr("needs sm_90a"));
  // Ten stages of 64x64x32 are 81,920 bytes; what takes more than 99 KiB is not for these.
  const Found small = found(problem, with({}), *Target::parse("sm_86"));
  EXPECT_EQ(small.kernels.size(), 3 * 15u);
  EXPECT_THAT(why(small, Reason::workspace), HasSubstr("a block of sm_86 has 101376"));
  EXPECT_THAT(why(found(problem), Reason::target), HasSubstr("cutlass.ampere=all"));
  EXPECT_EQ(found(problem, with({{"ampere", "all"}})).kernels.size(), 130 + 66u);
}

TEST_F(Cutlass, AmperesKernelsComputeEveryLayoutAndType) {
  const ProviderSettings both = with({{"ampere", "all"}});
  for (const char* layout : {"ttt", "tnt", "ntt", "nnt", "ttn", "tnn", "ntn", "nnn"})
    for (const DType dtype : {DType::f16, DType::bf16})
      for (const DType out : {dtype, DType::f32}) {
        gemm::Shape asked = shape(dtype, layout);
        asked.out = out;
        const Problem problem = problem_of(asked);
        const Found listed = found(problem, both);
        ASSERT_FALSE(listed.kernels.empty()) << problem.name();
        const Kernel& last = listed.kernels.back();
        ASSERT_EQ(last.metadata().family(), "gemm_sm80");
        EXPECT_EQ(last.metadata().design.truth("swapped", false), layout[2] == 'n');
        expect_right(last, problem);
      }
  gemm::Shape scaled = shape(), batched = shape(), half = shape();
  scaled.alpha = 0.5;
  scaled.beta = -2;
  batched.batch = 3;
  half.accumulate = DType::f16;
  for (const gemm::Shape& one : {scaled, batched, half}) {
    const Problem problem = problem_of(one);
    const Found listed = found(problem, both);
    ASSERT_EQ(listed.kernels.back().metadata().family(), "gemm_sm80");
    expect_right(listed.kernels.back(), problem);
  }
}

TEST_F(Cutlass, AmperesSwizzlesAndSplitsOfKShareOneObjectOfEachMajorVersion) {
  const Problem problem = problem_of(shape());
  const Found searched = found(problem, with({{"ampere", "all"}, {"runtime", "search"}}));
  std::vector<Kernel> rows;
  for (const Kernel& kernel : searched.kernels)
    if (kernel.metadata().name().starts_with("128x256x64_2x4_3_multistage") &&
        kernel.metadata().rule().operands.front().divisibility == 8)
      rows.push_back(kernel);
  ASSERT_EQ(rows.size(), 9u);
  for (const Kernel& row : rows) expect_right(row, problem);
  EXPECT_EQ(place_.nvcc.compiled(), 1);
  const auto flags = [&](const char* target) {
    const auto artifact = rows.front().compile(problem, *Target::parse(target), context_);
    EXPECT_TRUE(artifact) << artifact.error().message;
    return artifact ? artifact->facts["flags"].dump() : "";
  };
  EXPECT_THAT(flags("sm_90a"), HasSubstr("arch=compute_90,code=sm_90\""));
  EXPECT_THAT(flags("sm_86"), HasSubstr("arch=compute_80,code=sm_80\""));
  EXPECT_THAT(flags("sm_80"), HasSubstr("arch=compute_80,code=sm_80\""));
  EXPECT_EQ(place_.nvcc.compiled(), 2);
  // What lies there for one major version is not there for another.
  const ProviderSettings bare = {{"nvcc", "/no/such/nvcc"},
                                 {"directory", "/no/such"},
                                 {"cache", place_.folder.file("empty")},
                                 {"pool", place_.folder.file("cache")}};
  EXPECT_EQ(found(problem, bare, *Target::parse("sm_89")).kernels.size(), 0u)
      << "147,456 bytes of shared memory";
  EXPECT_EQ(found(problem, bare, *Target::parse("sm_80")).kernels.size(), 1u);
  gemm::Shape batched = shape();
  batched.batch = 2;
  for (const Kernel& kernel :
       found(problem_of(batched), with({{"runtime", "search"}}), *Target::parse("sm_80")).kernels)
    EXPECT_EQ(kernel.metadata().design.integer("split_k", 0), 1);
}

TEST_F(Cutlass, SettingsThatMeanNothingAreRefused) {
  for (const auto& [name, value] :
       {std::pair<std::string, std::string>{"space", "all"}, {"runtime", "yes"}}) {
    const Status taken = provider_->check({{name, value}});
    ASSERT_FALSE(taken) << name << '=' << value;
    EXPECT_EQ(taken.error().code, ErrorCode::invalid_input);
    EXPECT_THAT(taken.error().message, HasSubstr("cutlass: " + name + ": '" + value + "'"));
  }
}

// What nvcc left is mapped in a process of its own alone, and only where it is an object.
TEST_F(Cutlass, WhateverACompilerLeavesThisProcessGoesOn) {
  const Problem problem = problem_of(shape());
  const Kernel good = kernel(problem, kGood);
  CompileContext context = context_;
  context.timeout_seconds = 2;
  const auto why = [&](const std::string& order, const std::string& code = "") {
    if (!code.empty()) {
      const std::string file = place_.folder.file(order + ".cc");
      std::ofstream(file) << "#include <unistd.h>\n"
                          << "extern \"C\" __attribute__((visibility(\"default\"))) "
                             "const void* assay_cutlass_kernel();\n"
                          << code;
      const auto built = testing::build_plugin(file, place_.folder.path());
      EXPECT_TRUE(built) << built.error().message;
      if (built) std::filesystem::rename(*built, place_.folder.file("object.so"));
    }
    place_.nvcc.order(code.empty() ? order : "object");
    const auto artifact = good.compile(problem, kHopper, context);
    EXPECT_FALSE(artifact) << order;
    if (artifact) return std::string();
    EXPECT_EQ(artifact.error().code, ErrorCode::build_failed) << order;
    return artifact.error().message;
  };
  EXPECT_THAT(why("nothing"), HasSubstr("no regular file"));
  EXPECT_THAT(why("pipe"), HasSubstr("no regular file"));
  EXPECT_THAT(why("link"), HasSubstr("no regular file"));
  EXPECT_THAT(why("text"), HasSubstr("no shared object"));
  EXPECT_THAT(why("ends", "__attribute__((constructor)) static void end() { _exit(0); }\n"),
              HasSubstr("gave no answer: exited with code 0"));
  EXPECT_THAT(
      why("stays", "__attribute__((constructor)) static void stay() { for (;;) pause(); }\n"),
      HasSubstr("did not end within 2 s"));
  EXPECT_THAT(
      why("wild", "const void* assay_cutlass_kernel() { return reinterpret_cast<void*>(8); }\n"),
      HasSubstr("signal 11"));
  EXPECT_THAT(
      why("empty",
          "struct { unsigned version = 1, bytes = 80; unsigned long of[9] = {8, 8}; } table;\n"
          "const void* assay_cutlass_kernel() { return &table; }\n"),
      HasSubstr("another interface"));
  static_assert(sizeof(assay_cutlass::Kernel) == 80);
}

TEST_F(Cutlass, ACompilerThatHangsEndsWhenTheUserAsks) {
  const Problem problem = problem_of(shape());
  const Kernel good = kernel(problem, kGood);
  place_.nvcc.order("hang");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd from(ends[0]), into(ends[1]);
  ASSERT_TRUE(write_all(into.get(), "stop"));
  CompileContext context = context_;
  context.cancel_fd = from.get();
  const auto artifact = good.compile(problem, kHopper, context);
  ASSERT_FALSE(artifact);
  EXPECT_EQ(artifact.error().code, ErrorCode::interrupted) << artifact.error().message;
}

TEST_F(Cutlass, TheLargestLevelIsMadeOnceIntoTheCache) {
  // No generator beside the headers, and nothing in the cache.
  const auto none = provider_->families(with({{"space", "max"}}));
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("there is no cutlass_library beside the headers"));
  const std::string package = place_.nvcc.directory() + "/python/cutlass_library";
  std::filesystem::create_directories(package);
  const auto write = [&](const std::string& file, const std::string& text) {
    ASSERT_TRUE(write_file_atomic(package + "/" + file, text));
  };
  write("__init__.py", "raise SystemExit('the generator is broken')\n");
  write("generator.py", "");
  const auto broken = provider_->families(with({{"space", "max"}}));
  ASSERT_FALSE(broken);
  if (broken.error().message.find("no python3") != std::string::npos)
    GTEST_SKIP() << broken.error().message;
  EXPECT_THAT(broken.error().message, HasSubstr("the generator is broken"));
  // A package of two operations, in the place of one of 77,036.
  write("__init__.py", "");
  write("library.py", R"(import enum
DataType = enum.Enum("DataType", "f16 bf16 f32 void")
GemmKind = enum.Enum("GemmKind", "Universal3x Other")
)");
  write("manifest.py", R"(class Manifest:
  def __init__(self, arguments): self.operations, self.level = {}, arguments[-1]
)");
  write("generator.py", R"(import types
from . import library
name = lambda word: types.SimpleNamespace(name=word)
class define_parser:
  def parse_args(self, words): return words
def tensor(dtype, layout):
  return types.SimpleNamespace(element=dtype, layout=name(layout), alignment=8)
def operation(tile_n):
  half, full = library.DataType.f16, library.DataType.f32
  made = types.SimpleNamespace(
      gemm_kind=library.GemmKind.Universal3x, A=tensor(half, "RowMajor"),
      B=tensor(half, "ColumnMajor"), C=tensor(library.DataType.void, "ColumnMajor"),
      D=tensor(half, "ColumnMajor"), element_epilogue=full,
      kernel_schedule=name("TmaWarpSpecializedPingpong"),
      epilogue_schedule=name("TmaWarpSpecialized"), tile_scheduler=name("Default"),
      tile_description=types.SimpleNamespace(cluster_shape=[2, 1, 1], stages=0))
  made.accumulator_type = lambda: full
  made.get_collective_tile_shape = lambda: [64, tile_n, 64]
  made.procedural_name = lambda: "fake"
  return made
def GenerateSM90_TensorOp_16b_WGMMA_gemm(listed, cuda):
  assert listed.level == "max", listed.level
  print("noise")
  listed.operations = {"gemm": [operation(16), operation(32)]}
def GenerateSM90_TensorOp_16b_WGMMA_alignx_gemm(listed, cuda): pass
)");
  for (int i = 0; i < 2; ++i) {
    const Found two = found(problem_of(shape()), with({{"space", "max"}}));
    ASSERT_EQ(two.kernels.size(), 2u);
    EXPECT_EQ(two.kernels.front().metadata().name(), "64x16x64_2x1_pingpong_tma_persistent");
    expect_right(two.kernels.front(), problem_of(shape()));
    // The second time it is read.
    write("generator.py", "raise SystemExit('asked again')\n");
  }
  // What is damaged is made anew, and that cannot be done now.
  for (const auto& entry :
       std::filesystem::directory_iterator(place_.folder.file("cache/cutlass"))) {
    if (!entry.path().filename().string().starts_with("configurations-max-")) continue;
    ASSERT_TRUE(write_file_atomic(entry.path().string(), "garbage\n"));
  }
  const auto damaged = provider_->families(with({{"space", "max"}}));
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().message, HasSubstr("asked again"));
}

TEST(CutlassCompiler, ItsWordsAreReadWhereverTheyStand) {
  const Resources read = resources_of(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized due to x\n"
      "    24 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 6 barriers\n");
  EXPECT_EQ(read.registers, 255);
  EXPECT_EQ(read.stack_bytes, 24);
  EXPECT_EQ(read.spill_store_bytes, 12);
  EXPECT_EQ(read.spill_load_bytes, 20);
  EXPECT_TRUE(read.serialised);
  EXPECT_FALSE(resources_of("ptxas info : Used 90 registers\n").serialised);
}

}  // namespace
}  // namespace assay::cutlass

ASSAY_PROVIDER_CONFORMANCE(cutlass, {.make = assay::cutlass::make_provider,
                                     .settings = assay::cutlass::conformance_settings(),
                                     .rows_per_problem = 2,
                                     .open_device = assay::testing::open_fake_gpu});
