#include "assay/lab/files/remove_tree.h"

#include <fcntl.h>
#include <fstream>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "assay/base/fd.h"
#include "assay/base/file.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

class RemoveTreeTest : public ::testing::Test {
 protected:
  fs::path file(const char* name) const { return folder_.file(name); }
  void write(const char* name) const {
    fs::create_directories(file(name).parent_path());
    std::ofstream(file(name)) << 1;
  }
  TemporaryDirectory folder_ = *TemporaryDirectory::create();
};

TEST_F(RemoveTreeTest, NoLinkIsFollowed) {
  write("others/file");
  write("made/inner/file");
  fs::create_directory_symlink(file("others"), file("made/inner/link"));
  fs::create_directory_symlink(file("others"), file("link"));
  EXPECT_TRUE(remove_tree(file("made")));
  EXPECT_TRUE(remove_tree(file("link")));
  EXPECT_FALSE(fs::exists(file("made")));
  EXPECT_FALSE(fs::exists(fs::symlink_status(file("link"))));
  EXPECT_TRUE(fs::exists(file("others/file")));
  EXPECT_TRUE(remove_tree(file("nothing")));
}

TEST_F(RemoveTreeTest, NorIsAFolderWithoutRightsLeft) {
  write("made/a/b/file");
  for (const char* name : {"made/a/b", "made/a", "made"}) ::chmod(file(name).c_str(), 0);
  const Status removed = remove_tree(file("made"));
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(fs::exists(file("made")));
}

// Deeper than a path is long, and than descriptors may be open.
TEST_F(RemoveTreeTest, NorAFolderOfAnyDepth) {
  fs::create_directory(file("made"));
  UniqueFd at(::open(file("made").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < 3000; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), "moved-1", 0700), 0);
    at = UniqueFd(::openat(at.get(), "moved-1", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at);
  }
  const Status removed = remove_tree(file("made"));
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(fs::exists(file("made")));
}

// What somebody mounted lies elsewhere, also if it is on the same disk.
TEST_F(RemoveTreeTest, NothingBehindAMountIsRemoved) {
  write("others/file");
  constexpr int kCannotMount = 77;
  for (const char* place : {"made", "made/inner", "made/inner/deep"}) {
    write("made/inner/deep/file");
    const pid_t child = ::fork();
    if (child == 0) {
      if (::geteuid() != 0 && ::unshare(CLONE_NEWUSER) != 0) ::_exit(kCannotMount);
      if (::unshare(CLONE_NEWNS) != 0 ||
          ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
          ::mount(file("others").c_str(), file(place).c_str(), nullptr, MS_BIND, nullptr) != 0)
        ::_exit(kCannotMount);
      const Status removed = remove_tree(file("made"));
      ::_exit(!removed && removed.error().message.find("unmount it") != std::string::npos ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) == kCannotMount) GTEST_SKIP() << "nothing can be mounted here";
    EXPECT_EQ(status, 0) << place;
    EXPECT_TRUE(fs::exists(file("others/file"))) << place;
  }
}

TEST_F(RemoveTreeTest, FoldersCanBeLookedIntoAgain) {
  write("made/a/b/file");
  for (const char* name : {"made/a/b", "made/a"}) ::chmod(file(name).c_str(), 0);
  make_walkable(file("made"));
  for (const char* name : {"made/a", "made/a/b"})
    EXPECT_EQ(fs::status(file(name)).permissions() & fs::perms::owner_all, fs::perms::owner_all);
}

}  // namespace
}  // namespace assay::lab
