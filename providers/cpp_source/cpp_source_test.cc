#include <cfloat>
#include <chrono>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/clock.h"
#include "assay/base/dynamic_library.h"
#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/input/manifest.h"
#include "assay/op/gemm/gemm.h"
#include "compile.h"
#include "family.h"
#include "providers/cpp_source/info.h"
#include "testing/bound_kernel.h"
#include "testing/provider_conformance.h"

namespace assay::cpp_source {
namespace {

using ::testing::AllOf;
using testing::BoundKernel;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Three ways of writing a kernel: tunables as macros, everything told at run time, weights packed.
constexpr std::string_view kSources = R"(// assay:
//   entry: tiled
//   dtype: f32
//   layout: tt
//   args: [a, b, out, m, n, k]
//   tunables: {tile: [1, 4], unroll: [true, false]}
//   constraints: [tile == 1 or unroll, n % tile == 0]
//
// assay:
//   entry: general
//   dtype: [f32, f64]
//   c: [f32, f64]
//   layout: any
//   args: [out, a, b, c, l, m, n, k, a_l, a_m, a_k, b_l, b_k, b_n, out_l, out_m, out_n, c_l, c_m,
//          c_n, alpha, beta, workspace, workspace_bytes, threads]
//   workspace: n * 8
//
// assay:
//   entry: packed
//   dtype: f32
//   layout: tn
//   args: [a, prepared, out, m, n, k, lda, ldout]
//   prepare: {entry: pack, bytes: n * k * 4, args: [b, prepared, n, k, ldb]}
#include <cstddef>
#include <cstdint>
extern "C" void tiled(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
#if defined(tile)
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; j += tile) {
      double sums[tile] = {};
      for (int64_t p = 0; p < k; ++p)
        for (int t = 0; t < tile; ++t) sums[t] += double(a[i * k + p]) * b[p * n + j + t];
      for (int t = 0; t < tile; ++t) out[i * n + j + t] = sums[t];
    }
#endif
}
#if ASSAY_A_F64
using Real = double;
#else
using Real = float;
#endif
static int general(Real* out, const Real* a, const Real* b, const Real* c, int l, int m, int n,
                   long k, int64_t a_l, int64_t a_m, int64_t a_k, int64_t b_l, int64_t b_k,
                   int64_t b_n, int64_t out_l, int64_t out_m, int64_t out_n, int64_t c_l,
                   int64_t c_m, int64_t c_n, double alpha, float beta, void* workspace,
                   size_t bytes, int threads) {
  if (bytes != size_t(n) * 8 || threads < 1) return 3;
  double* sums = static_cast<double*>(workspace);
  for (int x = 0; x < l; ++x)
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) sums[j] = 0;
      for (int p = 0; p < k; ++p)
        for (int j = 0; j < n; ++j)
          sums[j] += double(a[x * a_l + i * a_m + p * a_k]) * double(b[x * b_l + p * b_k + j * b_n]);
      for (int j = 0; j < n; ++j) {
        double value = alpha * sums[j];
        if (c) value += beta * double(c[x * c_l + i * c_m + j * c_n]);
        out[x * out_l + i * out_m + j * out_n] = Real(value);
      }
    }
  return 0;
}
static void pack(const float* b, void* prepared, int64_t n, int64_t k, int64_t ldb) {
  for (int64_t p = 0; p < k; ++p)
    for (int64_t j = 0; j < n; ++j) static_cast<float*>(prepared)[p * n + j] = b[j * ldb + p];
}
void packed(const float* a, const void* prepared, float* out, int64_t m, int64_t n, int64_t k,
            int64_t lda, int64_t ldout) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += double(a[i * lda + p]) * static_cast<const float*>(prepared)[p * n + j];
      out[i * ldout + j] = float(sum);
    }
}
)";

std::string write(const TemporaryDirectory& folder, const std::string& name,
                  std::string_view text) {
  const auto written = write_file_atomic(folder.file(name), text);
  EXPECT_TRUE(written) << written.error().message;
  return folder.file(name);
}

LaunchForms itself() {
  return [](const KernelEntry&) { return LaunchForm::itself; };
}

