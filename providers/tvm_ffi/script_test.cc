// Scripts that write the object: a Python whose packages are a folder made here runs them.

#include <cstdlib>
#include <filesystem>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/subprocess.h"
#include "assay/input/manifest.h"
#include "assay/op/gemm/gemm.h"
#include "object_file.h"
#include "providers/tvm_ffi/info.h"
#include "testing/bound_kernel.h"
#include "testing/build_plugin.h"

namespace assay::tvm_ffi {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::BoundKernel;
using ::testing::HasSubstr;

class TvmFfiScript : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryDirectory::create("/tmp", "assay-tvm-script-");
    ASSERT_TRUE(made) << made.error().message;
    folder_.emplace(std::move(*made));
    const auto python = real_python();
    if (python.empty()) GTEST_SKIP() << "there is no python3";
    fs::create_directories(folder_->file("env/bin"));
    fs::create_symlink(python, folder_->file("env/bin/python3"));
    packages_ = fs::path(folder_->file("env/lib")) / python.filename() / "site-packages";
    fs::create_directories(packages_ / "tvm_ffi");
    const char* root = std::getenv("ASSAY_SOURCE_DIR");
    const auto built = testing::build_plugin(
        fmt::format("{}/tests/tvm_ffi/object.cc", root == nullptr ? "." : root), folder_->path());
    ASSERT_TRUE(built) << built.error().message;
    object_ = *built;
    cache_.emplace(folder_->file("cache"), Log{});
  }

  // "/usr/bin/python3.11": behind all links, so that its name says its version.
  static fs::path real_python() {
    std::error_code failed;
    for (const char* program : {"/usr/bin/python3", "/usr/local/bin/python3"}) {
      const fs::path whole = fs::canonical(program, failed);
      if (!failed) return whole;
    }
    return {};
  }

  ProviderSettings settings() const {
    const auto beside = fs::read_symlink("/proc/self/exe").parent_path();
    return {{"library", (beside / "libfake_tvm_ffi.so").string()},
            {"pythons", folder_->file("env/bin/python3")}};
  }

  std::string write_script(const std::string& text) const {
    const std::string file = folder_->file("make.py");
    EXPECT_TRUE(write_file_atomic(file, text));
    return file;
  }

  // A script that writes the object where --output says, and leaves a line in `runs` each time.
  std::string good_script() const {
    return fmt::format(
        "import sys\n"
        "output = sys.argv[sys.argv.index('--output') + 1]\n"
        "assert sys.argv[sys.argv.index('--arch') + 1] == 'x86_64'\n"
        "open('{0}', 'a').write('ran\\n')\n"
        "open(output, 'wb').write(open('{1}', 'rb').read())\n",
        folder_->file("runs"), object_);
  }

  Result<BoundKernel> bind(const std::string& script, const std::string& entry = "gemm",
                           RunGuest run_guest = &run_here) {
    const std::string file = write_script(script);
    ASSAY_TRY(const auto entries,
              input::parse_manifest(
                  fmt::format("- {{name: it, provider: tvm_ffi, source: {}, entry: {}, dtype: f32, "
                              "layout: tt, args: [a, b, out, m, n, k]}}\n",
                              file, entry),
                  folder_->file("m.yaml"), [](const KernelEntry&) { return LaunchForm::itself; }));
    ASSAY_TRY(auto family, make_provider()->bring(entries.front(), settings()));
    ASSAY_TRY(const Problem problem,
              gemm::problem({.m = 5, .n = 7, .k = 9, .dtype = DType::f32, .layout = "tt"}));
    Catalog catalog;
    catalog.add("tvm_ffi", ProviderRole::user, std::move(family));
    ASSAY_TRY(const auto found, catalog.get_kernels(problem, {.target = cpu::host_target()}));
    if (found.kernels.empty())
      return fail(ErrorCode::unsupported, "{}", found.refusals.to_json().dump());
    return BoundKernel::make(found.kernels.front(), problem, 1,
                             {.cache = &*cache_, .run_guest = std::move(run_guest)});
  }

  std::string why_not(const std::string& script, const std::string& entry = "gemm") {
    const auto bound = bind(script, entry);
    if (bound) return "no error";
    EXPECT_EQ(bound.error().code, ErrorCode::build_failed) << bound.error().message;
    return bound.error().message;
  }

  std::optional<TemporaryDirectory> folder_;
  std::optional<ArtifactCache> cache_;
  fs::path packages_;
  std::string object_;
};

TEST_F(TvmFfiScript, WhatItWritesIsTheKernel) {
  auto bound = bind(good_script());
  ASSERT_TRUE(bound) << bound.error().message;
  ASSERT_TRUE(bound->launch());
  EXPECT_TRUE(bound->check().right);
}

TEST_F(TvmFfiScript, ItRunsAgainWhenItOrAPackageChanges) {
  const auto runs = [&] { return read_file(folder_->file("runs"), 1000).value_or("").size() / 4; };
  ASSERT_TRUE(bind(good_script()));
  ASSERT_TRUE(bind(good_script()));
  EXPECT_EQ(runs(), 1U);
  ASSERT_TRUE(bind(good_script() + "# changed\n"));
  EXPECT_EQ(runs(), 2U);
  fs::create_directory(packages_ / "toy_dsl-1.1.dist-info");
  ASSERT_TRUE(bind(good_script() + "# changed\n"));
  EXPECT_EQ(runs(), 3U);
}

TEST_F(TvmFfiScript, WhatGoesWrongIsItsOwnSentence) {
  EXPECT_THAT(why_not("import no_such_dsl\n"),
              HasSubstr("make.py:1: ModuleNotFoundError: No module named 'no_such_dsl'"));
  EXPECT_THAT(why_not("def f(:\n"), HasSubstr("make.py:1: "));
  EXPECT_THAT(why_not("import sys\nsys.exit('not today')\n"), HasSubstr("not today"));
  EXPECT_THAT(why_not("print('{\"object\": \"00\"}')\n"), HasSubstr("wrote no file"));
  EXPECT_THAT(why_not("import sys\nopen(sys.argv[2], 'w').write('text')\n"),
              HasSubstr("what the script wrote: it is no shared object"));
  EXPECT_THAT(why_not(good_script(), "gem"),
              HasSubstr("make.py exports no __tvm_ffi_gem; did you mean 'gemm'?"));
}

TEST_F(TvmFfiScript, NobodyRunsItWithTheHarnesssRights) {
  const auto bound = bind(good_script(), "gemm", nullptr);
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().code, ErrorCode::unsupported);
  EXPECT_THAT(bound.error().message, HasSubstr("no process without rights"));
  EXPECT_FALSE(fs::exists(folder_->file("runs")));
}

TEST_F(TvmFfiScript, WithoutThePackageItIsRefusedWithWhatToInstall) {
  fs::remove_all(packages_);
  const auto bound = bind("import tvm_ffi\n" + good_script());
  // Another Python of this machine may have it.
  if (bound) GTEST_SKIP() << "this machine has TVM-FFI";
  EXPECT_EQ(bound.error().code, ErrorCode::unsupported);
  EXPECT_THAT(bound.error().message,
              AllOf(HasSubstr("no TVM-FFI lies beside"), HasSubstr("pip install")));
}

}  // namespace
}  // namespace assay::tvm_ffi
