#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api.h"
#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/random.h"
#include "assay/input/manifest.h"
#include "assay/kernel/taker.h"
#include "assay/op/gemm/gemm.h"
#include "object_file.h"
#include "providers/tvm_ffi/info.h"
#include "testing/bound_kernel.h"
#include "testing/build_plugin.h"
#include "testing/provider_conformance.h"

namespace assay::tvm_ffi {
namespace {

using testing::BoundKernel;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string& folder() {
  static const auto made = TemporaryDirectory::create("/tmp", "assay-tvm-ffi-");
  return made->path();
}

// Beside this test.
std::string library(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}
ProviderSettings fake() { return {{"library", library("libfake_tvm_ffi.so")}}; }

std::string build(const std::vector<std::string>& macros = {}) {
  const char* root = std::getenv("ASSAY_SOURCE_DIR");
  const auto built = testing::build_plugin(
      fmt::format("{}/tests/tvm_ffi/object.cc", root == nullptr ? "." : root), folder(), macros);
  EXPECT_TRUE(built) << built.error().message;
  return built.value_or("");
}

const std::string& object() {
  static const std::string file = build();
  return file;
}

LaunchForms itself() {
  return [](const KernelEntry&) { return LaunchForm::itself; };
}

Result<std::shared_ptr<const Family>> bring(const std::string& fields,
                                            const std::string& source = object(),
                                            const ProviderSettings& settings = fake()) {
  ASSAY_TRY(const auto entries,
            input::parse_manifest(
                fmt::format("- {{provider: tvm_ffi, source: {}, {}}}\n", source, fields),
                folder() + "/m.yaml", itself()));
  const auto provider = make_provider();
  return provider->bring(entries.front(), settings);
}

std::string error_of(const Result<std::shared_ptr<const Family>>& brought) {
  if (brought) return "no error";
  EXPECT_EQ(brought.error().code, ErrorCode::invalid_input) << brought.error().message;
  return brought.error().message;
}

class TvmFfi : public ::testing::Test {
 protected:
  TvmFfi() : cache_(folder() + "/cache", Log{}) {}

  Result<BoundKernel> bind(const std::shared_ptr<const Family>& family, const gemm::Shape& shape) {
    ASSAY_TRY(const Problem problem, gemm::problem(shape));
    Catalog catalog;
    catalog.add("tvm_ffi", ProviderRole::user, family);
    ASSAY_TRY(const auto found, catalog.get_kernels(problem, {.target = cpu::host_target()}));
    if (found.kernels.empty())
      return fail(ErrorCode::unsupported, "{}", found.refusals.to_json().dump());
    return BoundKernel::make(found.kernels.front(), problem, 1, {.cache = &cache_});
  }