std::vector<std::shared_ptr<const Family>> bring(const Provider& provider,
                                                 const std::string& file) {
  std::vector<std::shared_ptr<const Family>> families;
  const auto entries = input::read_kernels(file, itself());
  EXPECT_TRUE(entries) << entries.error().message;
  if (!entries) return families;
  for (const KernelEntry& entry : *entries) {
    auto family = provider.bring(entry);
    EXPECT_TRUE(family) << family.error().message;
    if (family) families.push_back(std::move(*family));
  }
  return families;
}

std::vector<std::shared_ptr<const Family>> bring_sources(const Provider& provider) {
  // Stays until the process ends: kernels are compiled from it when they are asked for.
  static const auto folder = TemporaryDirectory::create("/tmp", "assay-cpp-source-");
  return folder ? bring(provider, write(*folder, "kernels.cc", kSources))
                : std::vector<std::shared_ptr<const Family>>();
}

class CppSource : public ::testing::Test {
 protected:
  void SetUp() override {
    const Availability availability = provider_->availability({});
    if (!availability.available) GTEST_SKIP() << availability.reason;
    auto folder = TemporaryDirectory::create();
    ASSERT_TRUE(folder);
    folder_ = std::make_unique<TemporaryDirectory>(std::move(*folder));
    cache_ = std::make_unique<ArtifactCache>(folder_->file("cache"), Log{});
    context_.cache = cache_.get();
  }

  // The first kernel of a source that is described by one line of comment.
  Result<Kernel> kernel(const std::string& comment, const std::string& code,
                        const gemm::Shape& shape = {.m = 3, .n = 4, .k = 5, .layout = "tt"}) {
    const auto problem = gemm::problem(shape);
    EXPECT_TRUE(problem) << problem.error().message;
    ASSAY_TRY(const auto entries,
              input::read_kernels(write(*folder_, "my.cc", "// assay: " + comment + "\n" + code),
                                  itself()));
    ASSAY_TRY(auto family, provider_->bring(entries.front()));
    Catalog catalog;
    catalog.add("cpp_source", ProviderRole::user, std::move(family));
    ASSAY_TRY(Found found, catalog.get_kernels(*problem, {.target = cpu::host_target()}));
    if (found.kernels.empty())
      return fail(ErrorCode::not_found, "{}", found.refusals.to_json().dump());
    return found.kernels.front();
  }

  Result<Artifact> compile(const std::string& comment, const std::string& code,
                           const gemm::Shape& shape = {.m = 3, .n = 4, .k = 5, .layout = "tt"}) {
    ASSAY_TRY(const Kernel made, kernel(comment, code, shape));
    return made.compile(*gemm::problem(shape), cpu::host_target(), context_);
  }

  // A compiler that counts its runs.
  void count_runs() {
    const std::string script =
        write(*folder_, "counting-c++",
              "#!/bin/sh\necho run >> " + folder_->file("runs") + "\nexec c++ \"$@\"\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    context_.cxx = script;
  }
  int runs() const {
    std::ifstream lines(folder_->file("runs"));
    int count = 0;
    for (std::string line; std::getline(lines, line);) ++count;
    return count;
  }

  std::unique_ptr<Provider> provider_ = make_provider();
  std::unique_ptr<TemporaryDirectory> folder_;
  std::unique_ptr<ArtifactCache> cache_;
  CompileContext context_;
};

constexpr const char* kComment =
    "{entry: mine, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}";
constexpr const char* kParameters =
    "(const float* a, const float* b, float* out, long m, long n, long k)";
// Its result depends on WORD alone.
std::string fills_with(const std::string& word) {
  return "extern \"C\" void mine" + std::string(kParameters) +
         " { for (long i = 0; i < m * n; ++i) out[i] = " + word + "; }\n";
}

float first_output(const Kernel& kernel, const Artifact& artifact, const gemm::Shape& shape) {
  const auto problem = gemm::problem(shape);
  auto device = cpu::open({.threads = 1});
  alignas(64) std::array<float, 64> a{}, b{}, out{};
  const Arguments arguments{*problem, {a.data(), b.data(), out.data()}};
  auto plan = kernel.plan({.arguments = arguments, .artifact = artifact, .device = **device});
  EXPECT_TRUE(plan) << plan.error().message;
  auto stream = (*device)->make_stream();
  EXPECT_TRUE(plan && plan->launch(**stream));
  return out[0];
}

TEST_F(CppSource, ACompileErrorIsTheCompilersWithTheUsersLine) {
  const auto built = compile(
      kComment, "extern \"C\" void mine" + std::string(kParameters) + " {\n  undeclared = 1;\n}\n");
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::build_failed);
  EXPECT_THAT(built.error().message, HasSubstr("my.cc:3:3: error: "));
  EXPECT_THAT(built.error().message, HasSubstr("undeclared"));
}

