// Objects with TVM-FFI entry points and the program: what one says and does is a sentence, an
// ending or a verdict, on this machine's cores and on a GPU (testing/fake_cuda).

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "testing/assay_program.h"
#include "testing/build_plugin.h"

namespace assay {
namespace {

using ::testing::AllOf;
using testing::AssayProgram;
using testing::Finished;
using ::testing::HasSubstr;
using ::testing::StartsWith;

namespace fs = std::filesystem;

const std::string kShape = "m=24,n=40,k=56,dtype=f32,layout=tt";

fs::path tests_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

class TvmFfiProgram : public ::testing::Test {
 protected:
  void SetUp() override { build(); }

  void build(const std::vector<std::string>& macros = {}) {
    const auto built = testing::build_plugin(AssayProgram::source("tests/tvm_ffi/object.cc"),
                                             program_.folder(), macros);
    ASSERT_TRUE(built) << built.error().message;
  }

  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file_atomic(program_.file(name), text));
  }

  // A manifest of these functions, each an entry of its own name.
  std::string manifest(const std::vector<std::string>& functions, const std::string& more = "",
                       const std::string& source = "object.so") const {
    std::string text;
    for (const std::string& function : functions)
      text += fmt::format(
          "- {{provider: tvm_ffi, source: {}, entry: {}, dtype: f32, layout: tt, "
          "args: [a, b, out]{}}}\n",
          source, function, more);
    write("m.yaml", text);
    return "m.yaml";
  }

  static std::string library(const std::string& name = "libfake_tvm_ffi.so") {
    return "tvm_ffi.library=" + (tests_folder() / name).string();
  }

  Finished sweep(const std::string& file, const std::string& setting = library()) const {
    return program_.run({"sweep", "--kernels", file, "--provider", "tvm_ffi,openblas", "--setting",
                         setting, "--shape", kShape, "--budget", "1s", "--processes", "2",
                         "--threads", "1", "--output-dir", "out", "--fresh"});
  }

  RunRecord record() const {
    auto record = load_record(program_.file("out/record.json"));
    EXPECT_TRUE(record) << record.error().message;
    return record ? *record : RunRecord{};
  }

  static std::string ending(const RunRecord& run, const std::string& kernel) {
    const KernelOutcome* found =
        run.problems.empty() ? nullptr : testing::find_kernel(run.problems.front(), kernel);
    if (found == nullptr) return "there is none";
    return fmt::format("{}: {}", ending_name(found->ending), ending_sentence(found->ending));
  }

  AssayProgram program_;
};

TEST_F(TvmFfiProgram, EachEndsAsItDeserves) {
  const Finished finished = sweep(manifest({"gemm", "wrong", "raises", "raises_binary", "silent",
                                            "crashes", "throws", "returns_object"}));
  EXPECT_EQ(finished.code(), 0) << finished.out << finished.err;
  const RunRecord run = record();
  EXPECT_THAT(ending(run, "gemm"), StartsWith("timed"));
  EXPECT_THAT(ending(run, "returns_object"), StartsWith("timed"));
  EXPECT_THAT(ending(run, "wrong"), AllOf(StartsWith("mismatch"), HasSubstr("inputs: out[")));
  EXPECT_THAT(ending(run, "raises"),
              AllOf(StartsWith("mismatch"), HasSubstr("ValueError: rows do not fit: xxx")));
  EXPECT_THAT(ending(run, "raises_binary"), HasSubstr(R"(Kind: zero \x00 escape \x1b[31m)"));
  EXPECT_THAT(ending(run, "silent"), HasSubstr("code -1: it raised no error that would say why"));
  EXPECT_THAT(ending(run, "crashes"), AllOf(StartsWith("crash"), HasSubstr("SIGSEGV")));
  EXPECT_THAT(ending(run, "throws"), AllOf(StartsWith("crash"), HasSubstr("SIGABRT")));
  EXPECT_NE(run.trust, TrustGrade::device_code);
  EXPECT_THAT(run.trust_reason, HasSubstr("native code"));
  const KernelOutcome& kernel = *testing::find_kernel(run.problems.front(), "gemm");
  EXPECT_EQ(kernel.artifact_facts.json()["sha256"], *sha256_of_file(program_.file("object.so")));
}

