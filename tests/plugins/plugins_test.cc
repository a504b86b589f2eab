// Plug-ins and the program: what one says and does is a sentence, an ending or a verdict, and the
// program stands.

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "assay/base/clock.h"
#include "testing/assay_program.h"
#include "testing/build_plugin.h"

namespace assay {
namespace {

using ::testing::AllOf;
using testing::AssayProgram;
using testing::Finished;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kShape = "m=24,n=40,k=56,dtype=f32,layout=tt";

class Plugins : public ::testing::Test {
 protected:
  // Its name below the program's folder.
  std::string build(const std::string& c_file, const std::vector<std::string>& macros = {}) {
    const auto built = testing::build_plugin(AssayProgram::source("tests/plugins/" + c_file),
                                             program_.folder(), macros);
    EXPECT_TRUE(built) << built.error().message;
    return built ? std::filesystem::path(*built).filename().string() : "";
  }

  // One kernel alone: `assay run`, quickly.
  Finished run_kernel(const std::string& plugin, const std::string& kernel,
                      const std::string& output) {
    return program_.run({"run", kernel, "--plugin", plugin, "--shape", kShape, "--threads", "1",
                         "--budget", "1s", "--output-dir", output});
  }

  AssayProgram program_;
};

TEST_F(Plugins, OneThatCannotBeLoadedIsASentenceAndExit2) {
  const std::pair<const char*, const char*> cases[] = {
      {"CASE_NO_ENTRY", "has no function assay_plugin_v1"},
      {"CASE_OTHER_VERSION", "version 7 of the plug-in ABI, and this assay speaks version 1"},
      {"CASE_SMALL_PLUGIN", "its AssayPlugin has 16 bytes"},
      {"CASE_NULL_KERNELS", "kernels is null"},
      {"CASE_BAD_JSON", "kernels[0].metadata:1:"},
      {"CASE_EPILOGUE", "the epilogue step 'softmax' has no reference"},
      {"CASE_WILD_POINTER", "killed by signal 11 (SIGSEGV)"},
      {"CASE_CRASHES", "killed by signal 11 (SIGSEGV)"},
      {"CASE_CRASHES_WHEN_MAPPED", "killed by signal 6 (SIGABRT)"},
      {"CASE_EXITS", "exited with code 0"}};
  for (const auto& [fault, part] : cases) {
    const std::string plugin = build("hostile.c", {fault});
    const Finished checked = program_.run({"plugin", "check", plugin});
    EXPECT_EQ(checked.code(), 2) << fault << ": " << checked.err;
    EXPECT_THAT(checked.err, AllOf(HasSubstr(plugin), HasSubstr(part))) << fault;
    EXPECT_EQ(checked.out, "") << fault;
  }
  // The same from a command that measures, which leaves nothing behind.
  const std::string plugin = build("hostile.c", {"CASE_CRASHES"});
  const Finished raced = program_.run({"race", plugin, "--shape", kShape});
  EXPECT_EQ(raced.code(), 2) << raced.err;
  EXPECT_THAT(raced.err, AllOf(HasSubstr(plugin), HasSubstr("SIGSEGV")));
  EXPECT_FALSE(std::filesystem::exists(program_.file("runs")));
}

TEST_F(Plugins, OneThatHangsIsGivenUp) {
  const std::string plugin = build("hostile.c", {"CASE_HANGS"});
  const Finished listed =
      program_.run({"run", "kernel", "--plugin", plugin, "--shape", kShape, "--timeout", "1s"});
  EXPECT_EQ(listed.code(), 2) << listed.err;
  EXPECT_THAT(listed.err, AllOf(HasSubstr(plugin), HasSubstr("did not answer within 1 s")));
}

TEST_F(Plugins, CheckPassesAGoodOneAndSaysWhatItLookedAt) {
  const std::string plugin = build("good.c");
  const Finished checked = program_.run({"plugin", "check", plugin, "--json"});
  ASSERT_EQ(checked.code(), 0) << checked.out << checked.err;
  const auto json = parse_json(checked.out, "plugin check");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ((*json)["schema"], "assay.plugin_check/1");
  EXPECT_EQ((*json)["kernels"], 3);
  EXPECT_EQ((*json)["kernels_run"], 3);
  EXPECT_EQ((*json)["conforms"], true);
  for (const Json& check : (*json)["checks"]) {
    EXPECT_EQ(check["result"], "passed") << check.dump();
    EXPECT_GT(check["looked_at"].get<int>(), 0) << check.dump();
  }
}

TEST_F(Plugins, CheckFailsWhatDoesNotConformAndGoesOn) {
  const std::pair<const char*, const char*> cases[] = {
      {"CASE_WRONG", "kernel with 1 thread: exact: launch 1: out["},
      {"CASE_WRITES_OUTSIDE", "wrote outside operand out"},
      {"CASE_CRASHES_WHEN_LAUNCHED", "killed by signal 11 (SIGSEGV)"},
      {"CASE_DEVICE_STEP", "added a step for a device"},
      {"CASE_NO_SENTENCE", "kernel: 'no' does not say why"},
      {"CASE_UNKNOWN_REASON", "refused for 'mood', which is no reason"},
      {"CASE_CHANGES_ITS_MIND",
       "it does not always say the same: once it took the problem, and once "
       "it refused: it was asked once too often"},
      {"CASE_FLUSHES_SUBNORMALS", "launch 1: left the processor rounding, or treating subnormal"},
      {"CASE_SPINS_AFTER_A_LAUNCH", "a thread of it is still at work long after its launches"},
      {"CASE_CHANGES_ITS_PROCESS", "it changed the process's folder to '/usr'"},
      {"CASE_CHANGES_ITS_PROCESS", "it changed the process's umask to 000"},
      {"CASE_CHANGES_ITS_PROCESS", "it closed standard input"},
      {"CASE_HUGE_WORKSPACE", "asks for a workspace of 1099511627776 bytes"}};
  for (const auto& [fault, part] : cases) {
    const std::string plugin = build("hostile.c", {fault});
    const Finished checked = program_.run({"plugin", "check", plugin, "--json"});
    EXPECT_EQ(checked.code(), 1) << fault << ": " << checked.err;
    const auto json = parse_json(checked.out, fault);
    ASSERT_TRUE(json) << json.error().message;
    EXPECT_THAT((*json)["checks"].dump(), HasSubstr(part)) << fault;
    EXPECT_EQ((*json)["checks"].front()["result"], "passed") << fault;
    EXPECT_EQ((*json)["checks"][2]["result"], "passed") << fault;  // Its kernels' names.
  }
}

// Before any kernel is looked at.
TEST_F(Plugins, CheckSeesWhatRunsOnOnceItIsLoaded) {
  const std::pair<const char*, const char*> cases[] = {
      {"CASE_SPINS_WHEN_LOADED", "a thread that it started is at work"},
      {"CASE_FORKS_WHEN_LOADED", "1 process that it started goes on"},
      {"CASE_FLUSHES_WHEN_MAPPED", "it switched the processor's rounding, or its treatment of"}};
  for (const auto& [fault, part] : cases) {
    const std::string plugin = build("hostile.c", {fault});
    const Finished checked = program_.run({"plugin", "check", plugin, "--json"});
    EXPECT_EQ(checked.code(), 1) << fault << ": " << checked.err;
    const auto json = parse_json(checked.out, fault);
    ASSERT_TRUE(json) << json.error().message;
    EXPECT_EQ((*json)["checks"].front()["name"], "loads") << fault;
    EXPECT_THAT((*json)["checks"].front()["faults"].dump(), HasSubstr(part)) << fault;
    EXPECT_EQ((*json)["checks"].back()["result"], "failed") << fault;
  }
}

TEST_F(Plugins, CheckStopsAtTheFirstHangAndSaysWhereItIs) {
  const std::string plugin = build("hostile.c", {"CASE_HANGS_WHEN_LAUNCHED"});
  const int64_t start = monotonic_ns();
  const Finished checked = program_.run({"plugin", "check", plugin, "--timeout", "1s"});
  EXPECT_EQ(checked.code(), 1) << checked.err;
  EXPECT_THAT(checked.err, AllOf(HasSubstr("check 1/9  loads"), HasSubstr("check 8/9  computes")));
  EXPECT_THAT(checked.out, AllOf(HasSubstr("did not answer within 1 s"),
                                 HasSubstr("not checked to its end: it hung")));
  EXPECT_LT(monotonic_ns() - start, 30 * kNsPerSecond);
  const Finished asked = program_.run({"plugin", "check", plugin, "--timeout", "soon"});
  EXPECT_EQ(asked.code(), 2);
  EXPECT_THAT(asked.err, HasSubstr("--timeout"));
}

// What its loader would die of.
TEST_F(Plugins, OneThatIsCutShortIsToldSo) {
  const std::string plugin = build("good.c");
  const auto whole = read_file(program_.file(plugin));
  ASSERT_TRUE(whole);
  for (const size_t bytes : {whole->size() / 8, whole->size() / 4}) {
    ASSERT_TRUE(write_file_atomic(program_.file("cut.so"), whole->substr(0, bytes)));
    const Finished checked = program_.run({"plugin", "check", "cut.so"});
    EXPECT_EQ(checked.code(), 2) << checked.err;
    EXPECT_THAT(checked.err, AllOf(HasSubstr("it is cut short: its header tells of"),
                                   HasSubstr(fmt::format("and it has {}", bytes))));
  }
}

TEST_F(Plugins, AWorkspaceThatNoMachineHasIsARefusalWithItsNumber) {
  const std::string plugin = build("hostile.c", {"CASE_HUGE_WORKSPACE"});
  const Finished ran = run_kernel(plugin, "kernel", "out");
  EXPECT_THAT(ran.out + ran.err, HasSubstr("asks for a workspace of 1099511627776 bytes"));
  EXPECT_THAT(ran.err, Not(HasSubstr("internal error")));
  const auto record = load_record(program_.file("out/record.json"));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(ending_name(record->problems.front().kernels.front().ending), "refusal");
}

TEST_F(Plugins, TheHandbooksOwnConforms) {
  const std::string page = read_file(AssayProgram::source("docs/plugins.md")).value();
  const size_t begin = page.find("```c\n") + 5;
  const std::string code = page.substr(begin, page.find("```", begin) - begin);
  ASSERT_TRUE(write_file_atomic(program_.file("mine.c"), code));
  const auto built = testing::build_plugin(program_.file("mine.c"), program_.folder());
  ASSERT_TRUE(built) << built.error().message;
  const Finished checked = program_.run({"plugin", "check", "mine.so"});
  EXPECT_EQ(checked.code(), 0) << checked.out << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("verdict   conforms; 1 of 1 kernel was run"));
}

TEST_F(Plugins, ItsKernelsRunAsAnyOthers) {
  const std::string plugin = build("good.c");
  const Finished ran = run_kernel(plugin, "strided_unroll2_fast0", "out");
  ASSERT_EQ(ran.code(), 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("plugin/strided_unroll2_fast0"), HasSubstr("right")));
  const auto record = load_record(program_.file("out/record.json"));
  ASSERT_TRUE(record) << record.error().message;
  const KernelOutcome* kernel =
      testing::find_kernel(record->problems.front(), "strided_unroll2_fast0");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->provider, "plugin");
  EXPECT_EQ(kernel->artifact_facts.json()["sha256"], *sha256_of_file(program_.file(plugin)));
}

