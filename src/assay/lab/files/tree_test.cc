#include "assay/lab/files/tree.h"

#include <fstream>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"

namespace assay::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TreeTest : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const auto file = std::filesystem::path(folder_.path()) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  TemporaryDirectory folder_ = *TemporaryDirectory::create();
  TemporaryDirectory other_ = *TemporaryDirectory::create();
};

TEST_F(TreeTest, ATreeIsMadeAgainByteForByte) {
  write("workspace/a.cc", "int a;\n");
  write("workspace/run.sh", "#!/bin/sh\n");
  ::chmod((folder_.path() + "/workspace/run.sh").c_str(), 0755);
  std::filesystem::create_symlink("a.cc", folder_.path() + "/workspace/link.cc");
  const auto tree = read_tree(folder_.path());
  ASSERT_TRUE(tree) << tree.error().message;
  const TreeStore store(other_.path() + "/objects");
  ASSERT_TRUE(store.put(folder_.path(), *tree));
  const auto kept = store.get(tree->hash());
  ASSERT_TRUE(kept) << kept.error().message;
  ASSERT_TRUE(store.write(*kept, other_.path() + "/copy"));
  const auto copy = read_tree(other_.path() + "/copy");
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->hash(), tree->hash());
}

TEST_F(TreeTest, WhatToolsMakeAndSecretsAreLeftOut) {
  write("a", "1");
  write(".env", "TOKEN=1");
  write("build/x", "1");
  write("sub/__pycache__/x.pyc", "1");
  write("runs/history.jsonl", "1");
  const auto tree = read_tree(folder_.path());
  ASSERT_TRUE(tree);
  ASSERT_EQ(tree->files.size(), 1u);
  EXPECT_EQ(tree->files[0].path, "a");
}

TEST_F(TreeTest, NamesThatCannotBeToldAreRefused) {
  write("good", "1");
  write("two\nlines \u00e9", "1");
  ASSERT_TRUE(read_tree(folder_.path()));
  write("no \xff UTF-8", "1");
  auto tree = read_tree(folder_.path());
  ASSERT_FALSE(tree);
  EXPECT_THAT(tree.error().message, HasSubstr("its name is no UTF-8"));
  std::filesystem::remove(folder_.path() + "/no \xff UTF-8");
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "a_folder_in/";
  write(deep + "file", "1");
  tree = read_tree(folder_.path());
  ASSERT_FALSE(tree);
  EXPECT_THAT(tree.error().message, HasSubstr("a path of more than 1024 bytes"));
}

TEST_F(TreeTest, DifferencesAreByPathAndContent) {
  write("same", "1");
  write("changed", "1");
  write("gone", "1");
  const Tree before = *read_tree(folder_.path());
  write("changed", "2");
  write("new", "1");
  std::filesystem::remove(folder_.path() + "/gone");
  EXPECT_THAT(differences(before, *read_tree(folder_.path())),
              ElementsAre("~ changed", "- gone", "+ new"));
}

TEST_F(TreeTest, DamagedObjectsAreNotUsed) {
  write("a", "text");
  const Tree tree = *read_tree(folder_.path());
  const TreeStore store(other_.path());
  ASSERT_TRUE(store.put(folder_.path(), tree));
  const std::string hash = tree.files[0].sha256;
  std::ofstream(other_.path() + "/" + hash.substr(0, 2) + "/" + hash.substr(2)) << "other";
  const auto text = store.text_of(tree.files[0]);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("damaged"));
}

TEST_F(TreeTest, WhatCannotBeKeptIsNamed) {
  ::mkfifo((folder_.path() + "/pipe").c_str(), 0600);
  const auto tree = read_tree(folder_.path());
  ASSERT_FALSE(tree);
  EXPECT_THAT(tree.error().message, HasSubstr("pipe"));
}

}  // namespace
}  // namespace assay::lab
