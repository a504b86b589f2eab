#include "cli/config.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

ConfigNames names() {
  return {{{"sweep", {"margin", "budget", "shape"}}, {"race", {"margin", "watch"}}},
          {"json", "quiet"},
          {"openblas", "cublaslt"},
          {{"cublaslt", {"space"}}},
          [](const std::string&, const ProviderSettings& settings) -> Status {
            if (const auto space = settings.find("space");
                space != settings.end() && space->second != "all")
              return fail(ErrorCode::invalid_input, "there is only all");
            return {};
          }};
}

std::string error_of(std::string_view text) {
  const auto config = parse_config(text, "c.yaml", names());
  return config ? "no error" : config.error().message;
}

TEST(ConfigTest, ACommandsOwnValueWinsOverTheGeneralOne) {
  const auto config = parse_config("margin: 2%\nsweep: {margin: 3%}\n", "c.yaml", names());
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->find("sweep", "margin")->values.front(), "3%");
  EXPECT_EQ(config->find("race", "margin")->values.front(), "2%");
  EXPECT_EQ(config->find("race", "watch"), nullptr);
}

TEST(ConfigTest, ProvidersHaveSettings) {
  const auto config = parse_config("openblas: {library: /opt/lib.so}\n", "c.yaml", names());
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->providers.at("openblas").at("library"), "/opt/lib.so");
}

TEST(ConfigTest, AProvidersOwnSettingsAreNoOthersAndTheirValuesAreCheckedInTheirPlace) {
  const auto config = parse_config("cublaslt: {space: all}\n", "c.yaml", names());
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->providers.at("cublaslt").at("space"), "all");
  EXPECT_THAT(error_of("cublaslt: {space: some}"),
              AllOf(StartsWith("c.yaml:1:"), HasSubstr("there is only all")));
  EXPECT_THAT(error_of("openblas: {space: all}"),
              AllOf(StartsWith("c.yaml:1:"), HasSubstr("openblas has no setting 'space'")));
}

TEST(ConfigTest, UnknownKeysAreNamedWithTheirPlace) {
  EXPECT_THAT(error_of("swep: {margin: 1%}"),
              AllOf(StartsWith("c.yaml:1:"), HasSubstr("did you mean 'sweep'")));
  EXPECT_THAT(error_of("\nsweep:\n  budgt: 1s\n"),
              AllOf(StartsWith("c.yaml:3:"), HasSubstr("did you mean 'budget'")));
  EXPECT_THAT(error_of("openblas: {libary: x}"), HasSubstr("did you mean 'library'"));
  EXPECT_THAT(error_of("race: {budget: 1s}"), HasSubstr("race has no flag --budget"));
  EXPECT_THAT(error_of("margin: []"), HasSubstr("empty list"));
  EXPECT_THAT(error_of("margin: ''"),
              AllOf(StartsWith("c.yaml:1:"), HasSubstr("margin: is empty; write a value")));
}

TEST(ConfigTest, DefaultsFillOnlyWhatWasNotGiven) {
  const auto config =
      parse_config("margin: 2%\nquiet: true\nsweep: {shape: [a, b]}\n", "c.yaml", names());
  ASSERT_TRUE(config) << config.error().message;
  CLI::App app("x");
  CLI::App* sweep = app.add_subcommand("sweep");
  bool quiet = false;
  std::string margin = "1%";
  std::vector<std::string> shapes;
  app.add_flag("--quiet", quiet);
  sweep->add_option("--margin", margin);
  sweep->add_option("--shape", shapes)->required();
  relax_required(*config, *sweep);
  app.parse("sweep --margin 5%");
  ASSERT_TRUE(apply_defaults(*config, app, *sweep));
  EXPECT_TRUE(quiet);
  EXPECT_EQ(margin, "5%");
  EXPECT_THAT(shapes, ::testing::ElementsAre("a", "b"));
}

TEST(ConfigTest, AFlagsErrorNamesTheLineThatItsValueIsFrom) {
  const auto config = parse_config("margin: 200%\n", "c.yaml", names());
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_THAT(config->with_origin("--margin: out of range", "sweep", {"assay", "sweep"}),
              StartsWith("c.yaml:1:"));
  EXPECT_EQ(config->with_origin("--margin: out of range", "sweep",
                                {"assay", "sweep", "--margin", "200%"}),
            "--margin: out of range");
}

}  // namespace
}  // namespace assay::cli