TEST_F(Plugins, OneRacesThePoolLikeAnyFileAndInAManifest) {
  const std::string plugin = build("good.c");
  const std::vector<std::string> rest = {"--shape",     "m=8,n=32,k=16,dtype=f32,layout=tt",
                                         "--provider",  "openblas",
                                         "--budget",    "1s",
                                         "--processes", "2"};
  std::vector<std::string> words = {"race", plugin};
  words.insert(words.end(), rest.begin(), rest.end());
  const Finished raced = program_.run(words);
  EXPECT_EQ(raced.code(), 0) << raced.out << raced.err;
  EXPECT_THAT(raced.out, AllOf(HasSubstr("3 right"), HasSubstr("openblas (1), yours"),
                               HasSubstr("the best stock kernel")));
  EXPECT_TRUE(std::filesystem::exists(program_.file("runs/0001-good/plugin_results.json")));

  ASSERT_TRUE(write_file_atomic(program_.file("kernels.yaml"),
                                "- {name: mine, provider: plugin, source: good.so, "
                                "entry: strided}\n"));
  words = {"sweep", "--kernels", "kernels.yaml", "--output-dir", "out"};
  words.insert(words.end(), rest.begin(), rest.end());
  const Finished swept = program_.run(words);
  EXPECT_EQ(swept.code(), 0) << swept.out << swept.err;
  const auto record = load_record(program_.file("out/record.json"));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_NE(testing::find_kernel(record->problems.front(), "strided_unroll1_fast0"), nullptr);
}

