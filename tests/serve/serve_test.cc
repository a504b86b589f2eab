// `assay serve` itself, over sockets: what clients rely on, and what peers that are broken or
// hostile get.

#include <csignal>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "assay/base/subprocess.h"
#include "tests/serve/served.h"

namespace assay::serve_tests {
namespace {

using assay::testing::AssayProgram;
using assay::testing::wait_until;

// Files that outlive the server of a test.
std::string kept_file(const std::string& name, const std::string& text) {
  static const TemporaryDirectory folder = *TemporaryDirectory::create();
  EXPECT_TRUE(write_file_atomic(folder.file(name), text));
  return folder.file(name);
}
std::string key_file() { return kept_file("key", "secret\n"); }
std::string large_body() {
  return kept_file("large", R"({"prompt":")" + std::string(2 << 20, 'a') + "\"}");
}

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

// Cut into two writes at every byte, a pair of requests is answered as it is whole, or its first is
// refused and its second never asked.
TEST(Serve, PairsThatAreCutAnywhereAreReadTheSame) {
  Served served;
  const std::string good = post("/tokenize", R"({"prompt":"hi"})") + get("/ping");
  const std::string chunked =
      "POST /tokenize HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n8;x=y\r\n{\"prompt\r\n7\r\n\":\"hi\"}\r\n0\r\n\r\n" +
      get("/ping");
  const std::string both =
      "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n"
      "0\r\n\r\n" +
      get("/ping");
  const std::string bare =
      "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\nx\r\n0\r\n\r\n" +
      get("/ping");
  for (const auto& [pair, first, second] :
       {std::tuple(&good, 200, 200), {&chunked, 200, 200}, {&both, 400, 0}, {&bare, 400, 0}}) {
    for (std::size_t cut = 0; cut < pair->size(); ++cut) {
      RawClient client = served.connect();
      client.send(std::string_view(*pair).substr(0, cut));
      client.send(std::string_view(*pair).substr(cut));
      EXPECT_EQ(status_of(client.read_answer()), first) << cut << *pair;
      EXPECT_EQ(status_of(client.read_answer()), second) << cut << *pair;
    }
  }
}

// What ends a line would begin a header of the attacker's in whatever is echoed.
TEST(Serve, NothingThatIsEchoedEndsALine) {
  Served served({"--log", "log"});
  for (const std::string_view bad : {"a\rb", "a\nb", "a\r\nX-Evil: 1\r\nb", "a\"b", "\x01"}) {
    RawClient client = served.connect();
    client.send(fmt::format("GET /ping HTTP/1.1\r\nHost: a\r\nX-Request-Id: {}\r\n\r\n", bad));
    const std::string head = client.read_until("\r\n\r\n");
    EXPECT_EQ(head.find("X-Evil: 1"), std::string::npos) << head;
    EXPECT_EQ(head.find(bad), std::string::npos) << head;
  }
  const std::string named = served.ask(get("/v1/models/a%0d%0aX-Evil:%201"));
  EXPECT_EQ(status_of(named), 404);
  EXPECT_EQ(named.find("\r\nX-Evil"), std::string::npos);
  EXPECT_EQ(served.content("log").find("X-Evil: 1\n"), std::string::npos);
}

TEST(Serve, WhoSendsTooSlowlyIsCutOff) {
  Served served({"--head-timeout", "0.3", "--body-timeout", "0.3", "--idle-timeout", "0.3"});
  RawClient head = served.connect();
  head.send("GET /ping HTTP/1.1\r\nHost:");
  EXPECT_EQ(status_of(head.read_all()), 408);
  RawClient body = served.connect();
  body.send("POST /tokenize HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{");
  EXPECT_EQ(status_of(body.read_all()), 408);
  RawClient idle = served.connect();
  EXPECT_EQ(idle.read_all(), "");
  EXPECT_TRUE(idle.closed_by_peer());
}

TEST(Serve, CurlReadsWholeAnswersAndStreams) {
  Served served({"--api-key-file", key_file()});
  const auto curl = [&](std::vector<std::string> words) {
    SubprocessOptions options;
    options.argv = {"curl", "--silent", "--show-error", "--max-time", "100"};
    options.argv.insert(options.argv.end(), words.begin(), words.end());
    const auto output = run_command(options, {});
    return output ? output->out + output->err : output.error().message;
  };
  const std::string base = fmt::format("http://127.0.0.1:{}", served.port());
  if (curl({"--version"}).find("libcurl") == std::string::npos) GTEST_SKIP() << "there is no curl";
  EXPECT_EQ(curl({base + "/health"}), R"({"status":"ok"})");
  EXPECT_NE(curl({base + "/v1/models"}).find("invalid_api_key"), std::string::npos);
  const std::vector<std::string> with_key = {"-H", "Authorization: Bearer secret", "-H",
                                             "Content-Type: application/json"};
  std::vector<std::string> stream = with_key;
  stream.insert(stream.end(), {"-N", base + std::string(kChat), "-d", kStream});
  const std::string text = curl(stream);
  EXPECT_TRUE(text.starts_with("data: {")) << text;
  EXPECT_TRUE(text.ends_with("data: [DONE]\n\n")) << text;
  std::vector<std::string> head = with_key;
  head.insert(head.end(), {"--head", base + "/v1/models"});
  EXPECT_NE(curl(head).find("HTTP/1.1 200 OK"), std::string::npos);
  std::vector<std::string> large = with_key;  // Above 1 MiB curl waits for 100 Continue.
  large.insert(large.end(), {base + "/tokenize", "-d", "@" + large_body()});
  EXPECT_TRUE(curl(large).starts_with(R"({"tokens":[97,97,97,)"));
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
  EXPECT_TRUE(wait_until(
      [&] { return served.content("s").find(R"("ending":"gone")") != std::string::npos; }));
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
  const std::string asked = post(
      kChat,
      R"({"messages":[{"role":"user","content":"hi"}],"stream":true,"max_tokens":2,"seed":1})");
  RawClient whole = served.connect();
  whole.send(asked);
  const std::size_t size = whole.read_until("\r\n0\r\n\r\n").size();
  EXPECT_GT(size, 500u);
  for (std::size_t bytes = 0; bytes < asked.size() + size; ++bytes) {
    RawClient client = served.connect();
    client.send(std::string_view(asked).substr(0, bytes));
    if (bytes > asked.size())
      EXPECT_EQ(client.read_bytes(bytes - asked.size()), bytes - asked.size());
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
