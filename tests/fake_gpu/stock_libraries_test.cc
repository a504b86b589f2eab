// Commands against the stock pool of a GPU, where driver and libraries are those of
// testing/fake_cuda and testing/fake_cublas.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/assay_program.h"
#include "testing/fake_gpu.h"

namespace assay {
namespace {

using testing::AssayProgram;
using testing::fake_library;
using testing::Finished;
using ::testing::HasSubstr;

constexpr const char* kPlain = "algo66_t20_s4_k1_r0_w0_c0_i0_x0";
constexpr const char* kSplit = "algo66_t20_s4_k3_r2_w1_c0_i0_x0";
constexpr const char* kSlow = "algo6_t15_s8_k1_r0_w0_c2_i0_x0";
constexpr const char* kWrong = "algo31_t18_s4_k1_r0_w0_c0_i0_x0";
constexpr const char* kFailing = "algo40_t18_s4_k1_r0_w0_c0_i0_x0";

class StockLibrariesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path folder = assay_.file("driver");
    std::filesystem::create_directory(folder);
    std::filesystem::create_symlink(fake_library("fake_cuda"), folder / "libcuda.so.1");
    write("gemm.ptx",
          "// assay: {entry: gemm, dtype: f32, layout: tn, args: [a, b, out, m, n, k],\n"
          "//         launch: {grid: [1], block: [32]}}\n"
          ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry gemm() { ret; }\n");
  }

  void write(const std::string& name, const std::string& text) const {
    const Status written = write_file_atomic(assay_.file(name), text);
    ASSERT_TRUE(written) << written.error().message;
  }

  // What the driver and the libraries are told, and where each library is.
  struct Machine {
    std::string driver, libraries;
    std::string cublas = fake_library("fake_cublas"), cublaslt = fake_library("fake_cublaslt");
  };

  Finished run(const Machine& machine, std::vector<std::string> words) const {
    write("driver/fake_cuda.txt", "ns=assay_produce:20 ns=assay_consume:20 " + machine.driver);
    write("driver/fake_cublas.txt", machine.libraries);
    words.insert(words.end(), {"--device", "gpu", "--library", "cublas=" + machine.cublas,
                               "--library", "cublaslt=" + machine.cublaslt});
    return assay_.run(std::move(words), {"env", "LD_LIBRARY_PATH=" + assay_.file("driver")});
  }
  Finished race(const Machine& machine, std::vector<std::string> words) const {
    words.insert(words.end(), {"--shape", "m=3,n=5,k=7,dtype=f32,layout=tn", "--budget", "1s",
                               "--processes", "3", "--timeout", "5s", "--output-dir", "run"});
    return run(machine, std::move(words));
  }

  ProblemRecord problem() const {
    auto record = load_record(assay_.file("run/record.json"));
    EXPECT_TRUE(record) << record.error().message;
    if (!record || record->problems.size() != 1) return {};
    return std::move(record->problems.front());
  }
  // How the kernel of that name ended, with what it said.
  static std::pair<std::string, std::string> ending(const ProblemRecord& problem,
                                                    std::string_view name) {
    const KernelOutcome* kernel = testing::find_kernel(problem, name);
    if (kernel == nullptr) return {"not listed", ""};
    return {std::string(ending_name(kernel->ending)), ending_sentence(kernel->ending)};
  }

  AssayProgram assay_;
};

TEST_F(StockLibrariesTest, AWinnerWhoseCodeIsTheLibrarysSaysHowToHaveIt) {
  ASSERT_EQ(race({}, {"sweep", "--provider", "cublaslt", "cublas", "--filter",
                      fmt::format("name == '{}'", kSlow)})
                .code(),
            0);
  const Finished exported = run({}, {"export", "--winner", "gemm_m3_n5_k7_f32_tn", "--run", "run"});
  EXPECT_EQ(exported.code(), 4) << exported.out;
  EXPECT_THAT(testing::unbroken(exported.err),
              HasSubstr("Call cublasLtMatmul with cublasLtMatmulAlgoInit and these attributes: "
                        "algo 6, tile 15, stages 8, split_k 1,"));
  EXPECT_THAT(testing::unbroken(exported.err), HasSubstr("ship it in a tuned table"));
}

TEST_F(StockLibrariesTest, OneKernelIsRacedAgainstEveryAlgorithmAndEachEndsAsItShould) {
  const Finished finished =
      race({.driver = "ns=gemm:100 ns=cublaslt_plain:200 ns=cublaslt_split:300 "
                      "ns=cublaslt_slow:2000 ns=cublas_gemm:400",
            .libraries = "algorithms=plain,split,slow,wrong,failing,refused,twin"},
           {"race", "gemm.ptx"});
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("faster than"));
  const ProblemRecord raced = problem();
  for (const char* name : {"gemm", "default", kSplit, kSlow, "gemm_ex"})
    EXPECT_EQ(ending(raced, name).first, "timed") << name << ending(raced, name).second;
  EXPECT_EQ(ending(raced, kWrong).first, "mismatch");
  EXPECT_EQ(ending(raced, kFailing).first, "mismatch");
  EXPECT_THAT(ending(raced, kFailing).second, HasSubstr("the kernel reported code 13"));
  EXPECT_EQ(ending(raced, kPlain).first, "not listed") << "it is the default";
  ASSERT_NE(raced.winner(), nullptr) << raced.no_winner;
  EXPECT_EQ(raced.winner()->name, "gemm");
  const KernelOutcome* slow = testing::find_kernel(raced, kSlow);
  ASSERT_TRUE(slow != nullptr && slow->race);
  EXPECT_GT(slow->race->dropped_after, 0);
}