TEST_F(CppSource, AFunctionThatTakesSomethingElseIsASentence) {
  const auto fewer =
      compile(kComment, "extern \"C\" void mine(const float*, const float*, float*) {}");
  ASSERT_FALSE(fewer);
  EXPECT_THAT(fewer.error().message, HasSubstr("my.cc:1: args lists 6 values, but mine takes "
                                               "another number of parameters"));
  const auto swapped =
      compile(kComment, "void mine(long m, const float*, const float*, float*, long, long) {}");
  ASSERT_FALSE(swapped);
  EXPECT_THAT(swapped.error().message, HasSubstr("are pointers, but the function takes something "
                                                 "else"));
  const auto returns =
      compile(kComment, "float mine" + std::string(kParameters) + " { return 0; }");
  ASSERT_FALSE(returns);
  EXPECT_THAT(returns.error().message, HasSubstr("the function returns neither void nor an int"));
  const auto missing = compile(kComment, "void other() {}");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("mine"));
}

TEST_F(CppSource, ACompilerThatDoesNotEndIsStopped) {
  const std::string script = write(*folder_, "slow-c++", "#!/bin/sh\nexec sleep 60\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  context_.cxx = script;
  context_.timeout_seconds = 0.2;
  const auto built = compile(kComment, fills_with("1"));
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::build_failed);
  EXPECT_THAT(built.error().message, HasSubstr("the compiler was stopped after 200 ms"));
}

TEST_F(CppSource, ACompilerThatEatsMemoryIsStopped) {
  context_.memory_bytes = int64_t{1} << 30;
  const auto built = compile(kComment, "#include \"/dev/zero\"\n" + fills_with("1"));
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::build_failed);
  EXPECT_THAT(built.error().message,
              HasSubstr("the compiler needs more than the 1024 MiB of memory that it may take"));
}

TEST_F(CppSource, NoCompilerIsUnsupported) {
  context_.cxx = "no-such-c++";
  const auto built = compile(kComment, fills_with("1"));
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::unsupported);
  EXPECT_FALSE(provider_->availability({{"cxx", "no-such-c++"}}).available);
}

TEST_F(CppSource, BuildsOnceUntilTheSourceOrAHeaderChanges) {
  count_runs();
  // What was written a moment before may be built twice (traced_artifacts.h).
  const auto write_long_ago = [&](const char* name, const char* text, int minutes) {
    const std::string file = write(*folder_, name, text);
    std::filesystem::last_write_time(
        file, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(minutes));
  };
  write_long_ago("value.h", "#include \"deeper.h\"\n", 60);
  write_long_ago("deeper.h", "constexpr float kValue = 2;\n", 60);
  const std::string code = "#include \"value.h\"\n" + fills_with("kValue");
  const gemm::Shape shape{.m = 3, .n = 4, .k = 5, .layout = "tt"};
  const auto first = compile(kComment, code);
  ASSERT_TRUE(first) << first.error().message;
  const int once = runs();
  EXPECT_GT(once, 0);
  const auto again = compile(kComment, code, {.m = 7, .n = 2, .k = 9, .layout = "tt"});
  ASSERT_TRUE(again);
  EXPECT_EQ(runs(), once) << "sizes that nothing is specialised on are no reason to build";
  EXPECT_EQ(again->hash, first->hash);
  write_long_ago("deeper.h", "constexpr float kValue = 3;\n", 30);
  const auto changed = compile(kComment, code);
  ASSERT_TRUE(changed);
  EXPECT_EQ(runs(), 2 * once);
  EXPECT_NE(changed->hash, first->hash);
  const auto made = kernel(kComment, code);
  EXPECT_EQ(first_output(*made, *first, shape), 2);
  EXPECT_EQ(first_output(*made, *changed, shape), 3);
}