  ArtifactCache cache_;
};

TEST_F(TvmFfi, TensorsHaveTheProblemsOwnSizesAndStrides) {
  for (const char* layout : {"tt", "tn", "nt", "nn"}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const auto family =
          bring(fmt::format("entry: gemm, dtype: [f32, f64], layout: {}, args: [a, "
                            "b, out, m, n, k], name: it",
                            layout));
      ASSERT_TRUE(family) << family.error().message;
      auto bound = bind(*family, {.m = 5, .n = 7, .k = 9, .dtype = dtype, .layout = layout});
      ASSERT_TRUE(bound) << layout << bound.error().message;
      ASSERT_TRUE(bound->launch());
      EXPECT_TRUE(bound->check().right) << layout;
    }
  }
}

TEST_F(TvmFfi, BatchesScalarsAnAddendAndAWorkspaceArrive) {
  const auto family = bring(
      "entry: everything, dtype: f32, layout: tt, args: [a, b, c, out, alpha, beta, l, workspace], "
      "workspace: 64");
  ASSERT_TRUE(family) << family.error().message;
  for (const double beta : {0.0, 0.5}) {
    auto bound = bind(*family, {.m = 4,
                                .n = 6,
                                .k = 8,
                                .batch = 3,
                                .dtype = DType::f32,
                                .layout = "tt",
                                .alpha = 1.5,
                                .beta = beta});
    ASSERT_TRUE(bound) << bound.error().message;
    const Status launched = bound->launch();
    ASSERT_TRUE(launched) << launched.error().message;
    EXPECT_TRUE(bound->check().right) << beta;
  }
}

TEST_F(TvmFfi, APlanThatIsBoundAnewWritesToTheNewPlace) {
  const auto family = bring("entry: gemm, dtype: f32, layout: tt, args: [a, b, out]");
  ASSERT_TRUE(family) << family.error().message;
  auto bound = bind(*family, {.m = 4, .n = 5, .k = 6, .dtype = DType::f32, .layout = "tt"});
  ASSERT_TRUE(bound && bound->launch());
  alignas(64) std::array<float, 64> other{};
  void* const data[] = {bound->data(0), bound->data(1), other.data()};
  ASSERT_TRUE(bound->plan().rebind(data));
  ASSERT_TRUE(bound->launch());
  EXPECT_EQ(std::memcmp(other.data(), bound->data(2), 4 * 5 * sizeof(float)), 0);
}

TEST_F(TvmFfi, WhatAFunctionRaisesIsASentence) {
  const std::pair<const char*, const char*> cases[] = {
      {"raises", "the kernel reported code -1: ValueError: rows do not fit: xxxx"},
      {"raises_binary", R"(Bad\nKind: zero \x00 escape \x1b[31m \xff end)"},
      {"silent", "the kernel reported code -1: it raised no error that would say why"}};
  for (const auto& [entry, part] : cases) {
    const auto family =
        bring(fmt::format("entry: {}, dtype: f32, layout: tt, args: [a, b, out]", entry));
    ASSERT_TRUE(family) << family.error().message;
    auto bound = bind(*family, {.m = 2, .n = 2, .k = 2, .dtype = DType::f32, .layout = "tt"});
    ASSERT_TRUE(bound) << bound.error().message;
    for (int again = 0; again < 2; ++again) {
      const Status launched = bound->launch();
      ASSERT_FALSE(launched) << entry;
      EXPECT_THAT(launched.error().message, HasSubstr(part));
      EXPECT_LT(launched.error().message.size(), 1400u) << "it is bounded";
    }
  }
}

int64_t objects_left() {
  const auto loaded = DynamicLibrary::open(fake()["library"], {.deep_bind = false});
  int64_t (*count)() = nullptr;
  EXPECT_TRUE(loaded && loaded->load("fake_tvm_ffi_objects", count));
  return count == nullptr ? -1 : count();
}

TEST_F(TvmFfi, WhatALaunchHandsBackIsReleased) {
  for (const char* entry : {"returns_object", "raises", "raises_binary"}) {
    const auto family =
        bring(fmt::format("entry: {}, dtype: f32, layout: tt, args: [a, b, out]", entry));
    ASSERT_TRUE(family) << family.error().message;
    auto bound = bind(*family, {.m = 2, .n = 3, .k = 2, .dtype = DType::f32, .layout = "tt"});
    ASSERT_TRUE(bound) << bound.error().message;
    for (int i = 0; i < 3; ++i) (void)bound->launch();
    EXPECT_EQ(objects_left(), 0) << entry;
  }
}

TEST_F(TvmFfi, WhatIsWrongWithAnEntryIsASentence) {
  const std::string rest = "dtype: f32, layout: tt, args: [a, b, out]";
  const std::pair<std::string, const char*> cases[] = {
      {"entry: gem, " + rest, "object.so exports no __tvm_ffi_gem; did you mean 'gemm'?"},
      {"entry: zzzzzzzz, " + rest,
       "crashes, everything, gemm, nothing, raises, raises_binary, returns_object, silent, throws, "
       "wrong"},
      {"entry: gemm, flags: [-O3], " + rest, "flags: nothing is compiled here"},
      {"entry: gemm, specialised_on: [k], " + rest, "specialised_on: nothing is compiled here"},
      {"entry: gemm, tunables: {tile: [1, 2]}, " + rest, "args does not name 'tile'"},
      {"entry: gemm, tunables: {tile: [x, y]}, dtype: f32, layout: tt, args: [a, b, out, tile]",
       "'tile' is text"},
      {"entry: gemm, dtype: f32, layout: tt, args: [a, prepared, out], prepare: {entry: p, bytes: "
       "4, "
       "args: [b, prepared]}",
       "does not pack weights"},
      {"entry: gemm, launch: {grid: [1], block: [1]}, " + rest, "launch"}};
  for (const auto& [fields, part] : cases)
    EXPECT_THAT(error_of(bring(fields)), HasSubstr(part)) << fields;
}

TEST_F(TvmFfi, WhatIsNoSharedObjectIsASentence) {
  const std::string fields = "entry: gemm, dtype: f32, layout: tt, args: [a, b, out]";
  const std::string whole = *read_file(object());
  std::string relocatable = whole, foreign = whole;
  relocatable[16] = 1;
  foreign[18] = 3;
  const std::pair<std::string, const char*> cases[] = {
      {"not an object\n", "it is no shared object (ELF)"},
      {"", "it is no shared object (ELF)"},
      {whole.substr(0, 40), "it ends within its header"},
      {whole.substr(0, whole.size() / 2), "it is cut short"},
      {relocatable, "it is an object file that was not linked yet"},
      {foreign, "it was built for another kind of processor"}};
  for (const auto& [content, part] : cases) {
    const std::string file = folder() + "/bad.so";
    ASSERT_TRUE(write_file_atomic(file, content));
    const std::string message = error_of(bring(fields, file));
    EXPECT_THAT(message, HasSubstr(part));
    EXPECT_THAT(message, HasSubstr("m.yaml:1: source: '" + file + "'"));
  }
}

TEST_F(TvmFfi, ObjectsAreReadAsDataWhateverTheyHold) {
  const std::string whole = *read_file(object());
  const auto read = parse_object(whole);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->entries, Contains("gemm"));
  EXPECT_THAT(read->entries, Contains("_doc_gemm"));
  EXPECT_THAT(read->needed, Contains("libc.so.6"));
  const CounterRandom random{7, 1};
  for (uint64_t i = 0; i < 3000; ++i) {
    std::string broken = whole;
    for (uint64_t change = 0; change < 1 + i % 4; ++change) {
      // The header and the tables at the end, where most of what is read lies.
      const uint64_t bits = random.bits(4 * i + change);
      const uint64_t at = change % 2 == 0 ? bits % 64 : broken.size() - 1 - bits % 4096;
      broken[at] = static_cast<char>(bits >> 32);
    }
    (void)parse_object(broken);
    (void)parse_object(std::string_view(broken).substr(0, random.bits(i) % broken.size()));
  }
}