TEST_F(StockLibrariesTest, TheWholeSpaceIsListedWhereASettingSaysSo) {
  const auto kernels = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {
        "kernels", "--provider", "cublaslt", "--shape", "m=8,n=12,k=16,dtype=f32", "--why"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--device", "gpu"});
    write("driver/fake_cuda.txt", "");
    write("driver/fake_cublas.txt", "");
    words.insert(words.end(), {"--library", "cublaslt=" + fake_library("fake_cublaslt")});
    return assay_.run(std::move(words), {"env", "LD_LIBRARY_PATH=" + assay_.file("driver")});
  };
  const Finished few = kernels({}), all = kernels({"--setting", "cublaslt.space=all"});
  ASSERT_EQ(few.code(), 0) << few.err;
  ASSERT_EQ(all.code(), 0) << all.err;
  EXPECT_THAT(few.out, HasSubstr("4 kernels, 0 refused"));
  EXPECT_THAT(all.out, HasSubstr("19 kernels, 445 refused"));
  EXPECT_THAT(all.out, HasSubstr("algo66_t24_s8_k4_r2_w0_c0_i0_x0"));
  EXPECT_THAT(all.out, HasSubstr("not supported"));
  write("space.yaml", "cublaslt: {space: all:5}\n");
  EXPECT_THAT(kernels({"--config", assay_.file("space.yaml")}).out, HasSubstr("9 kernels"));
  for (const auto& [setting, sentence] :
       {std::pair<const char*, const char*>{"cublaslt.space=many", "'many' is none of heuristic"},
        {"cublaslt.spaec=all", "did you mean 'space'"},
        {"cublas.space=all", "is not PROVIDER.NAME=VALUE"},
        {"cublaslt", "is not PROVIDER.NAME=VALUE"}}) {
    const Finished refused = kernels({"--setting", setting});
    EXPECT_EQ(refused.code(), 2) << setting;
    EXPECT_THAT(refused.err, HasSubstr(sentence));
  }
}

// The GPU has 1 GiB: 19 kernels with 128 MiB of workspaces each would not fit.
TEST_F(StockLibrariesTest, TheWholeSpaceRacesBesideTheDefaultThatIsTheBest) {
  const Finished finished =
      race({.driver = "ns=gemm:500 ns=cublaslt_plain:200 ns=cublas_gemm:2000", .libraries = ""},
           {"race", "gemm.ptx", "--setting", "cublaslt.space=all", "--shape",
            "m=8,n=12,k=16,dtype=f32"});
  EXPECT_EQ(finished.code(), 0) << finished.out << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("slower than the best stock kernel: 0.4"));
  EXPECT_EQ(finished.out.find("stock_crowded_out"), std::string::npos) << finished.out;
}

TEST_F(StockLibrariesTest, AmongTheStockTheHeuristicsFirstNeedNotBeTheFastest) {
  const Finished finished = race({.driver = "ns=cublaslt_plain:800 ns=cublaslt_split:200 "
                                            "ns=cublaslt_slow:900 ns=cublas_gemm:700",
                                  .libraries = "algorithms=plain,slow,split"},
                                 {"sweep", "--provider", "cublaslt", "cublas"});
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  const ProblemRecord swept = problem();
  ASSERT_NE(swept.winner(), nullptr) << swept.no_winner;
  EXPECT_EQ(swept.winner()->name, kSplit);
  EXPECT_EQ(swept.winner()->provider, "cublaslt");
  for (const char* name : {"default", kSlow, "gemm_ex"})
    EXPECT_EQ(ending(swept, name).first, "timed") << name;
}