TEST_F(CppSource, AnIncludeThatAMacroNamesIsFollowedToo) {
  write(*folder_, "one.h", "constexpr float kValue = 2;\n");
  const std::string code = "#define WHICH \"one.h\"\n#include WHICH\n" + fills_with("kValue");
  const auto first = compile(kComment, code);
  ASSERT_TRUE(first) << first.error().message;
  write(*folder_, "one.h", "constexpr float kValue = 3;\n");
  const auto second = compile(kComment, code);
  ASSERT_TRUE(second);
  EXPECT_NE(first->hash, second->hash);
}

// What is read beside the source, in each of the ways that a compiler knows of.
TEST_F(CppSource, WhatIsReadDecidesWhateverNamesIt) {
  const std::string include = "include \"one.h\"\n";
  const std::pair<const char*, std::string> ways[] = {
      {"digraph", "%:" + include},
      {"comment", "# /* the tile */ " + include},
      {"continued line", "#inc\\\nlude \"one.h\"\n"},
      {"comment before", "/* a\n b */ #" + include},
      {"macro", "#define NAME <one.h>\n#include NAME\n"},
      {"assembler", "asm(\".include \\\"" + folder_->file("one.s") + "\\\"\");\n"}};
  for (const auto& [name, line] : ways) {
    SCOPED_TRACE(name);
    const std::string comment = fmt::format(
        "{{entry: mine, dtype: f32, layout: tt, args: [a, b, out, m, n, k], flags: "
        "[-I{}]}}",
        folder_->path());
    const std::string code =
        line + "extern \"C\" const float assay_value;\n" + fills_with("assay_value");
    const auto with = [&](const std::string& bits, const std::string& value) {
      const std::string text = ".pushsection .rodata\n.globl assay_value\nassay_value: .long " +
                               bits + "\n.popsection\n";
      write(*folder_, "one.s", text);
      write(*folder_, "one.h", "extern \"C\" const float assay_value = " + value + ";\n");
      return compile(comment, code);
    };
    const auto first = with("0x3f800000", "1.0f"), again = with("0x3f800000", "1.0f"),
               second = with("0x40000000", "2.0f");
    ASSERT_TRUE(first && again && second) << first.error().message;
    EXPECT_EQ(first->hash, again->hash);
    EXPECT_NE(first->hash, second->hash);
    EXPECT_EQ(with("0x3f800000", "1.0f")->file, first->file) << "both are kept";
  }
}

TEST_F(CppSource, BytesThatTheAssemblerReadsDecide) {
  const std::string code =
      "asm(\".section .rodata\\nassay_blob: .inc\" \"bin \\\"" + folder_->file("blob.bin") +
      "\\\"\\n.text\");\nextern \"C\" const float assay_blob;\n" + fills_with("assay_blob");
  write(*folder_, "blob.bin", std::string("\0\0\x80\x3f", 4));
  const auto first = compile(kComment, code);
  ASSERT_TRUE(first) << first.error().message;
  write(*folder_, "blob.bin", std::string("\0\0\0\x40", 4));
  const auto second = compile(kComment, code);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(
      first_output(*kernel(kComment, code), *second, {.m = 3, .n = 4, .k = 5, .layout = "tt"}), 2);
}

TEST_F(CppSource, AFileThatAppearsDecides) {
  const std::string asks =
      "#if __has_inc\\\nlude(\"flag.h\")\n#define V 2.0f\n#else\n#define V "
      "1.0f\n#endif\n" +
      fills_with("V");
  count_runs();
  const auto absent = compile(kComment, asks);
  ASSERT_TRUE(absent) << absent.error().message;
  const auto again = compile(kComment, asks);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->file, absent->file);
  write(*folder_, "flag.h", "");
  EXPECT_NE(compile(kComment, asks)->hash, absent->hash);
}