// As many as there are sections would each be read, each over all of the file.
TEST_F(TvmFfi, ASecondTableOfSymbolsIsRefused) {
  std::string object_file = *read_file(object());
  const auto at = [&](uint64_t place, auto value) {
    std::memcpy(&value, object_file.data() + place, sizeof value);
    return value;
  };
  const uint64_t sections = at(0x28, uint64_t{});
  const uint16_t count = at(0x3c, uint16_t{});
  constexpr uint32_t kBits = 1, kSymbols = 11;
  for (uint16_t i = 0; i < count; ++i)
    if (const uint64_t type = sections + i * 64u + 4; at(type, uint32_t{}) == kBits)
      std::memcpy(object_file.data() + type, &kSymbols, sizeof kSymbols);
  const auto read = parse_object(object_file);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("several tables of dynamic symbols"));
}

TEST_F(TvmFfi, AnObjectThatCannotBeLoadedOrWantsMoreIsAnErrorOfItsOwn) {
  const auto family = bring("entry: unknown, dtype: f32, layout: tt, args: [a, b, out]",
                            build({"CASE_UNKNOWN_SYMBOL"}));
  ASSERT_TRUE(family) << family.error().message;
  const auto bound = bind(*family, {.m = 2, .n = 2, .k = 2, .dtype = DType::f32, .layout = "tt"});
  ASSERT_FALSE(bound);
  EXPECT_THAT(bound.error().message, HasSubstr("it cannot be loaded: "));
  EXPECT_THAT(bound.error().message, HasSubstr("TVMFFINobodyHasThis"));
}

TEST_F(TvmFfi, TheLibraryDoesNotHandleTheSignalsOfItsProcess) {
  struct sigaction before {
  }, after{};
  ASSERT_EQ(::sigaction(SIGSEGV, nullptr, &before), 0);
  ASSERT_TRUE(Api::open(fake()));
  ASSERT_FALSE(Api::open({{"library", library("libfake_tvm_ffi_new.so")}}));
  ASSERT_EQ(::sigaction(SIGSEGV, nullptr, &after), 0);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST_F(TvmFfi, AVersionThatNobodyKnowsIsRefused) {
  const auto api = Api::open({{"library", library("libfake_tvm_ffi_new.so")}});
  ASSERT_FALSE(api);
  EXPECT_THAT(api.error().message,
              HasSubstr("is version 0.2.0 of TVM-FFI, and this assay speaks that of 0.1"));
  const auto availability = make_provider()->availability({{"library", "/nowhere/libtvm_ffi.so"}});
  EXPECT_FALSE(availability.available);
  EXPECT_THAT(availability.reason, HasSubstr("install apache-tvm-ffi (PyPI)"));
}

TEST_F(TvmFfi, TheArtifactIsTheFilesContentAndOutlivesIt) {
  const std::string copy = folder() + "/copy.so";
  std::filesystem::copy_file(object(), copy);
  const auto family = bring("entry: gemm, dtype: f32, layout: tt, args: [a, b, out]", copy);
  ASSERT_TRUE(family) << family.error().message;
  Catalog catalog;
  catalog.add("tvm_ffi", ProviderRole::user, *family);
  const auto problem = gemm::problem({.m = 3, .n = 3, .k = 3, .dtype = DType::f32, .layout = "tt"});
  const auto found = catalog.get_kernels(*problem);
  ASSERT_EQ(found->kernels.size(), 1u);
  const auto first =
      found->kernels.front().compile(*problem, cpu::host_target(), {.cache = &cache_});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->facts["sha256"], *sha256_of_file(copy));
  EXPECT_EQ(first->facts["symbol"], "__tvm_ffi_gemm");
  EXPECT_EQ(*sha256_of_file(first->file.string()), *sha256_of_file(copy));
  // Whatever lies there now: what was read is what is bound.
  std::filesystem::remove(copy);
  EXPECT_TRUE(BoundKernel::make(found->kernels.front(), *problem, 1, {.cache = &cache_}));
  ASSERT_TRUE(write_file_atomic(copy, "no object"));
  EXPECT_TRUE(BoundKernel::make(found->kernels.front(), *problem, 1, {.cache = &cache_}));
}

