#include "cli/dot_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "cli/settings.h"

namespace assay::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::map<std::string, std::string> parsed(const std::string& text) {
  const auto values = parse_dot_env(text);
  EXPECT_TRUE(values.has_value()) << values.error().message;
  std::map<std::string, std::string> texts;
  if (values)
    for (const auto& [name, value] : *values) texts[name] = value.text;
  return texts;
}

TEST(DotEnvTest, ValuesOfOursWithAndWithoutQuotes) {
  EXPECT_THAT(parsed("ASSAY_DEVICE=cpu\nexport ASSAY_CACHE_DIR = \"/a b\" # ours\nCXX='clang++'"),
              ElementsAre(Pair("ASSAY_CACHE_DIR", "/a b"), Pair("ASSAY_DEVICE", "cpu"),
                          Pair("CXX", "clang++")));
}

TEST(DotEnvTest, TheExampleHasExactlyTheVariablesThatAreRead) {
  const std::string text = dot_env_example();
  EXPECT_THAT(parsed(text), IsEmpty());
  std::string with_values;
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with("# ") && line.ends_with('='))
      with_values += fmt::format("{}here\n", line.substr(2));
  std::map<std::string, std::string> all;
  for (const EnvironmentVariable& variable : environment_variables())
    all[std::string(variable.name)] = "here";
  EXPECT_EQ(parsed(with_values), all);
}

TEST(DotEnvTest, LinesOfOthersAreTheirBusiness) {
  EXPECT_THAT(parsed("export FOO\n: ${BAR}\n=\nsource x.sh\n[section]\n"), IsEmpty());
  EXPECT_THAT(parsed("KEY=\"-----BEGIN\nASSAY_DEVICE=inside\nEND\"\nASSAY_DEVICE=gpu\n"),
              ElementsAre(Pair("ASSAY_DEVICE", "gpu")));
  // Never closed: it is no value of many lines.
  EXPECT_THAT(parsed("NAME='tis\nASSAY_DEVICE=gpu\n"), ElementsAre(Pair("ASSAY_DEVICE", "gpu")));
}

TEST(DotEnvTest, ALineOfOursThatCannotBeReadIsNamed) {
  const auto error = [](const std::string& text) {
    const auto values = parse_dot_env(text);
    return values ? std::string() : values.error().message;
  };
  EXPECT_THAT(error("X\nASSAY_DEVICE gpu\n"), HasSubstr(".env:2: ASSAY_DEVICE: expected"));
  EXPECT_THAT(error("export ASSAY_DEVICE"), HasSubstr(".env:1: ASSAY_DEVICE: expected"));
  EXPECT_THAT(error("\n\nCUTLASS_DIR=\"/x\n"), HasSubstr(".env:3: CUTLASS_DIR: expected"));
}

TEST(DotEnvTest, TheNearestFileUpwardCountsAndNeverOneAboveTheLab) {
  const auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder);
  const std::filesystem::path root = folder->path();
  std::filesystem::create_directories(root / "lab" / "cases" / "one");
  const auto put = [&](const std::filesystem::path& file) {
    ASSERT_TRUE(write_file_atomic((root / file).string(), "ASSAY_DEVICE=cpu\n"));
  };
  put(".env");
  EXPECT_EQ(find_dot_env(root), root / ".env");
  EXPECT_EQ(find_dot_env(root / "lab" / "cases"), "");  // In no lab, only the folder's own.
  put("lab/lab.yaml");
  EXPECT_EQ(find_dot_env(root / "lab" / "cases" / "one"), "");
  put("lab/.env");
  EXPECT_EQ(find_dot_env(root / "lab" / "cases" / "one"), root / "lab" / ".env");
  put("lab/cases/one/.env");
  EXPECT_EQ(find_dot_env(root / "lab" / "cases" / "one"), root / "lab/cases/one/.env");
}

}  // namespace
}  // namespace assay::cli
