// `assay serve` itself, over sockets: what clients rely on, and what peers that are broken or
// hostile get.

#include <csignal>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "testing/assay_program.h"
#include "tests/serve/raw_client.h"

namespace assay::serve_tests {
namespace {

using assay::testing::AssayProgram;
using assay::testing::Running;
using assay::testing::wait_until;

const std::string kStream =
    R"({"model":"mock","messages":[{"role":"user","content":"hi"}],"stream":true,)"
    R"("max_tokens":20,"ignore_eos":true,"seed":1,"stream_options":{"include_usage":true}})";
const std::string kWhole = R"({"messages":[{"role":"user","content":"hi"}],"max_tokens":4})";
constexpr std::string_view kChat = "/v1/chat/completions";

class Served {
 public:
  explicit Served(std::vector<std::string> more = {}, std::vector<std::string> wrapper = {})
      : running_(program_.start(words(std::move(more)), std::move(wrapper))) {
    EXPECT_TRUE(wait_until([&] {
      const auto text = read_file(program_.file("port"));
      port_ = text ? static_cast<std::uint16_t>(std::strtoul(text->c_str(), nullptr, 10)) : 0;
      return port_ != 0;
    })) << running_.errors_so_far();
  }

  RawClient connect() const { return RawClient(port_); }
  std::string ask(std::string_view bytes) const {
    RawClient client = connect();
    client.send(bytes);
    return client.read_answer();
  }
  std::string metric(std::string_view name) const {
    const std::string text = ask(get("/metrics"));
    const auto at = text.find(fmt::format("\n{}{{", name));
    const auto value = text.find("} ", at) + 2;
    return at == std::string::npos ? "" : text.substr(value, text.find('\n', value) - value);
  }
  std::string content(std::string_view name) const {
    return read_file(program_.file(name)).value_or("");
  }
  Running& running() { return running_; }
  std::uint16_t port() const { return port_; }