TEST_F(TvmFfiProgram, WhatCannotBeLoadedIsAnEndingOfItsOwn) {
  build({"CASE_EXITS"});
  build({"CASE_UNKNOWN_SYMBOL"});
  write("m.yaml",
        "- {name: exits, provider: tvm_ffi, source: case_exits.so, entry: gemm, dtype: f32, "
        "layout: tt, args: [a, b, out]}\n"
        "- {name: lacks, provider: tvm_ffi, source: case_unknown_symbol.so, entry: unknown, dtype: "
        "f32, layout: tt, args: [a, b, out]}\n");
  // Nothing of it runs where it is listed.
  EXPECT_EQ(program_.run({"kernels", "--kernels", "m.yaml"}).code(), 0);
  const Finished finished = sweep("m.yaml");
  const RunRecord run = record();
  EXPECT_THAT(ending(run, "exits"), AllOf(StartsWith("crash"), HasSubstr("exit code 0")))
      << finished.err;
  EXPECT_THAT(ending(run, "lacks"), AllOf(StartsWith("build_failure"),
                                          HasSubstr("m.yaml:2: it cannot be loaded: undefined "
                                                    "symbol: TVMFFINobodyHasThis")));
}

TEST_F(TvmFfiProgram, WithoutAFittingLibraryItIsRefused) {
  const std::string file = manifest({"gemm"});
  const std::pair<std::string, const char*> cases[] = {
      {library("libfake_tvm_ffi_new.so"), "is version 0.2.0 of TVM-FFI"},
      {"tvm_ffi.library=/nowhere/libtvm_ffi.so", "install apache-tvm-ffi (PyPI)"}};
  for (const auto& [setting, part] : cases) {
    const Finished finished = sweep(file, setting);
    EXPECT_THAT(ending(record(), "gemm"), AllOf(StartsWith("refusal"), HasSubstr(part)))
        << finished.err;
  }
}

TEST_F(TvmFfiProgram, WhatIsWrongWithAManifestIsASentenceAndExit2) {
  const auto error = [&](const std::string& file) {
    const Finished finished = program_.run({"kernels", "--kernels", file});
    EXPECT_EQ(finished.code(), 2) << finished.out;
    return testing::unbroken(finished.err);
  };
  EXPECT_THAT(
      error(manifest({"gem"})),
      HasSubstr("m.yaml:1: entry: object.so exports no __tvm_ffi_gem; did you mean 'gemm'?"));
  write("text.so", "not an object\n");
  EXPECT_THAT(error(manifest({"gemm"}, "", "text.so")), HasSubstr("it is no shared object (ELF)"));
}

// Whoever asks for other providers still brings files.
TEST_F(TvmFfiProgram, ItsLibraryCountsWhateverProvidersAreAsked) {
  manifest({"gemm"});
  const std::string library = (tests_folder() / "libfake_tvm_ffi.so").string();
  write("assay.yaml", fmt::format("tvm_ffi: {{library: {}}}\n", library));
  const std::vector<std::string> ways[] = {
      {"--config", "assay.yaml", "--provider", "openblas"},
      {"--setting", "tvm_ffi.library=" + library, "--provider", "openblas"},
      {"--setting", "tvm_ffi.library=" + library, "--against", "openblas"},
      {"--library", "tvm_ffi=" + library, "--against", "openblas"}};
  for (const std::vector<std::string>& way : ways) {
    SCOPED_TRACE(way[0] + " " + way[2]);
    fs::remove_all(program_.file("out"));
    std::vector<std::string> words = {"race", "m.yaml",      "--shape", kShape,         "--budget",
                                      "1s",   "--processes", "2",       "--output-dir", "out"};
    words.insert(words.end(), way.begin(), way.end());
    const Finished finished = program_.run(words);
    EXPECT_EQ(finished.code(), 0) << finished.out << finished.err;
    EXPECT_THAT(ending(record(), "gemm"), StartsWith("timed"));
  }
}

class TvmFfiOnAGpu : public TvmFfiProgram {
 protected:
  void SetUp() override {
    TvmFfiProgram::SetUp();
    fs::create_directory(program_.file("driver"));
    fs::create_symlink(tests_folder() / "libfake_cuda.so", program_.file("driver/libcuda.so.1"));
    fs::create_symlink(tests_folder() / "libfake_tvm_ffi.so",
                       program_.file("driver/libtvm_ffi.so"));
  }

