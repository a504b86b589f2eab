#include "testing/device_code.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"

namespace assay::testing {
namespace {

const char* assembler() {
  for (const char* path : {"/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas"})
    if (std::filesystem::exists(path)) return path;
  return nullptr;
}

}  // namespace

bool can_assemble() { return assembler() != nullptr; }

void expect_assembles(const std::string& gpu, const std::string& code) {
  ASSERT_TRUE(can_assemble());
  const auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder) << folder.error().message;
  ASSERT_TRUE(write_file_atomic(folder->file("code.ptx"), code));
  const std::string command = fmt::format("{} -arch={} {} -o {}", assembler(), gpu,
                                          folder->file("code.ptx"), folder->file("code.cubin"));
  EXPECT_EQ(std::system(command.c_str()), 0) << gpu;
}

void expect_assembles(const std::function<std::string(const std::string& target)>& code) {
  for (const auto& [gpu, target] :
       {std::pair{"sm_75", "sm_70"}, {"sm_80", "sm_70"}, {"sm_90", "sm_90"}, {"sm_100", "sm_90"}})
    expect_assembles(gpu, code(target));
}

}  // namespace assay::testing