TEST_F(CppSource, AHeaderThatComesBeforeAnotherDecides) {
  std::filesystem::create_directory(folder_->file("far"));
  write(*folder_, "far/one.h", "#define V 1.0f\n");
  const std::string comment = fmt::format(
      "{{entry: mine, dtype: f32, layout: tt, args: [a, b, out, m, n, k], flags: [-I{}]}}",
      folder_->file("far"));
  const std::string code = "#include \"one.h\"\n" + fills_with("V");
  const auto far = compile(comment, code);
  ASSERT_TRUE(far) << far.error().message;
  write(*folder_, "one.h", "#define V 2.0f\n");
  EXPECT_NE(compile(comment, code)->hash, far->hash);
}

TEST_F(CppSource, AnArchiveThatIsLinkedDecides) {
  const auto archive = [&](const std::string& value) {
    const std::string source =
        write(*folder_, "scale.cc", "extern \"C\" float scale() { return " + value + "; }\n");
    const std::string object = folder_->file("scale.o");
    ASSERT_EQ(std::system(fmt::format("c++ -fPIC -c {} -o {} && rm -f {}/libscale.a && ar rc "
                                      "{}/libscale.a {}",
                                      source, object, folder_->path(), folder_->path(), object)
                              .c_str()),
              0);
  };
  const std::string comment = fmt::format(
      "{{entry: mine, dtype: f32, layout: tt, args: [a, b, out, m, n, k], flags: [-L{}, -lscale]}}",
      folder_->path());
  const std::string code = "extern \"C\" float scale();\n" + fills_with("scale()");
  archive("1.0f");
  const auto first = compile(comment, code);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(compile(comment, code)->hash, first->hash);
  archive("2.0f");
  EXPECT_NE(compile(comment, code)->hash, first->hash);
}

// The user's words are his, and ours are out of their way.
TEST_F(CppSource, NoMacroOfAUsersBreaksWhatCallsTheKernel) {
  const std::string macros =
      "#define T 4\n#define Slot 3\n#define Kind x\n#define Kinds\n#define data 7\n#define slots\n"
      "#define call(x) y\n#define check 1\n#define count 2\n#define Integer\n#define value\n"
      "#define pointer_4 p\n#define integer i\n#define visibility v\n";
  const std::string code = "#include <cstdint>\n" + fills_with("1.0f") + macros;
  EXPECT_TRUE(compile(kComment, code)) << compile(kComment, code).error().message;
  EXPECT_TRUE(compile(kComment, code + "#define const\n#define int double\n#define return\n"));
  for (const char* name : {"T", "U", "Slot", "Kinds", "kKinds", "Returned", "Parameters", "call"}) {
    const std::string comment = fmt::format(
        "{{entry: mine, dtype: f32, layout: tt, args: [a, b, out, m, n, k], tunables: {{{}: [4]}}, "
        "flags: [-DRest=1, -DHeld]}}",
        name);
    const auto built = compile(comment, fills_with(name));
    EXPECT_TRUE(built) << name << ": " << built.error().message;
  }
}

TEST_F(CppSource, ANameForSeveralFunctionsIsASentence) {
  const std::string other =
      "void mine(const double*, const double*, double*, long, long, long) {}\n"
      "void mine(const float*, const float*, float*, long, long, long) {}\n";
  const std::string made_of =
      "template <class T> void mine(const T*, const T*, T*, long, long, long) "
      "{}\n";
  for (const std::string& code : {other, made_of}) {
    const auto built = compile(kComment, code);
    ASSERT_FALSE(built);
    EXPECT_THAT(built.error().message, HasSubstr("is overloaded, or a template"));
    EXPECT_EQ(built.error().message.find('\n'), std::string::npos);
  }
  const auto no_function = compile(kComment, "float mine = 1;\n");
  ASSERT_FALSE(no_function);
  EXPECT_THAT(no_function.error().message, HasSubstr("mine is no function"));
}

TEST_F(CppSource, AnOlderStandardIsTheUsersChoice) {
  for (const char* standard : {"c++11", "c++14", "c++17", "gnu++20"}) {
    const auto built = compile(
        fmt::format("{{entry: mine, dtype: f32, layout: tt, args: [a, b, out, m, n, k], flags: "
                    "[-std={}]}}",
                    standard),
        fills_with("1.0f"));
    EXPECT_TRUE(built) << standard << ": " << built.error().message;
  }
}