  Finished race(const std::vector<std::string>& words) const {
    write("driver/fake_cuda.txt",
          "ns=assay_produce:20 ns=assay_consume:20 ns=tvm_gemm:100 ns=tvm_wrong:100");
    std::vector<std::string> all = {"race"};
    all.insert(all.end(), words.begin(), words.end());
    for (const char* word : {"--shape", "m=3,n=5,k=7,dtype=f32,layout=tt", "--budget", "1s",
                             "--processes", "3", "--timeout", "5s", "--output-dir", "out"})
      all.emplace_back(word);
    all.insert(all.end(), {"--setting", library()});
    return program_.run(std::move(all), {"env", "LD_LIBRARY_PATH=" + program_.file("driver")});
  }
};

TEST_F(TvmFfiOnAGpu, ItLaunchesOnTheWorkersStreamAndIsTrustedAsNativeCode) {
  const Finished finished = race({manifest({"gemm", "wrong"}, ", targets: [sm_90a, sm_80]")});
  EXPECT_EQ(finished.code(), 0) << finished.out << finished.err;
  const RunRecord run = record();
  // The GPU was not named: the entries' targets say where they run.
  EXPECT_EQ(run.environment.device.name, "Fake H200");
  EXPECT_THAT(ending(run, "gemm"), StartsWith("timed"));
  EXPECT_THAT(ending(run, "wrong"), AllOf(StartsWith("mismatch"), HasSubstr("out[")));
  // Host code of a user's runs beside the timer.
  EXPECT_NE(run.trust, TrustGrade::device_code) << run.trust_reason;
  EXPECT_THAT(run.trust_reason, HasSubstr("native code"));
}

TEST_F(TvmFfiOnAGpu, OneForCoresIsRefusedThere) {
  const Finished finished = race({manifest({"gemm"}), "--device", "gpu"});
  EXPECT_THAT(testing::unbroken(finished.out + finished.err),
              HasSubstr("it says nothing of GPUs; one that takes a GPU's tensors says so"));
}

TEST_F(TvmFfiOnAGpu, OneForAGpuIsListedForItWithoutOne) {
  const std::string file = manifest({"gemm"}, ", targets: [sm_90a]");
  const Finished compiled = program_.run({"race", file, "--shape", kShape, "--target", "sm_90a"});
  EXPECT_EQ(compiled.code(), 0) << compiled.out << compiled.err;
  EXPECT_THAT(compiled.out, HasSubstr("gemm  taken as it is"));
}

// The library of the package apache-tvm-ffi, where it is installed (or LD_LIBRARY_PATH leads to
// it).
TEST_F(TvmFfiProgram, TheRealLibraryServesTheSameObjects) {
  const char* path = std::getenv("LD_LIBRARY_PATH");
  std::vector<std::string> wrapper;
  if (path != nullptr) wrapper = {"env", fmt::format("LD_LIBRARY_PATH={}", path)};
  const Finished listed = program_.run({"providers", "--json"}, wrapper);
  const auto providers = parse_json(listed.out, "providers");
  ASSERT_TRUE(providers) << providers.error().message;
  for (const Json& provider : (*providers)["providers"])
    if (provider["name"] == "tvm_ffi" && !provider["available"].get<bool>())
      GTEST_SKIP() << provider["reason"].get<std::string>();
  const Finished finished = program_.run(
      {"sweep", "--kernels", manifest({"gemm", "wrong", "raises", "raises_binary", "silent"}),
       "--provider", "tvm_ffi,openblas", "--shape", kShape, "--budget", "1s", "--processes", "2",
       "--output-dir", "out"},
      wrapper);
  const RunRecord run = record();
  EXPECT_THAT(ending(run, "gemm"), StartsWith("timed")) << finished.err;
  EXPECT_THAT(ending(run, "wrong"), HasSubstr("exact inputs: out["));
  EXPECT_THAT(ending(run, "raises"), HasSubstr("ValueError: rows do not fit"));
  EXPECT_THAT(ending(run, "raises_binary"), HasSubstr(R"(Kind: zero \x00 escape \x1b[31m)"));
  EXPECT_THAT(ending(run, "silent"), HasSubstr("it raised no error"));
}

}  // namespace
}  // namespace assay
