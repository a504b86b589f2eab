#include "assay/device/cuda/libraries.h"

#include <filesystem>
#include <fstream>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"

namespace assay::cuda {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// A virtual environment as `python3 -m venv` makes it, whose Python is of another folder.
class Environment : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TemporaryDirectory::create(fs::temp_directory_path(), "libraries-");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    fs::create_directories(root() / "bin");
    fs::create_directories(packages());
    fs::create_directories(root() / "elsewhere/bin");
    fs::create_directories(root() / "elsewhere/lib/python3.12/site-packages");
    std::ofstream(root() / "elsewhere/bin/python3.12") << "";
    fs::create_symlink(root() / "elsewhere/bin/python3.12", root() / "bin/python3");
    settings_["pythons"] = (root() / "bin/python3").string() + ":/no/such/python3";
  }

  fs::path root() const { return folder_->path(); }
  fs::path packages() const { return root() / "lib/python3.12/site-packages"; }
  void add(const fs::path& file) {
    fs::create_directories((packages() / file).parent_path());
    std::ofstream(packages() / file) << "";
  }

  std::optional<TemporaryDirectory> folder_;
  Settings settings_;
};

TEST_F(Environment, ItsPackagesLieBesideThePathItIsCalledBy) {
  EXPECT_THAT(package_folders_of((root() / "bin/python3").string()), ElementsAre(packages()));
  EXPECT_EQ(python_package_folders(settings_).front(), packages());
  EXPECT_THAT(python_package_folders({}), Not(Contains(packages())));
}

TEST_F(Environment, PackagesOfAnotherVersionAreNotThose) {
  fs::create_directories(root() / "lib/python3.9/site-packages");
  EXPECT_THAT(package_folders_of((root() / "bin/python3").string()), ElementsAre(packages()));
  EXPECT_THAT(package_folders_of("/no/such/bin/python3"), IsEmpty());
}

TEST_F(Environment, LibrariesAndFilesOfItAreFound) {
  add("cutlass_library/generator.py");
  ASSERT_THAT(python_files("cutlass_library/generator.py", settings_), Not(IsEmpty()));
  EXPECT_EQ(python_files("cutlass_library/generator.py", settings_).front(),
            packages() / "cutlass_library/generator.py");
  add("nvidia/old/lib/libassay_test.so.1");
  add("nvidia/cu13/lib/libassay_test.so.1");
  EXPECT_THAT(library_candidates({"libassay_test.so.1"}, "old", settings_),
              ElementsAre(packages() / "nvidia/cu13/lib/libassay_test.so.1",
                          packages() / "nvidia/old/lib/libassay_test.so.1", "libassay_test.so.1"));
  EXPECT_THAT(library_candidates({"libassay_test.so.1"}, "old", {}),
              ElementsAre("libassay_test.so.1"));
}

}  // namespace
}  // namespace assay::cuda
