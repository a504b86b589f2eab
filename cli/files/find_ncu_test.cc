#include "cli/files/find_ncu.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FindNcuTest : public ::testing::Test {
 protected:
  void put(const std::string& path, bool executable = true) {
    const fs::path file = folder_.file(path);
    fs::create_directories(file.parent_path());
    ASSERT_TRUE(write_file_atomic(file.string(), "#!/bin/sh\n"));
    fs::permissions(file, executable ? fs::perms::owner_all : fs::perms::owner_read);
  }
  std::string found(const std::string& named = "") {
    const auto found = find_ncu(named, settings_, folder_.path());
    return found ? found->program.empty() ? found->missing
                                          : fs::relative(found->program, folder_.path()).string()
                 : found.error().message;
  }

  TemporaryDirectory folder_ = *TemporaryDirectory::create();
  Settings settings_;
};

TEST_F(FindNcuTest, AlongThePathThenWhereItsPackagesPutItTheNewestFirst) {
  settings_.child_environment = {"PATH=/nowhere:" + folder_.file("bin")};
  EXPECT_THAT(found(), HasSubstr("neither along the PATH nor in CUDA's folders"));
  put("opt/nvidia/nsight-compute/2025.1.0/ncu");
  put("opt/nvidia/nsight-compute/2024.10.0/ncu");
  put("opt/nvidia/nsight-compute/2025.3.1/ncu", false);
  EXPECT_EQ(found(), "opt/nvidia/nsight-compute/2025.1.0/ncu");
  put("usr/local/cuda-9.2/bin/ncu");
  put("usr/local/cuda-13.0/bin/ncu");
  EXPECT_EQ(found(), "usr/local/cuda-13.0/bin/ncu");
  put("bin/ncu");
  EXPECT_EQ(found(), "bin/ncu");
}

TEST_F(FindNcuTest, WhatIsNamedIsItOrNone) {
  put("usr/local/cuda-13.0/bin/ncu");
  put("mine/ncu");
  put("mine/text", false);
  EXPECT_EQ(found(folder_.file("mine/ncu")), "mine/ncu");
  EXPECT_THAT(found(folder_.file("mine/text")), HasSubstr("--ncu: "));
  EXPECT_THAT(found("no-such-ncu"), HasSubstr("'no-such-ncu' is no program"));
  EXPECT_EQ(found("none"), "--ncu said that ncu is not wanted");
  settings_.ncu = "none";
  EXPECT_EQ(found(), "ASSAY_NCU said that ncu is not wanted");
  EXPECT_EQ(found(folder_.file("mine/ncu")), "mine/ncu");
}

}  // namespace
}  // namespace assay::cli
