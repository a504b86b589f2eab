// All that an attempt starts sees the one GPU that its command chose.

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/assay_program.h"

namespace assay {
namespace {

using ::testing::AllOf;
using testing::AssayProgram;
using ::testing::ElementsAre;
using testing::Finished;
using ::testing::HasSubstr;

// Of testing/fake_cuda: the second of two.
constexpr const char* kSecond = "GPU-0a0b0c0d-0e0f-1011-1213-141516171819";

class LabOnAGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    namespace fs = std::filesystem;
    fs::create_directory(assay_.file("driver"));
    const auto tests = fs::read_symlink("/proc/self/exe").parent_path();
    fs::create_symlink(tests / "libfake_cuda.so", assay_.file("driver/libcuda.so.1"));
    write("driver/fake_cuda.txt", "gpus=2");
    ASSERT_EQ(run({"lab", "init"}).code(), 0);
    ASSERT_EQ(run({"lab", "new", "--model-slug", "toy", "--case-slug", "one", "--model-name", "t",
                   "--model-path", "m", "--hardware", "h"})
                  .code(),
              0);
    const std::string log = assay_.file("seen");
    // Says who it is and which GPUs it sees, and does what its other words say.
    program("say", "echo \"$1 $CUDA_VISIBLE_DEVICES\" >> " + log + "\nshift\nexec \"$@\"\n");
    fs::create_directory(assay_.file("bin"));
    program("bin/nsys",
            "case $1 in\n"
            "profile) echo \"profile $CUDA_VISIBLE_DEVICES\" >> " +
                log +
                " ;;\n"
                "esac\n");
    const std::string say = assay_.file("say");
    write("cases/toy/one/case.yaml",
          "schema: assay.case/1\n"
          "model: {name: t, path: m}\n"
          "hardware: {name: h, device: " +
              std::string(kSecond) +
              ", require: true}\n"
              "benchmarks: [benchmarks/run.yaml]\n"
              "objective: {metric: run.time_us, direction: minimize}\n"
              "fixed: [benchmarks/**]\n"
              "commands: {setup: [" +
              say + ", setup, 'true'], build: [" + say +
              ", build, 'true'], "
              "tests: [" +
              say +
              ", tests, 'true']}\n"
              "server: {backend: process, command: [" +
              say +
              ", serve, 'false'], ready_timeout_s: 5}\n"
              "confirm: {looks: [6], budget_s: 600}\n");
    write("cases/toy/one/benchmarks/run.yaml",
          "schema: assay.benchmark/1\n"
          "name: run\n"
          "kind: shell_json\n"
          "command: [" +
              say + ", benchmark, echo, '{\"time_us\": 5}']\n");
  }

  void write(const std::string& name, const std::string& text) const {
    const Status written = write_file_atomic(assay_.file(name), text);
    ASSERT_TRUE(written) << written.error().message;
  }
  void program(const std::string& name, const std::string& text) const {
    write(name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(assay_.file(name), std::filesystem::perms::owner_all);
  }
  Finished run(std::vector<std::string> words) const {
    words.insert(words.begin(), {"--device", "1"});
    return assay_.run(std::move(words), {"env", "LD_LIBRARY_PATH=" + assay_.file("driver"),
                                         "PATH=" + assay_.file("bin") + ":/usr/bin:/bin"});
  }
  // What was seen, each once.
  std::set<std::string> seen() const {
    std::istringstream in(read_file(assay_.file("seen")).value_or(""));
    std::set<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.insert(line);
    return lines;
  }

  AssayProgram assay_;
};

TEST_F(LabOnAGpu, EveryStageAndTheServerSeeTheChosenGpuAlone) {
  const std::string one = assay_.file("cases/toy/one");
  const Finished eval =
      run({"lab", "eval", "--case", one, "--description", "baseline", "--profile"});
  ASSERT_EQ(eval.code(), 0) << eval.out << eval.err;
  EXPECT_NE(run({"lab", "serve", "--case", one, "--port", "0"}).code(), 0);
  const std::string gpu = std::string(" ") + kSecond;
  EXPECT_THAT(seen(), ElementsAre("benchmark" + gpu, "build" + gpu, "profile" + gpu, "serve" + gpu,
                                  "setup" + gpu, "tests" + gpu));
}

TEST_F(LabOnAGpu, ACaseOfAnotherGpuIsRefused) {
  const Finished eval = assay_.run({"--device", "0", "lab", "eval", "--case",
                                    assay_.file("cases/toy/one"), "--description", "x"},
                                   {"env", "LD_LIBRARY_PATH=" + assay_.file("driver")});
  EXPECT_EQ(eval.code(), 2);
  EXPECT_THAT(eval.err, HasSubstr(kSecond));
  EXPECT_TRUE(seen().empty());
}

}  // namespace
}  // namespace assay