TEST_F(CppSource, SpecialisedSizesAreMacrosAndEachIsBuiltForItself) {
  const std::string comment =
      "{entry: mine, dtype: f32, layout: tt, args: [a, b, out, m, n, k], specialised_on: [k, n]}";
  const std::string code = fills_with("ASSAY_K * 100 + ASSAY_N");
  for (const int64_t k : {5, 6}) {
    const gemm::Shape shape{.m = 3, .n = 4, .k = k, .layout = "tt"};
    const auto made = kernel(comment, code, shape);
    const auto built = compile(comment, code, shape);
    ASSERT_TRUE(built) << built.error().message;
    EXPECT_EQ(first_output(*made, *built, shape), static_cast<float>(k * 100 + 4));
  }
}

TEST_F(CppSource, TunablesAreMacrosOrArguments) {
  const std::string comment =
      "{entry: mine, dtype: f32, layout: tt, args: [a, b, out, m, n, k, depth, share, fast], "
      "tunables: {depth: [7], share: [0.5], fast: [true], TYPE: [double], WIDTH: [16]}}";
  const std::string code =
      "void mine(const float*, const float*, float* out, long, long, long, int depth, float share, "
      "bool fast) { out[0] = depth + share + fast + sizeof(TYPE) * 100 + WIDTH * 10000; }";
  const gemm::Shape shape{.m = 3, .n = 4, .k = 5, .layout = "tt"};
  const auto made = kernel(comment, code, shape);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->metadata().name(), HasSubstr("WIDTH16"));
  const auto built = compile(comment, code, shape);
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ(first_output(*made, *built, shape), 160808.5f);
}

TEST_F(CppSource, AConstraintOverSizesRefusesWithTheValues) {
  const auto made = kernel(
      "{entry: mine, dtype: f32, layout: tt, args: [a, b, out, m, n, k], tunables: {tile: [8]}, "
      "constraints: [tile <= n]}",
      fills_with("1"));
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("'tile <= n' does not hold for tile=8, n=4"));
}

TEST_F(CppSource, AKernelThatIsNotToldOfGapsIsNotGivenAny) {
  const gemm::Shape padded{.m = 3, .n = 4, .k = 5, .layout = "tt", .ldb = 9};
  const auto made = kernel(kComment, fills_with("1"), padded);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message,
              HasSubstr("operand b has steps of 9 elements along k, not 4, and "
                        "args does not name b_k or ldb"));
  EXPECT_TRUE(
      kernel("{entry: mine, dtype: f32, layout: tt, args: [a, b, out, m, n, k, ldb]}", "", padded));
}

TEST_F(CppSource, ACodeThatIsNotZeroIsAFailedLaunch) {
  const gemm::Shape shape{.m = 3, .n = 4, .k = 5, .layout = "tt"};
  const auto made = kernel(kComment, "int mine" + std::string(kParameters) + " { return 42; }");
  ASSERT_TRUE(made) << made.error().message;
  auto bound = BoundKernel::make(*made, *gemm::problem(shape), 1, context_);
  ASSERT_TRUE(bound) << bound.error().message;
  const auto launched = bound->launch();
  ASSERT_FALSE(launched);
  EXPECT_THAT(launched.error().message, HasSubstr("42"));
}

TEST_F(CppSource, ASizeThatDoesNotFitIsNotCutOff) {
  const gemm::Shape shape{.m = 3, .n = 4, .k = 300, .layout = "tt"};
  const auto made = kernel(
      kComment, "void mine(const float*, const float*, float*, char m, char n, signed char k) {}",
      shape);
  ASSERT_TRUE(made) << made.error().message;
  auto bound = BoundKernel::make(*made, *gemm::problem(shape), 1, context_);
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_FALSE(bound->launch());
}