 private:
  static std::vector<std::string> words(std::vector<std::string> more) {
    std::vector<std::string> all = {"serve", "--port", "0", "--port-file", "port"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  AssayProgram program_;
  std::uint16_t port_ = 0;
  Running running_;
};

TEST(Serve, AnswersDrainsAndEnds) {
  Served served({"--mock-itl-ms", "250", "--log", "log"});
  EXPECT_EQ(body_of(served.ask(get("/health"))), R"({"status":"ok"})");
  EXPECT_EQ(Json::parse(body_of(served.ask(get("/v1/models"))))["data"][0]["id"], "mock");
  EXPECT_EQ(status_of(served.ask(get("/v1/models/mock?x=y"))), 200);
  EXPECT_EQ(status_of(served.ask(get("/v1/models/other"))), 404);
  RawClient streaming = served.connect();
  streaming.send(post(kChat, kStream, "X-Request-Id: mine\r\n"));
  std::string stream = streaming.read_until("\n\n");
  EXPECT_NE(stream.find("x-request-id: mine\r\n"), std::string::npos);
  served.running().signal(SIGTERM);
  EXPECT_TRUE(wait_until([&] { return status_of(served.ask(post(kChat, kWhole))) == 503; }));
  stream += streaming.read_all();
  const std::string text = dechunked(body_of(stream));
  EXPECT_TRUE(text.ends_with("data: [DONE]\n\n")) << text;
  EXPECT_NE(text.find(R"("completion_tokens":20)"), std::string::npos);
  EXPECT_EQ(served.running().wait().code(), 0);
  EXPECT_NE(served.content("log").find(R"("request_id":"mine")"), std::string::npos);
  EXPECT_EQ(served.content("log").find("messages"), std::string::npos);
}

TEST(Serve, ExchangesGoOverOneConnectionInOrder) {
  Served served;
  RawClient client = served.connect();
  std::string all;
  for (int i = 0; i < 20; ++i)
    all += post(kChat, kWhole, fmt::format("X-Request-Id: r{}\r\n", i)) + get("/ping");
  client.send(all);
  for (int i = 0; i < 20; ++i) {
    EXPECT_NE(client.read_answer().find(fmt::format("x-request-id: r{}\r\n", i)),
              std::string::npos);
    EXPECT_EQ(status_of(client.read_answer()), 200);
  }
}

// A proxy in front of us may see other borders of requests than we do: such a connection ends, and
// what was smuggled is never asked.
TEST(Serve, NothingIsSmuggled) {
  Served served({"--log", "log"});
  const std::string smuggled = get("/smuggled");
  const std::vector<std::string> attacks = {
      "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: "
      "chunked\r\n\r\n0\r\n\r\n",
      "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\n",
      "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n",
      "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n",
      "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n",
      "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\nX: ",
      "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nXX",
      "POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "GET /a HTTP/1.1\nHost: a\n\n",
      "GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
  };
  for (const std::string& attack : attacks) {
    RawClient client = served.connect();
    client.send(attack + smuggled);
    const std::string answers = client.read_all();
    EXPECT_GE(status_of(answers), 400) << attack;
    EXPECT_EQ(answers.find("HTTP/1.1 ", 9), std::string::npos) << attack << answers;
  }
  EXPECT_EQ(served.content("log").find("/smuggled"), std::string::npos);
  EXPECT_EQ(status_of(served.ask(get("/health"))), 200);
}

TEST(Serve, RefusesWhatIsNoRequest) {
  Served served({"--max-body", "1"});
  const auto answer = [&](std::string_view body) {
    return status_of(served.ask(post(kChat, body)));
  };
  EXPECT_EQ(answer("{"), 400);
  EXPECT_EQ(answer("[]"), 400);
  EXPECT_EQ(answer("\xff\xfe"), 400);
  EXPECT_EQ(answer(R"({"messages":[],"messages":[]})"), 400);
  EXPECT_EQ(answer(std::string(5000, '[')), 400);
  EXPECT_EQ(
      answer(R"({"messages":[{"role":"user","content":")" + std::string(2 << 20, 'a') + "\"}]}"),
      413);
  RawClient huge = served.connect();  // Its body is never read.
  huge.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1073741824\r\n\r\nabc");
  EXPECT_EQ(status_of(huge.read_all()), 413);
  RawClient heads = served.connect();
  heads.send("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(100000, 'x'));
  EXPECT_EQ(status_of(heads.read_all()), 431);
  RawClient expects = served.connect();
  expects.send(
      "POST /tokenize HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 15\r\n\r\n");
  EXPECT_EQ(expects.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  expects.send(R"({"prompt":"hi"})");
  EXPECT_EQ(status_of(expects.read_answer()), 200);
}

TEST(Serve, StreamsToOldClientsUntilTheConnectionEnds) {
  Served served;
  RawClient client = served.connect();
  client.send(fmt::format("POST {} HTTP/1.0\r\nContent-Length: {}\r\n\r\n{}", kChat, kStream.size(),
                          kStream));
  const std::string answer = client.read_all();
  EXPECT_EQ(answer.find("chunked"), std::string::npos);
  EXPECT_TRUE(body_of(answer).starts_with("data: {"));
  EXPECT_TRUE(answer.ends_with("data: [DONE]\n\n"));
}

TEST(Serve, APeerThatLeavesFreesItsSlot) {
  Served served(
      {"--mock-slots", "1", "--mock-ttft-ms", "1", "--mock-itl-ms", "20", "--stamps", "s"});
  const std::string endless =
      R"({"messages":[{"role":"user","content":"hi"}],"stream":true,"max_tokens":30000,"ignore_eos":true})";
  for (const bool politely : {false, true}) {
    RawClient client = served.connect();
    client.send(post(kChat, endless));
    EXPECT_NE(client.read_until("\"content\":\" ").size(), 0u);
    EXPECT_EQ(served.metric("vllm:num_requests_running"), "1");
    if (politely) client.finish();
    if (!politely) client.reset();
    if (politely) client = RawClient(served.port());  // Closed: its first token brings the RST.
    EXPECT_TRUE(wait_until([&] { return served.metric("vllm:num_requests_running") == "0"; }));
  }
  EXPECT_NE(served.content("s").find(R"("ending":"gone")"), std::string::npos);
}

TEST(Serve, AClientThatSaidAllIsStillAnswered) {
  Served served({"--mock-itl-ms", "5"});
  RawClient client = served.connect();
  client.send(post(kChat, kStream));
  client.finish();
  EXPECT_TRUE(dechunked(body_of(client.read_all())).ends_with("data: [DONE]\n\n"));
}

TEST(Serve, AStreamEndsWhereverItsPeerLeaves) {
  Served served;
  RawClient whole = served.connect();
  whole.send(post(kChat, kStream));
  const std::size_t size = whole.read_until("\r\n0\r\n\r\n").size();
  for (std::size_t bytes = 1; bytes < size; bytes += 97) {
    RawClient client = served.connect();
    client.send(post(kChat, kStream).substr(0, std::min(bytes, post(kChat, kStream).size())));
    if (bytes >= post(kChat, kStream).size()) client.read_until("data: ");
    client.reset();
  }
  EXPECT_TRUE(wait_until([&] { return served.metric("vllm:num_requests_running") == "0"; }));
  EXPECT_EQ(status_of(served.ask(get("/health"))), 200);
}

TEST(Serve, AReaderThatIsSlowGetsEverythingInTheEnd) {
  Served served;
  const std::string long_one =
      R"({"messages":[{"role":"user","content":"hi"}],"stream":true,"max_tokens":30000,"ignore_eos":true})";
  RawClient client = served.connect();
  client.send(post(kChat, long_one));
  client.read_until("data: ");
  // It reads nothing; others are served meanwhile.
  for (int i = 0; i < 20; ++i) EXPECT_EQ(status_of(served.ask(post(kChat, kWhole))), 200);
  EXPECT_EQ(served.metric("vllm:num_requests_running"), "1");
  const std::string stream = client.read_until("\r\n0\r\n\r\n");
  EXPECT_NE(stream.find("data: [DONE]\n\n"), std::string::npos);
}

TEST(Serve, MoreConnectionsThanItTakesAreToldSo) {
  Served served({"--connections", "8"});
  std::vector<RawClient> idle;
  for (int i = 0; i < 8; ++i) idle.push_back(served.connect());
  idle.front().send(get("/ping"));
  EXPECT_EQ(status_of(idle.front().read_answer()), 200);
  RawClient late = served.connect();
  EXPECT_EQ(status_of(late.read_all()), 503);
  idle.clear();
  EXPECT_TRUE(wait_until([&] { return status_of(served.ask(get("/health"))) == 200; }));
}

TEST(Serve, LivesWithFewDescriptors) {
  Served served({}, {"sh", "-c", "ulimit -n 256; exec \"$@\"", "sh"});
  std::vector<RawClient> clients;
  for (int i = 0; i < 300; ++i) clients.push_back(served.connect());
  clients.clear();
  EXPECT_TRUE(wait_until([&] { return status_of(served.ask(get("/health"))) == 200; }));
}

TEST(Serve, TheKeyIsNeededAndNeverShown) {
  AssayProgram program;
  ASSERT_TRUE(write_file_atomic(program.file("key"), "secret\n").has_value());
  const auto refused = program.run({"serve", "--host", "0.0.0.0"});
  EXPECT_EQ(refused.code(), 2);
  EXPECT_NE(refused.err.find("there is no key"), std::string::npos) << refused.err;
  Served served({"--api-key-file", program.file("key")});
  EXPECT_EQ(status_of(served.ask(post(kChat, kWhole))), 401);
  EXPECT_EQ(status_of(served.ask(get("/health"))), 200);
  EXPECT_EQ(status_of(served.ask(post(kChat, kWhole, "Authorization: Bearer secret\r\n"))), 200);
}

TEST(Serve, SaysWhatIsWrongWithItsFlags) {
  AssayProgram program;
  EXPECT_EQ(program.run({"serve", "--mock-ttft-ms", "soon"}).code(), 2);
  EXPECT_EQ(program.run({"serve", "--host", "nowhere.example"}).code(), 2);
  EXPECT_EQ(program.run({"serve", "--mock-error-rate", "0.6", "--mock-stall-rate", "0.6"}).code(),
            2);
  Served served;
  EXPECT_EQ(program.run({"serve", "--port", std::to_string(served.port())}).code(), 5);
}

}  // namespace
}  // namespace assay::serve_tests
