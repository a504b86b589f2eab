// `assay lab hillclimb --confine`: what an agent can reach, tried by an agent.

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/assay_program.h"

namespace assay::lab_tests {
namespace {

using testing::AssayProgram;
using testing::Finished;
using ::testing::HasSubstr;

class ConfineTest : public ::testing::Test {
 protected:
  ConfineTest() {
    write("lab.yaml", "schema: assay.lab/1\n");
    write("cases/toy/case/case.yaml",
          "schema: assay.case/1\nmodel: {name: t, path: m}\nhardware: {name: h}\n"
          "benchmarks: [benchmarks/run.yaml]\n"
          "objective: {metric: run.time_us, direction: minimize}\n"
          "fixed: [benchmarks/**]\nconfirm: {looks: [6], budget_s: 600}\n");
    write("cases/toy/case/benchmarks/run.yaml",
          "schema: assay.benchmark/1\nname: run\nkind: shell_json\n"
          "command: [sh, benchmarks/run.sh]\n");
    write("cases/toy/case/benchmarks/run.sh",
          "echo \"{\\\"time_us\\\": $(cat workspace/time)}\"\n");
    write("cases/toy/case/workspace/time", "100\n");
  }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = program_.file(name);
    std::filesystem::create_directories(path.parent_path());
    ASSERT_TRUE(write_file_atomic(path.string(), text));
  }
  Finished climb(std::vector<std::string> wrapper = {}) const {
    return program_.run({"lab", "hillclimb", "--confine", "--case", "cases/toy/case",
                         "--iterations", "1", "--", "sh", program_.file("agent.sh")},
                        std::move(wrapper));
  }
  AssayProgram program_;
};

TEST_F(ConfineTest, OnlyItsOwnCopyCanBeWritten) {
  // Each line of the report is something that an agent must not be able to do.
  write("agent.sh",
        "out=\"$ASSAY_WORKSPACE/report\"; : > \"$out\"\n"
        "touch \"$HERE/outside\" 2>/dev/null && echo outside >> \"$out\"\n"
        "ls -A \"$HERE/cases/toy/case\" | grep -q . && echo case >> \"$out\"\n"
        "kill -0 $WHO 2>/dev/null && echo signal >> \"$out\"\n"
        "echo 50 > workspace/time; touch \"$TMPDIR/scratch\" || exit 4\n"
        "echo '{description: confined}' > \"$ASSAY_ATTEMPT\"\n");
  write("agent.sh", "HERE=" + program_.folder() + "; WHO=" + std::to_string(::getpid()) + "\n" +
                        read_file(program_.file("agent.sh")).value());
  const Finished climbed = climb();
  if (climbed.code() == 4) {
    EXPECT_THAT(testing::unbroken(climbed.err), HasSubstr("--confine: "));
    GTEST_SKIP() << climbed.err;
  }
  EXPECT_EQ(climbed.code(), 0) << climbed.err;
  EXPECT_THAT(climbed.out, HasSubstr("1 turn, 1 kept")) << climbed.err;
  EXPECT_FALSE(std::filesystem::exists(program_.file("outside")));
  program_.run({"lab", "apply", "2", "--case", "cases/toy/case"});
  EXPECT_EQ(read_file(program_.file("cases/toy/case/workspace/report")).value_or("none"), "");
}

// Where it cannot be had, nothing runs without it.
TEST_F(ConfineTest, NeverSilentlyUnconfined) {
  write("agent.sh", "touch " + program_.file("ran") + "\n");
  std::filesystem::create_directories(program_.file("bin"));
  const Finished climbed = climb({"env", "PATH=" + program_.file("bin")});
  EXPECT_EQ(climbed.code(), 4) << climbed.out;
  EXPECT_THAT(testing::unbroken(climbed.err), HasSubstr("bwrap is not installed"));
  EXPECT_FALSE(std::filesystem::exists(program_.file("ran")));
}

}  // namespace
}  // namespace assay::lab_tests