TEST_F(StockLibrariesTest, ADefaultThatIsWrongIsNoBaseline) {
  const Finished finished = race({.driver = "ns=gemm:100 ns=cublaslt_plain:400 ns=cublas_gemm:300",
                                  .libraries = "algorithms=wrong,plain"},
                                 {"race", "gemm.ptx"});
  EXPECT_EQ(finished.code(), 0) << finished.out << finished.err;
  const ProblemRecord raced = problem();
  EXPECT_EQ(ending(raced, "default").first, "mismatch");
  EXPECT_EQ(ending(raced, kPlain).first, "timed");
  ASSERT_NE(raced.winner(), nullptr) << raced.no_winner;
  EXPECT_EQ(raced.winner()->name, "gemm");
}

TEST_F(StockLibrariesTest, AnAlgorithmThatHangsEndsAlone) {
  const Finished finished = race(
      {.driver = "ns=cublaslt_plain:200 hang=cublaslt_slow", .libraries = "algorithms=plain,slow"},
      {"sweep", "--provider", "cublaslt", "cublas"});
  EXPECT_EQ(finished.code(), 0) << finished.out << finished.err;
  const ProblemRecord swept = problem();
  EXPECT_EQ(ending(swept, "default").first, "timed");
  EXPECT_EQ(ending(swept, kSlow).first, "timeout");
}

// Then what programs get that call the other one is what the kernel is held against.
TEST_F(StockLibrariesTest, ALibraryWithoutAHandleRefusesAndTheOtherOneIsRaced) {
  const Finished finished =
      race({.driver = "ns=gemm:100 ns=cublas_gemm:400", .libraries = "fail=cublasLtCreate:3:1"},
           {"race", "gemm.ptx"});
  EXPECT_EQ(finished.code(), 0) << finished.out << finished.err;
  EXPECT_THAT(finished.out, ::testing::ContainsRegex("stock +cublas/gemm_ex +0\\.400 "));
  const ProblemRecord raced = problem();
  EXPECT_EQ(ending(raced, "default").first, "not listed");
  EXPECT_EQ(ending(raced, "gemm_ex").first, "timed");
  ASSERT_TRUE(raced.refusals.contains("other"));
  EXPECT_THAT(raced.refusals.at("other").example, HasSubstr("the resource allocation failed"));
}

TEST_F(StockLibrariesTest, DoctorAndProvidersSayWhichLibraryWasTakenAndWhyNot) {
  for (const char* command : {"doctor", "providers"}) {
    const Finished finished =
        run({.libraries = "version=120803", .cublas = fake_library("fake_cublas_old")},
            {command, "--json"});
    ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
    const Json said = Json::parse(finished.out);
    for (const Json& provider : said["providers"]) {
      if (provider["name"] == "cublaslt") {
        EXPECT_EQ(provider["available"], true) << provider.dump();
        EXPECT_EQ(provider["version"], "12.8.3");
        EXPECT_EQ(provider["path"], fake_library("fake_cublaslt"));
      }
      if (provider["name"] == "cublas") {
        EXPECT_EQ(provider["available"], false);
        EXPECT_THAT(provider["reason"].get<std::string>(),
                    HasSubstr("has no symbol 'cublasGetStatusString'"));
      }
    }
    const Finished text = run({.cublaslt = "/no/such/libcublasLt.so.13"}, {command});
    ASSERT_EQ(text.code(), 0) << text.out << text.err;
    EXPECT_THAT(text.out, HasSubstr("/no/such/libcublasLt.so.13"));
    EXPECT_THAT(text.out, HasSubstr("libcublas-13-0"));
  }
}

TEST_F(StockLibrariesTest, ARaceWithoutTheLibrariesSaysSoAndHasNoVerdict) {
  const Finished finished =
      race({.cublas = "/no/such/libcublas.so.13", .cublaslt = "/no/such/libcublasLt.so.13"},
           {"race", "gemm.ptx"});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("none: no stock kernel took part"));
  EXPECT_THAT(finished.out, HasSubstr("/no/such/libcublas.so.13"));
  EXPECT_THAT(finished.out, HasSubstr("libcublas-13-0"));
  const ProblemRecord raced = problem();
  ASSERT_TRUE(raced.refusals.contains("library_missing"));
  // Of the machine's own other providers, some may lack theirs as well.
  EXPECT_GE(raced.refusals.at("library_missing").count, 2);
}

}  // namespace
}  // namespace assay