TEST_F(CppSource, FastMathDoesNotChangeTheProcess) {
  const std::string comment =
      "{entry: mine, dtype: f32, layout: tt, args: [a, b, out, m, n, k], flags: [-ffast-math]}";
  const gemm::Shape shape{.m = 3, .n = 4, .k = 5, .layout = "tt"};
  const auto made = kernel(comment, fills_with("1"));
  const auto built = compile(comment, fills_with("1"));
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ(first_output(*made, *built, shape), 1);
  volatile float small = FLT_MIN;
  EXPECT_GT(small / 2, 0.0f) << "subnormal numbers are rounded to zero";
}

TEST_F(CppSource, TheUsersCodeRunsFromTheCache) {
  const gemm::Shape shape{.m = 3, .n = 4, .k = 5, .layout = "tt"};
  const auto made = kernel(kComment, fills_with("1"));
  auto bound = BoundKernel::make(*made, *gemm::problem(shape), 1, context_);
  ASSERT_TRUE(bound) << bound.error().message;
  const auto step = std::get<HostStep>(bound->plan().steps().front());
  const auto file = library_of(reinterpret_cast<const void*>(step.function));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(*file, std::filesystem::canonical(bound->artifact().file).string());
  EXPECT_THAT(*file, HasSubstr("/cache/"));
  const Json& flags = bound->artifact().facts["flags"]["compile"];
  EXPECT_THAT(flags.dump(), HasSubstr("-march=native"));
  EXPECT_THAT(bound->artifact().facts["compiler_version"].get<std::string>(), Not(IsEmpty()));
}

TEST_F(CppSource, AnotherTargetGetsItsFlags) {
  const auto flags = default_flags(*Target::parse("x86_64+avx2+fma+avx512_bf16"));
  EXPECT_THAT(flags, ElementsAre("-std=c++20", "-O3", "-mavx2", "-mavx512bf16", "-mfma"));
}

TEST_F(CppSource, EntriesThatCannotBeBuiltAreKnownWhenTheyAreBrought) {
  auto entries = input::read_kernels(
      write(*folder_, "my.cc", std::string("// assay: ") + kComment + "\n" + fills_with("1")),
      itself());
  ASSERT_TRUE(entries);
  KernelEntry gone = entries->front();
  gone.source = folder_->file("gone.cc");
  EXPECT_THAT(provider_->bring(gone).error().message, HasSubstr("was not read"));
  KernelEntry text = entries->front();
  text.tunables = {{"TYPE", {Value(std::string("float"))}}};
  text.args.push_back("TYPE");
  EXPECT_THAT(provider_->bring(text).error().message, HasSubstr("the tunable 'TYPE' is text"));
  KernelEntry injected = entries->front();
  injected.entry = "f(); system(\"x\"); //";
  EXPECT_THAT(provider_->bring(injected).error().message, HasSubstr("cannot be a function's name"));
}

