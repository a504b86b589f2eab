#include "assay/kernel/traced_artifacts.h"

#include <filesystem>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/kernel/cache_folder.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Another file of the same content.
void replace(const std::string& path) {
  const std::string copy = path + ".copy";
  fs::copy_file(path, copy);
  fs::rename(copy, path);
}

class TracedArtifactsTest : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = folder_.file(name);
    EXPECT_TRUE(make_directories(fs::path(path).parent_path().string()));
    EXPECT_TRUE(write_file_atomic(path, text));
    return path;
  }
  ArtifactCache cache() const { return ArtifactCache(folder_.file("cache"), Log{}); }

  // Copies the file that it reads.
  Result<Artifact> get(const std::string& path, const std::string& text_hash = "") {
    return get_or_build_traced(
        cache(), key_,
        [&](const fs::path& folder) -> Result<TracedBuilt> {
          ++built_;
          ASSAY_TRY(const std::string text, read_file(path));
          ASSAY_TRY(write_file_atomic((folder / "kernel.so").string(), text));
          return TracedBuilt{{"kernel.so", Json::object()},
                             {.files = {path},
                              .folders = folders_,
                              .preprocessed = text_hash,
                              .incomplete = incomplete_}};
        },
        [&]() -> Result<std::string> { return text_hash; });
  }

  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create());
  Json key_ = {{"source", "abc"}};
  std::set<std::string> folders_;
  bool incomplete_ = false;
  int built_ = 0;
};

TEST_F(TracedArtifactsTest, IsFoundAsLongAsWhatWasReadIsTheSame) {
  const std::string path = write("one.h", "1");
  const auto first = get(path);
  ASSERT_TRUE(first) << first.error().message;
  const int builds = built_;
  EXPECT_EQ(get(path)->file, first->file);
  replace(path);
  EXPECT_EQ(get(path)->file, first->file) << "another file of the same content";
  EXPECT_EQ(built_, builds);
  write("one.h", "2");
  const auto second = get(path);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(read_file(second->file.string()).value(), "2");
  EXPECT_GT(built_, builds);
  const int more = built_;
  write("one.h", "1");
  EXPECT_EQ(get(path)->file, first->file);
  EXPECT_EQ(built_, more) << "both are kept";
}

TEST_F(TracedArtifactsTest, AFileThatWouldBeReadInsteadMakesItNew) {
  const std::string path = write("far/one.h", "1");
  folders_ = {folder_.file("near"), folder_.file("far")};
  ASSERT_TRUE(get(path));
  const int builds = built_;
  write("near/two.h", "");
  ASSERT_TRUE(get(path));
  EXPECT_EQ(built_, builds) << "nobody reads that";
  write("near/one.h", "2");
  ASSERT_TRUE(get(path));
  EXPECT_GT(built_, builds);
}

TEST_F(TracedArtifactsTest, ATextThatAsksForFilesIsAskedAgain) {
  const std::string path = write("one.h", "1");
  ASSERT_TRUE(get(path, "absent"));
  const int builds = built_;
  ASSERT_TRUE(get(path, "absent"));
  EXPECT_EQ(built_, builds);
  ASSERT_TRUE(get(path, "there"));
  EXPECT_GT(built_, builds);
}

TEST_F(TracedArtifactsTest, WhatIsNotKnownIsNeverFound) {
  incomplete_ = true;
  const std::string path = write("one.h", "1");
  ASSERT_TRUE(get(path));
  ASSERT_TRUE(get(path));
  EXPECT_EQ(built_, 2);
}

TEST_F(TracedArtifactsTest, ABrokenListIsNoList) {
  const std::string path = write("one.h", "1");
  ASSERT_TRUE(get(path));
  const std::string list = cache().entry_folder(key_).string() + ".inputs.json";
  for (const char* text :
       {"", "{", "3", "[3, {}, {\"files\": 3}]",
        R"([{"files": {"/x": 1}, "folders": 1, "rivals": 2, "preprocessed": 3}])",
        R"([{"files": {}, "folders": [], "rivals": [], "preprocessed": ""}])"}) {
    ASSERT_TRUE(write_file_atomic(list, text));
    EXPECT_TRUE(get(path)) << text;
  }
}

TEST_F(TracedArtifactsTest, ACacheThatBuildsNothingSaysSo) {
  const std::string path = write("one.h", "1");
  const auto nothing = get_or_build_traced(
      cache().without_building(), key_,
      [](const fs::path&) -> Result<TracedBuilt> { return fail(ErrorCode::internal, "it builds"); },
      []() -> Result<std::string> { return std::string(); });
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::not_found);
}

TEST(BuildInputsTest, RulesAndTracesAreRead) {
  EXPECT_THAT(files_of_rules("out: a.cc \\\n /x/with\\ space.h $$dollar b\\#c\nother.o : d\n"),
              ElementsAre("a.cc", "/x/with space.h", "$dollar", "b#c", "d"));
  EXPECT_THAT(files_of_rules(""), IsEmpty());
  const auto folder = TemporaryDirectory::create();
  const std::string archive = folder->file("libx.a");
  ASSERT_TRUE(write_file_atomic(archive, ""));
  EXPECT_THAT(files_of_trace(archive + "\n(" + archive + ")y.o\n" + archive + "(z.o)\nkernel.o\n"),
              ElementsAre(archive, archive, archive));
}

TEST(CacheFolderTest, OthersMayNeitherWriteNorOwnIt) {
  const auto folder = TemporaryDirectory::create();
  const std::string inside = folder->file("a/b");
  EXPECT_TRUE(check_cache_folder(inside));
  ::chmod(inside.c_str(), 0777);
  const auto open = check_cache_folder(inside);
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code, ErrorCode::invalid_input);
  EXPECT_THAT(open.error().message, HasSubstr(inside + "' may be written by others"));
  ::chmod(inside.c_str(), 0700);
  EXPECT_TRUE(check_cache_folder(inside));
  ASSERT_TRUE(write_file_atomic(folder->file("file"), ""));
  EXPECT_FALSE(check_cache_folder(folder->file("file")));
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(::chown(inside.c_str(), 12345, 12345), 0);
  EXPECT_THAT(check_cache_folder(inside).error().message, HasSubstr("belongs to user 12345"));
}

}  // namespace
}  // namespace assay
