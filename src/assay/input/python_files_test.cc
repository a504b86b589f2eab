#include "assay/input/python_files.h"

#include <fstream>

#include <gmock/gmock.h>

#include "assay/base/file.h"
#include "assay/input/source_reader.h"

namespace assay::input {
namespace {

using ::testing::ElementsAre;

class PythonFiles : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = std::filesystem::path(folder_->path()) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  Result<std::map<std::string, std::string>> read(const std::string& source) const {
    KernelEntry entry;
    entry.source = folder_->file(source);
    ASSAY_TRY(SourceFiles files, SourceReader().read_with_brought(entry.source, {}));
    entry.files = std::make_shared<const SourceFiles>(std::move(files));
    return python_files(entry);
  }
  std::vector<std::string> names(const std::string& source) const {
    const auto files = read(source);
    EXPECT_TRUE(files) << files.error().message;
    std::vector<std::string> names;
    if (files)
      for (const auto& [name, text] : *files) names.push_back(name);
    return names;
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::create();
};

TEST_F(PythonFiles, FollowsImportsOfWhatLiesBesideAndNothingElse) {
  ASSERT_TRUE(folder_);
  write("k.py",
        "import os, helpers as h  # and not 'import other'\n"
        "import triton.language as tl\n"
        "from pack.inner import (\n    thing,\n    leaf)\n"
        "def f():\n    import late; import later\n");
  write("helpers.py", "from pack import *\n");
  write("other.py", "");
  write("late.py", "");
  write("later.py", "import k\n");
  write("pack/__init__.py", "from . import side\nfrom .. import above\n");
  write("pack/side.py", "");
  write("pack/inner/__init__.py", "from ..side import x\n");
  write("pack/inner/leaf.py", "");
  write("pack/unused.py", "");
  EXPECT_THAT(names("k.py"),
              ElementsAre("helpers.py", "k.py", "late.py", "later.py", "pack/__init__.py",
                          "pack/inner/__init__.py", "pack/inner/leaf.py", "pack/side.py"));
}

TEST_F(PythonFiles, LeavesTheFolderAlone) {
  ASSERT_TRUE(folder_);
  write("outside.py", "");
  write("inside/k.py", "from .. import outside\nfrom ..outside import x\nimport ..outside\n");
  EXPECT_THAT(names("inside/k.py"), ElementsAre("k.py"));
}

TEST_F(PythonFiles, SaysWhichFileIsMissing) {
  ASSERT_TRUE(folder_);
  const auto files = read("gone.py");
  ASSERT_FALSE(files);
  EXPECT_THAT(files.error().message, ::testing::HasSubstr("gone.py"));
}

}  // namespace
}  // namespace assay::input
