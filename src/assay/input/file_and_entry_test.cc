#include "assay/input/file_and_entry.h"

#include <gtest/gtest.h>

namespace assay::input {
namespace {

TEST(FileAndEntry, SplitsBehindTheFilesOwnName) {
  const struct {
    const char *text, *file, *entry;
  } cases[] = {{"my.cc", "my.cc", ""},
               {"my.cc::gemm", "my.cc", "gemm"},
               {"my.cc::mine::gemm", "my.cc", "mine::gemm"},
               {"a::b/my.cc", "a::b/my.cc", ""},
               {"a::b/my.cc::mine::gemm", "a::b/my.cc", "mine::gemm"},
               {"/x/libmine.so.2::gemm", "/x/libmine.so.2", "gemm"},
               {"my.cc::", "my.cc", ""},
               {"", "", ""}};
  for (const auto& one : cases) {
    const FileAndEntry split = split_entry(one.text);
    EXPECT_EQ(split.file, one.file) << one.text;
    EXPECT_EQ(split.entry, one.entry) << one.text;
  }
}

TEST(FileAndEntry, IsWrittenAsItWasGiven) {
  for (const char* text : {"my.cc", "a::b/my.cc::mine::gemm", "x.so::k"})
    EXPECT_EQ(split_entry(text).text(), text);
}

}  // namespace
}  // namespace assay::input
