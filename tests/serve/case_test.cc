// What a stamped case serves: its own backend, whose tokens cost what its kernels cost.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "assay/base/subprocess.h"
#include "tests/serve/served.h"

namespace assay::serve_tests {
namespace {

using assay::testing::AssayProgram;
using assay::testing::wait_until;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kCase = "lab/cases/one/first";

// A lab with a case of a small model, made by the program alone.
class ServeCase : public ::testing::Test {
 protected:
  void SetUp() override {
    run({"lab", "init", "lab"});
    run({"lab", "new", "--model-slug", "one", "--case-slug", "first", "--model-name", "small",
         "--model-path", "model", "--hardware", "here"},
        {"sh", "-c", "cd lab && exec \"$@\"", "sh"});
    std::filesystem::create_directories(program_.file("lab/model"));
    write("lab/model/config.json",
          R"({"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4,)"
          R"( "intermediate_size": 512, "vocab_size": 1024})");
  }

  void run(std::vector<std::string> words, std::vector<std::string> wrapper = {}) {
    const auto finished = program_.run(std::move(words), std::move(wrapper));
    ASSERT_EQ(finished.code(), 0) << finished.err;
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(program_.file(name)) << text;
  }
  void replace(const std::string& name, const std::string& what, const std::string& by) {
    std::string text = *read_file(program_.file(name));
    const auto at = text.find(what);
    ASSERT_NE(at, std::string::npos) << name;
    write(name, text.replace(at, what.size(), by));
  }
  void build() {
    SubprocessOptions options;
    options.argv = {program_.file(std::string(kCase) + "/workspace/scripts/build.sh")};
    options.env = {std::string("PATH=") + std::getenv("PATH"), "CXXFLAGS=-O2"};
    const auto built = run_command(options, {});
    ASSERT_TRUE(built && built->status.success()) << (built ? built->err : "");
  }

  testing::Running serve() {
    return program_.start({"serve", "--case", kCase, "--port", "0", "--port-file", "port"});
  }
  std::uint16_t port_of(const testing::Running& running) {
    std::uint16_t port = 0;
    EXPECT_TRUE(wait_until([&] {
      const auto text = read_file(program_.file("port"));
      port = text ? static_cast<std::uint16_t>(std::strtoul(text->c_str(), nullptr, 10)) : 0;
      if (port == 0) return false;
      RawClient client(port);
      client.send(get("/health"));
      return status_of(client.read_answer()) == 200;
    })) << running.errors_so_far();
    return port;
  }

  // CPU seconds of the child, which others on the machine cannot lengthen, for so many tokens.
  double cpu_seconds(int tokens) {
    std::filesystem::remove(program_.file("port"));
    testing::Running running = serve();
    const std::uint16_t port = port_of(running);
    const double before = cpu_of_backend();
    RawClient client(port);
    const Json body = {{"prompt", "hi"}, {"max_tokens", tokens}, {"ignore_eos", true}};
    client.send(post("/v1/completions", body.dump()));
    const std::string answer = client.read_answer();
    EXPECT_EQ(status_of(answer), 200) << answer;
    EXPECT_EQ(Json::parse(body_of(answer))["usage"]["completion_tokens"], tokens);
    const double used = cpu_of_backend() - before;
    running.signal(SIGTERM);
    EXPECT_EQ(running.wait().code(), 0);
    return used;
  }

  // Of the child that has loaded this case's backend: not its supervisor.
  double cpu_of_backend() {
    double seconds = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const auto pid = static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
      const std::string words = pid > 0 ? read_proc(pid, "cmdline") : "";
      if (words.find(std::string("\0backend\0", 9)) == std::string::npos ||
          words.find(std::string("\0supervise\0", 11)) != std::string::npos ||
          words.find(program_.folder()) == std::string::npos)
        continue;
      const std::string stat = read_proc(pid, "stat");
      std::istringstream fields(stat.substr(stat.rfind(')') + 2));
      std::string field;
      double ticks = 0;
      for (int i = 0; i < 13 && fields >> field; ++i)
        if (i >= 11) ticks += std::strtod(field.c_str(), nullptr);
      seconds += ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
    }
    return seconds;
  }
  static std::string read_proc(pid_t pid, const char* name) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  AssayProgram program_;
};

