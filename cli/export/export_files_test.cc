#include "cli/export/export_files.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/op/gemm/gemm.h"

namespace assay::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ExportFilesTest : public ::testing::Test {
 protected:
  ExportFilesTest() {
    recorded_.name = "mlp.up-m4";
    recorded_.condition = {"cold_weights", "back_to_back", "plain"};
    kernel_.provider = "mine";
    kernel_.name = "gemm";
    made_.code = "namespace { int run_kernel(void* const*) { return 0; } }";
    made_.compile_flags = {"-O3", "-DTEXT=\"a b\"", "-DPRICE=$5#"};
  }

  std::string file(const std::string& path, const gemm::Shape& shape = kShape) {
    const auto problem = gemm::problem(shape);
    if (!problem) return problem.error().message;
    const auto files = export_files(*problem, made_, {run_, recorded_, kernel_, 12.5, "r.json"});
    if (!files) return files.error().message;
    const auto found = std::ranges::find(*files, path, &ExportFile::path);
    return found == files->end() ? "no file " + path : found->text;
  }

  static inline const gemm::Shape kShape{
      .name = "mlp.up-m4", .m = 4, .n = 8, .k = 16, .constant = {"b"}};
  RunRecord run_;
  ProblemRecord recorded_;
  KernelOutcome kernel_;
  KernelExport made_;
};

TEST(CName, IsAnIdentifier) {
  EXPECT_EQ(c_name("gemm_m4_n8"), "gemm_m4_n8");
  EXPECT_EQ(c_name("mlp.up-m4"), "mlp_up_m4");
  EXPECT_EQ(c_name("4x4"), "shape_4x4");
  EXPECT_EQ(c_name("problem"), "shape_problem");
}

TEST_F(ExportFilesTest, AHeaderHasWhatTheKernelTakesAndNoMore) {
  const std::string plain = file("mlp_up_m4.h");
  EXPECT_THAT(plain,
              HasSubstr("int mlp_up_m4_launch(const float* a, const float* b, float* out);"));
  EXPECT_THAT(plain, Not(HasSubstr("prepare")));
  made_.workspace_bytes = 640;
  made_.prepared_bytes = 512;
  const std::string prepared = file("mlp_up_m4.h");
  EXPECT_THAT(prepared, HasSubstr("#define MLP_UP_M4_WORKSPACE_BYTES 640"));
  EXPECT_THAT(prepared, HasSubstr("#define MLP_UP_M4_PREPARED_BYTES 512"));
  EXPECT_THAT(prepared, HasSubstr("int mlp_up_m4_prepare(const float* b, void* prepared);"));
  EXPECT_THAT(prepared, HasSubstr("const float* b, float* out, void* workspace, const void* "
                                  "prepared);"));
}

TEST_F(ExportFilesTest, TheCallerIsToldTypesStridesAndWhatIsCold) {
  const std::string text = file("problem.h", {.name = "x",
                                              .m = 4,
                                              .n = 8,
                                              .k = 16,
                                              .dtype = DType::bf16,
                                              .layout = "tn",
                                              .constant = {"b"},
                                              .alpha = 2,
                                              .beta = 0.5});
  EXPECT_THAT(text, HasSubstr("{\"a\", Type::bf16, 3, {1, 4, 16}, {64, 16, 1}, 128, false, false, "
                              "false, false, 0}"));
  EXPECT_THAT(text, HasSubstr("{\"b\", Type::bf16, 3, {1, 16, 8}, {128, 1, 16}, 256, true, true, "
                              "false, false, 0}"));
  EXPECT_THAT(text, HasSubstr("{\"c\", Type::bf16, "));
  EXPECT_THAT(text, HasSubstr("kVaried = 0, kVariedBytes = 128;"));
  EXPECT_THAT(text, HasSubstr("kRecordedUs = 12.5"));
}

TEST_F(ExportFilesTest, TheReferenceHasTheStepsInTheirOrder) {
  const std::string text = file("reference.h", {.name = "x",
                                                .m = 4,
                                                .n = 8,
                                                .k = 16,
                                                .alpha = 2,
                                                .epilogue = "bias+clamp:-1:6+swiglu_interleaved",
                                                .epilogue_dtypes = {{"bias", DType::f32}}});
  EXPECT_THAT(text, HasSubstr("kAlpha = 2L, kBeta = 0L"));
  EXPECT_THAT(text, HasSubstr("{Step::add, {3, 0, 0, 1}, 0, 0, assay::gemm::Function::silu},  // "
                              "bias\n    {Step::clamp, {0, 0, 0, 0}, -1, 6"));
  EXPECT_THAT(text, HasSubstr("kGate = 2;"));
  EXPECT_THAT(text, HasSubstr("kInterleaved = true;"));
}

TEST_F(ExportFilesTest, ANameFromARecordCannotLeaveItsComment) {
  kernel_.name = "x */ int evil; /* \n\"";
  for (const char* path : {"mlp_up_m4.h", "launch.cc", "problem.h"}) {
    EXPECT_THAT(file(path), Not(HasSubstr("evil; "))) << path;
    EXPECT_THAT(file(path), HasSubstr("mine/x _/ int evil_ /_")) << path;
  }
}

TEST_F(ExportFilesTest, FlagsAreWordsOfAShellInMake) {
  EXPECT_THAT(file("Makefile"), HasSubstr(R"(FLAGS = -O3 '-DTEXT="a b"' '-DPRICE=$$5\#')"));
}

}  // namespace
}  // namespace assay::cli