// It crashes when it is proven: an ending like any other kernel's.
TEST_F(Plugins, ACrashInALaunchIsAnEnding) {
  const std::string plugin = build("hostile.c", {"CASE_CRASHES_WHEN_LAUNCHED"});
  const Finished ran = run_kernel(plugin, "kernel", "out");
  EXPECT_EQ(ran.code(), 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("crashed while it was proven (SIGSEGV)"));
}

// Its code is not in the table: whoever loads that must be told which file to give.
TEST_F(Plugins, ATableNamesThePluginsThatItNeeds) {
  const std::string plugin = build("good.c");
  const Finished swept =
      program_.run({"sweep", "--plugin", plugin, "--shape", "m=4,n=32,k=16,dtype=f32,layout=tt",
                    "--filter", "provider == 'plugin'", "--output-dir", "out", "--budget", "1s",
                    "--processes", "2", "--save-table", "plug.assay"});
  ASSERT_EQ(swept.code(), 0) << swept.out << swept.err;
  const Finished shown = program_.run({"table", "show", "plug.assay"});
  EXPECT_EQ(shown.code(), 0) << shown.out << shown.err;
  // One kernel or both, by how the race went: where lines are broken is not what is asked here.
  EXPECT_THAT(
      testing::unbroken(shown.out),
      AllOf(HasSubstr("holds 1 shape of 1 kind"), HasSubstr("needs the plug-in 'good' of SHA-256"),
            HasSubstr("give it where the table is loaded"), ::testing::Not(HasSubstr("built in"))));
}