TEST_F(ServeCase, AnswersFromTheTemplateAlone) {
  build();
  testing::Running running = serve();
  const std::uint16_t port = port_of(running);
  RawClient client(port);
  client.send(get("/v1/models"));
  EXPECT_EQ(Json::parse(body_of(client.read_answer()))["data"][0]["id"], "small");
  client.send(get("/version"));
  EXPECT_EQ(Json::parse(body_of(client.read_answer()))["backend"], "gemms");
  client.send(post(kChat, R"({"messages":[{"role":"user","content":"hi"}],"max_tokens":5})"));
  const std::string answer = client.read_answer();
  EXPECT_EQ(status_of(answer), 200) << answer;
  running.signal(SIGTERM);
  EXPECT_EQ(running.wait().code(), 0);
}

// The user has the program alone, and starts what stands in the lab and in the case.
TEST_F(ServeCase, ScriptsOfTheLabAndOfTheCaseServeIt) {
  const std::string as_script = "export ASSAY=\"$0\"; shift; exec ";
  const std::string custom = std::string(kCase) + "/workspace/serve_custom_backend.py";
  for (const std::string& command :
       {custom + " \"$@\"", "lab/scripts/serve_case.sh --case " + std::string(kCase) + " \"$@\""}) {
    std::filesystem::remove(program_.file("port"));
    testing::Running running = program_.start({"serve", "--port", "0", "--port-file", "port"},
                                              {"sh", "-c", as_script + command});
    RawClient client(port_of(running));
    client.send(get("/version"));
    EXPECT_EQ(Json::parse(body_of(client.read_answer()))["backend"], "gemms") << command;
    running.signal(SIGTERM);
    EXPECT_EQ(running.wait().code(), 0) << command;
  }
}

TEST_F(ServeCase, AKernelThatIsSlowerCostsTheTokensThatMuch) {
  build();
  constexpr int kTokens = 500;
  const double before = cpu_seconds(kTokens);
  // Its sums twice over: the compiler cannot leave one out, since both are used.
  const std::string folder = std::string(kCase) + "/workspace/";
  write(
      folder + "ops/cpp/twice.cc",
      "#include <cstdint>\n"
      "void gemm(const float*, const float*, float*, int64_t, int64_t, int64_t);\n"
      "void twice(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {\n"
      "  gemm(a, b, out, m, n, k);\n"
      "  gemm(a, b, out, m, n, k);\n"
      "}\n");
  replace(folder + "backend/hooks.cc", "{\"cpp_gemm\", gemm},",
          "{\"cpp_gemm\", gemm}, {\"twice\", twice},");
  replace(folder + "backend/hooks.cc", "void gemm(",
          "void twice(const float*, const float*, float*, int64_t, int64_t, int64_t);\nvoid gemm(");
  build();
  const double same = cpu_seconds(kTokens);  // The hook is what env.defaults names.
  replace(folder + "backend/env.defaults", "HOOK_GEMM=cpp_gemm", "HOOK_GEMM=twice");
  const double after = cpu_seconds(kTokens);
  EXPECT_GT(before, 0.2);
  EXPECT_GT(after, 1.5 * before);
  EXPECT_GT(after, 1.5 * same);
}

TEST_F(ServeCase, SaysWhatIsMissing) {
  const auto unbuilt = program_.run({"serve", "--case", kCase});
  EXPECT_EQ(unbuilt.code(), 2);
  EXPECT_THAT(testing::unbroken(unbuilt.err), HasSubstr("workspace/scripts/build.sh"));
  build();
  replace(std::string(kCase) + "/workspace/backend/env.defaults", "cpp_gemm", "nosuch");
  const auto no_hook = program_.run({"serve", "--case", kCase, "--port", "0"});
  EXPECT_EQ(no_hook.code(), 5);
  EXPECT_THAT(testing::unbroken(no_hook.err), HasSubstr("HOOK_GEMM"));
  std::filesystem::remove(program_.file("lab/model/config.json"));
  const auto no_model = program_.run({"serve", "--case", kCase, "--port", "0"});
  EXPECT_EQ(no_model.code(), 2);
  EXPECT_THAT(testing::unbroken(no_model.err), HasSubstr("the case's model is not there"));
  EXPECT_THAT(no_model.err, Not(HasSubstr("serving")));
  replace(std::string(kCase) + "/case.yaml", "backend: plugin", "backend: magic");
  const auto wrong = program_.run({"serve", "--case", kCase});
  EXPECT_EQ(wrong.code(), 2);
  EXPECT_THAT(testing::unbroken(wrong.err),
              HasSubstr("'magic' is none of mock, process and plugin"));
}

}  // namespace
}  // namespace assay::serve_tests