// What has no targets takes tensors of this machine's memory.
TEST_F(TvmFfi, AnEntrysTargetsSayWhereItsTensorsLie) {
  const std::string fields = "entry: gemm, dtype: f32, layout: tt, args: [a, b, out]";
  const auto problem = gemm::problem({.m = 3, .n = 3, .k = 3, .dtype = DType::f32, .layout = "tt"});
  for (const bool for_gpu : {false, true}) {
    const std::string all = for_gpu ? fields + ", targets: [sm_90a, sm_80]" : fields;
    const auto family = bring(all);
    ASSERT_TRUE(family) << family.error().message;
    Catalog catalog;
    catalog.add("tvm_ffi", ProviderRole::user, *family);
    const auto rows = [&](const Target& target) {
      return catalog.get_kernels(*problem, {.target = target})->kernels.size();
    };
    EXPECT_EQ(rows(*Target::parse("sm_90a")), for_gpu ? 1u : 0u);
    EXPECT_EQ(rows(cpu::host_target()), for_gpu ? 0u : 1u);
    const auto entries = input::parse_manifest(
        fmt::format("- {{provider: tvm_ffi, source: {}, {}}}\n", object(), all), "m.yaml",
        itself());
    ASSERT_TRUE(entries) << entries.error().message;
    EXPECT_EQ(is_for_gpu(*make_provider(), entries->front()), for_gpu);
  }
}

// The figure of README.md: `tvm_ffi_provider_test --gtest_also_run_disabled_tests
// --gtest_filter='*DISABLED*'` prints it.
TEST_F(TvmFfi, DISABLED_WhatALaunchCosts) {
  const auto family = bring("entry: nothing, dtype: f32, layout: tt, args: [a, b, out, m, n, k]");
  ASSERT_TRUE(family) << family.error().message;
  auto bound = bind(*family, {.m = 2, .n = 2, .k = 2, .dtype = DType::f32, .layout = "tt"});
  ASSERT_TRUE(bound) << bound.error().message;
  constexpr int kLaunches = 2'000'000;
  for (int round = 0; round < 5; ++round) {
    const int64_t start = monotonic_ns();
    for (int i = 0; i < kLaunches; ++i) (void)bound->launch();
    const int64_t launched = monotonic_ns();
    void* const data[] = {bound->data(0), bound->data(1), bound->data(2)};
    for (int i = 0; i < kLaunches; ++i) (void)bound->plan().rebind(data);
    const int64_t bound_anew = monotonic_ns();
    fmt::print("{:.2f} ns a launch, {:.2f} ns a rebind\n",
               static_cast<double>(launched - start) / kLaunches,
               static_cast<double>(bound_anew - launched) / kLaunches);
  }
}

std::vector<std::shared_ptr<const Family>> bring_all(const Provider&) {
  std::vector<std::shared_ptr<const Family>> families;
  for (const char* layout : {"tt", "tn", "nt", "nn"})
    families.push_back(
        *bring(fmt::format("entry: everything, dtype: [f32, f64], layout: {0}, name: all_{0}, "
                           "args: [a, b, c, out, alpha, beta, l, workspace], workspace: 64",
                           layout)));
  return families;
}

}  // namespace
}  // namespace assay::tvm_ffi

ASSAY_PROVIDER_CONFORMANCE(tvm_ffi, {.make = assay::tvm_ffi::make_provider,
                                     .settings = assay::tvm_ffi::fake(),
                                     .bring = assay::tvm_ffi::bring_all});