TEST_F(Plugins, KernelsShowsWhatOneBecame) {
  const std::string plugin = build("good.c");
  const Finished shown = program_.run({"kernels", "--kernels", plugin});
  EXPECT_EQ(shown.code(), 0) << shown.out << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("b f32 column-major prepared"),
                               HasSubstr("alpha and beta"), HasSubstr("3: strided_unroll1_fast0")));
  const Finished json = program_.run({"kernels", "--kernels", plugin, "--json"});
  const auto parsed = parse_json(json.out, "kernels");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ((*parsed)["entries"][0]["rule"], nullptr);
  EXPECT_EQ((*parsed)["entries"][0]["kernels"].size(), 3u);
}

TEST_F(Plugins, NamesAreLookedForAlongThePath) {
  std::filesystem::create_directories(program_.file("plugins"));
  std::filesystem::rename(program_.file(build("good.c")), program_.file("plugins/libgood.so"));
  const auto list = [&](std::vector<std::string> flags) {
    std::vector<std::string> words = {"kernels", "--provider", "reference"};
    words.insert(words.end(), flags.begin(), flags.end());
    return program_.run(words);
  };
  const Finished found = list({"--plugin", "good", "--plugin-path", "nowhere:plugins"});
  EXPECT_EQ(found.code(), 0) << found.err;
  EXPECT_THAT(found.out, HasSubstr("plugin/packed"));
  ASSERT_TRUE(write_file_atomic(program_.file("assay.yaml"),
                                "plugin-path: [plugins]\nplugin: good::strided\n"));
  const Finished configured = list({"--config", "assay.yaml"});
  EXPECT_EQ(configured.code(), 0) << configured.err;
  EXPECT_THAT(configured.out,
              AllOf(HasSubstr("plugin/strided_unroll1"), Not(HasSubstr("plugin/packed"))));
  const Finished inherited =
      program_.run({"kernels", "--provider", "reference", "--plugin", "libgood.so::packed"},
                   {"env", "ASSAY_PLUGIN_PATH=nowhere:plugins"});
  EXPECT_EQ(inherited.code(), 0) << inherited.err;
  EXPECT_THAT(inherited.out, HasSubstr("plugin/packed"));
  const Finished absent = list({"--plugin", "goood", "--plugin-path", "plugins"});
  EXPECT_EQ(absent.code(), 2);
  EXPECT_THAT(absent.err, HasSubstr("--plugin: there is no 'goood' in plugins"));
}

}  // namespace
}  // namespace assay
