#include "assay/base/compiler.h"

#include <gmock/gmock.h>

#include "assay/base/file.h"
#include "assay/base/json.h"

namespace assay {
namespace {

TEST(Compiler, ShowsTheFirstLinesThatHoldWords) {
  EXPECT_EQ(first_lines("note: a\n\n  \nb: error\x1b[m\n", "note"), "\n  b: error\\x1b[m");
  EXPECT_EQ(first_lines("note: a\n"), "\n  note: a");
  EXPECT_EQ(first_lines(" \n", "note"), "\n  (it printed nothing)");
  std::string many, shown;
  for (int i = 0; i < 16; ++i) many += "line\n";
  for (int i = 0; i < 15; ++i) shown += "\n  line";
  EXPECT_EQ(first_lines(many), shown + "\n  ...");
}

TEST(Compiler, AFileThatIsReplacedHasAnotherIdentity) {
  const auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder);
  const std::string path = folder->file("compiler");
  EXPECT_EQ(file_identity(path).error().code, ErrorCode::unsupported);
  ASSERT_TRUE(write_file_atomic(path, "one"));
  const auto before = file_identity(path);
  ASSERT_TRUE(before);
  EXPECT_EQ(*before, *file_identity(path));
  ASSERT_TRUE(write_file_atomic(path, "another"));
  EXPECT_NE(*before, *file_identity(path));
}

}  // namespace
}  // namespace assay