// By each of the second list a compiler runs code, or reads or writes files, as who called it.
TEST_F(CppSource, FlagsAreThoseThatSayHowCodeIsMade) {
  auto entries = input::read_kernels(
      write(*folder_, "my.cc", std::string("// assay: ") + kComment + "\n" + fills_with("1")),
      itself());
  ASSERT_TRUE(entries);
  const auto with = [&](const std::string& flag) {
    KernelEntry entry = entries->front();
    entry.flags = {"-O3", flag};
    return provider_->bring(entry);
  };
  for (const char* flag : {"-O",
                           "-Ofast",
                           "-march=native",
                           "-mavx512f",
                           "-mprefer-vector-width=512",
                           "-mno-avx",
                           "-DX",
                           "-DX=\"a, b\"",
                           "-UX",
                           "-I/usr/include",
                           "-std=gnu++20",
                           "-g",
                           "-ggdb3",
                           "-Wno-unused",
                           "-Wframe-larger-than=100",
                           "-ffast-math",
                           "-fno-exceptions",
                           "-fvisibility=hidden",
                           "-funroll-loops",
                           "-fno-tree-vectorize",
                           "-falign-loops=32",
                           "-fopenmp",
                           "-pthread",
                           "-lgomp",
                           "-L/usr/lib",
                           "--param=max-unroll-times=8"})
    EXPECT_TRUE(with(flag)) << flag;
  for (const char* flag : {"-B/dir/",
                           "-Wl,-plugin,/x.so",
                           "-Wp,-MD,file",
                           "-Wa,-o,x",
                           "-fopt-info-all=/path",
                           "-fopt-info",
                           "--output=/path",
                           "-o",
                           "-ofile",
                           "-fplugin=/x.so",
                           "-fpass-plugin=/x.so",
                           "-specs=/x",
                           "--specs=/x",
                           "@file",
                           "-include/etc/passwd",
                           "-imacros/etc/passwd",
                           "-wrapper",
                           "-fdump-tree-all",
                           "-ftree-dump=/x",
                           "-fprofile-use=/x",
                           "-fsanitize=address",
                           "-fsanitize-blacklist=/x",
                           "-fuse-ld=/x",
                           "-fdiagnostics-format=json-file",
                           "-c",
                           "-E",
                           "-x",
                           "-xc",
                           "-M",
                           "-MFx",
                           "-save-temps",
                           "-dumpdir",
                           "-gcc-toolchain",
                           "-gsplit-dwarf",
                           "--gcc-toolchain=/x",
                           "-mllvm",
                           "-module-dependency-dir",
                           "-mabi=/x",
                           "-l:../x.so",
                           "-D",
                           "-I",
                           "-L",
                           "-Xlinker",
                           "-T/x",
                           "-rpath",
                           "-shared",
                           "-static",
                           "-stdlib=libc++",
                           "--sysroot=/x",
                           "-Wno-x=/y",
                           "-std=/x",
                           "-ffast-math,/x",
                           "--param=x"}) {
    const auto family = with(flag);
    ASSERT_FALSE(family) << flag;
    EXPECT_EQ(family.error().code, ErrorCode::invalid_input);
    EXPECT_THAT(family.error().message,
                AllOf(HasSubstr(fmt::format("my.cc:1: flags: '{}' is none", flag)),
                      HasSubstr("Allowed are -O*, -m*, -DNAME=VALUE")));
  }
}

TEST_F(CppSource, FunctionsInNamespacesCanBeNamed) {
  auto entries = input::read_kernels(
      write(*folder_, "my.cc",
            std::string("// assay: ") + kComment + "\nnamespace deep::inside { static " +
                fills_with("1").substr(11) + "}\n"),
      itself());
  ASSERT_TRUE(entries) << entries.error().message;
  KernelEntry entry = entries->front();
  entry.entry = "deep::inside::mine";
  const auto family = provider_->bring(entry);
  ASSERT_TRUE(family) << family.error().message;
  Catalog catalog;
  catalog.add("cpp_source", ProviderRole::user, *family);
  const auto found = catalog.get_kernels();
  const auto built = found->kernels.front().compile(
      *gemm::problem({.m = 3, .n = 4, .k = 5, .layout = "tt"}), cpu::host_target(), context_);
  EXPECT_TRUE(built) << built.error().message;
}

// The figures of README.md.
TEST_F(CppSource, DISABLED_CostOfACall) {
  const gemm::Shape shape{.m = 3, .n = 4, .k = 5, .layout = "tt"};
  const auto problem = gemm::problem(shape);
  const std::string code = "#include <immintrin.h>\n#include <vector>\nextern \"C\" void mine" +
                           std::string(kParameters) + " {}\n";
  const auto made = kernel(kComment, code);
  ASSERT_TRUE(made) << made.error().message;
  int64_t start = monotonic_ns();
  auto bound = BoundKernel::make(*made, *problem, 1, context_);
  ASSERT_TRUE(bound) << bound.error().message;
  fmt::print("first build {}\n", format_duration((monotonic_ns() - start) * 1e-9));
  start = monotonic_ns();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(made->compile(*problem, cpu::host_target(), context_));
  fmt::print("found in the cache {}\n", format_duration((monotonic_ns() - start) * 1e-11));
  start = monotonic_ns();
  for (int i = 0; i < 10'000'000; ++i) static_cast<void>(bound->launch());
  fmt::print("launch of an empty function {}\n", format_duration((monotonic_ns() - start) * 1e-16));
}

}  // namespace
}  // namespace assay::cpp_source

ASSAY_PROVIDER_CONFORMANCE(cpp_source, {.make = assay::cpp_source::make_provider,
                                        .bring = assay::cpp_source::bring_sources});
