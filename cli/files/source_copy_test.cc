#include "cli/files/source_copy.h"

#include <gtest/gtest.h>

#include "assay/base/file.h"

namespace assay::cli {
namespace {

class SourceCopyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryDirectory::create();
    ASSERT_TRUE(made) << made.error().message;
    folder_.emplace(std::move(*made));
    write("src/my.cc",
          "#include \"parts/a.h\"\n#include \"../outside.h\"\n#include <vector>\nint x;\n");
    write("src/parts/a.h", "#  include \"b.h\"\n");
    write("src/parts/b.h", "// b\n");
    write("outside.h", "// outside\n");
  }
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(folder_->path()) / name;
    ASSERT_TRUE(make_directories(path.parent_path().string()));
    ASSERT_TRUE(write_file_atomic(path.string(), text));
  }
  std::filesystem::path at(const std::string& name) const {
    return std::filesystem::path(folder_->path()) / name;
  }

  std::optional<TemporaryDirectory> folder_;
};

TEST_F(SourceCopyTest, TakesWhatTheSourceIncludes) {
  const auto copy = SourceCopy::read(at("src/my.cc"), {});
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(copy->files().size(), 4u);
  const auto written = copy->write(at("aside"));
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(*written, at("aside/src/my.cc"));
  EXPECT_EQ(read_file(at("aside/src/parts/b.h").string()).value(), "// b\n");
  EXPECT_EQ(read_file(at("aside/outside.h").string()).value(), "// outside\n");
}

TEST_F(SourceCopyTest, TakesTheDefinitionOfAnOperation) {
  write("src/soft.cc", "// assay: {entry: soft, operation: ops/softmax.op.yaml, dtype: f32}\n");
  write("src/ops/softmax.op.yaml", "name: softmax\nreference: 'reference.cc::softmax'\n");
  write("src/ops/reference.cc", "#include \"more.h\"\n");
  write("src/ops/more.h", "// more\n");
  write("src/plain.cc", "// assay: {entry: plain, operation: gemm}\n");
  const auto copy = SourceCopy::read(at("src/soft.cc"), {});
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(copy->files().size(), 4u);
  EXPECT_EQ(SourceCopy::read(at("src/plain.cc"), {})->files().size(), 1u);
}

TEST_F(SourceCopyTest, SeesAChangeOfAnIncludedFile) {
  const auto before = SourceCopy::read(at("src/my.cc"), {});
  write("src/parts/b.h", "// another b\n");
  const auto after = SourceCopy::read(at("src/my.cc"), {});
  ASSERT_TRUE(before && after);
  EXPECT_FALSE(*before == *after);
}

TEST_F(SourceCopyTest, AFileThatIsNotThereIsAnError) {
  EXPECT_FALSE(SourceCopy::read(at("src/none.cc"), {}));
}

}  // namespace
}  // namespace assay::cli
