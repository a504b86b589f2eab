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

TEST(Compiler, NamesTheFirstError) {
  EXPECT_EQ(first_error("/a/my.cc: In function 'void f()':\n"
                        "/a/my.cc:4:35: error: 'x' was not declared in this scope\n"
                        "/a/my.cc:5:1: error: another\n"),
            "my.cc:4: 'x' was not declared in this scope");
  EXPECT_EQ(first_error("my.c:1:10: fatal error: none.h: No such file or directory\n"),
            "my.c:1: none.h: No such file or directory");
  EXPECT_EQ(first_error("/b/my.cu(7): error: identifier \"y\" is undefined\n"),
            "my.cu:7: identifier \"y\" is undefined");
  for (const char* none : {"", "cc1plus: error: no input files", "my.cc:x: error: odd",
                           "collect2: error: ld returned 1", ": error: "})
    EXPECT_EQ(first_error(none), "") << none;
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
