// Requests as AIPerf, guidellm and vLLM's bench client send them, and what each of them makes of
// the answer: fields and order of the bodies are theirs, heads are those of their HTTP libraries.

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/serve/served.h"

namespace assay::serve_tests {
namespace {

std::string sent(std::string_view head, std::string_view body) {
  return fmt::format("{}Content-Length: {}\r\n\r\n{}", head, body.size(), body);
}

std::string stream_of(const Served& served, const std::string& request) {
  RawClient client = served.connect();
  client.send(request);
  const std::string answer = client.read_until("\r\n0\r\n\r\n");
  EXPECT_EQ(status_of(answer), 200) << answer;
  EXPECT_NE(answer.find("Content-Type: text/event-stream"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("Content-Encoding"), std::string::npos);
  return dechunked(body_of(answer));
}

std::vector<std::string> split_frames(std::string_view stream) {
  std::vector<std::string> frames;
  while (!stream.empty()) {
    const auto end = stream.find("\n\n");
    EXPECT_NE(end, std::string_view::npos) << stream;
    if (end == std::string_view::npos) break;
    frames.emplace_back(stream.substr(0, end));
    stream.remove_prefix(end + 2);
  }
  return frames;
}

// What all of them do with a frame; none for the end line.
std::optional<Json> json_of(const std::string& frame) {
  EXPECT_TRUE(frame.starts_with("data: ")) << frame;
  if (frame == "data: [DONE]") return std::nullopt;
  EXPECT_EQ(frame.find('\n'), std::string::npos) << frame;
  return Json::parse(frame.substr(6));
}

// vLLM's bench client: a chunk with choices is a token, whatever its text, and one without them is
// the usage, whose completion tokens are the length of the answer.
TEST(Clients, VllmBenchReadsTokensAndUsage) {
  Served served;
  const std::string head =
      "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n"
      "Content-Type: application/json\r\nx-request-id: bench-0\r\nAccept: */*\r\n"
      "Accept-Encoding: gzip, deflate\r\nUser-Agent: Python/3.12 aiohttp/3.12.15\r\n";
  const std::string stream = stream_of(
      served, sent(head, R"({"model": "mock", "messages": [{"role": "user", "content": [{"type": )"
                         R"("text", "text": "hello"}]}], "max_completion_tokens": 16, "stream": )"
                         R"(true, "stream_options": {"include_usage": true}, "ignore_eos": true, )"
                         R"("temperature": 0.0, "repetition_penalty": 1.0})"));
  int with_text = 0;
  Json usage;
  const auto frames = split_frames(stream);
  ASSERT_GT(frames.size(), 3U);
  EXPECT_EQ(frames.back(), "data: [DONE]");
  for (const std::string& frame : frames) {
    const auto chunk = json_of(frame);
    if (!chunk) continue;
    if (chunk->at("choices").empty())
      usage = chunk->at("usage");
    else if (!chunk->at("choices")[0]["delta"].value("content", "").empty())
      ++with_text;
  }
  EXPECT_EQ(usage["completion_tokens"], 16);
  EXPECT_GT(usage["prompt_tokens"], 0);
  EXPECT_GT(with_text, 0);
}

TEST(Clients, VllmBenchCompletions) {
  Served served;
  const std::string head =
      "POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nAccept: */*\r\n"
      "Accept-Encoding: gzip, deflate\r\nUser-Agent: Python/3.12 aiohttp/3.12.15\r\n"
      "Content-Type: application/json\r\n";
  const std::string stream = stream_of(
      served, sent(head, R"({"model": "mock", "prompt": "hello", "repetition_penalty": 1.0, )"
                         R"("max_tokens": 8, "logprobs": null, "stream": true, "stream_options": )"
                         R"({"include_usage": true}, "ignore_eos": true})"));
  const auto frames = split_frames(stream);
  EXPECT_EQ(json_of(frames[frames.size() - 2])->at("usage")["completion_tokens"], 8);
  EXPECT_EQ(json_of(frames[0])->at("object"), "text_completion");
}

// AIPerf knows an answer by its object, and its end by its bytes.
TEST(Clients, AiperfKnowsEveryObject) {
  Served served;
  const std::string head =
      "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:8100\r\n"
      "User-Agent: aiperf/1.0\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\n"
      "X-Request-ID: 5f4dcc3b-5aa7-65d6-1d83-27deb882cf99\r\nX-Correlation-ID: c0\r\n"
      "X-Session-Affinity: c0\r\nAccept-Encoding: gzip, deflate\r\n";
  const std::string body =
      R"({"messages":[{"role":"user","content":"hello"}],"model":"mock","stream":true,)"
      R"("max_completion_tokens":32,"ignore_eos":true,"stream_options":{"include_usage":true}})";
  const std::string stream = stream_of(served, sent(head, body));
  EXPECT_EQ(stream.find("event:"), std::string::npos);
  const auto frames = split_frames(stream);
  EXPECT_EQ(frames.back(), "data: [DONE]");
  for (std::size_t i = 0; i + 1 < frames.size(); ++i)
    EXPECT_EQ(json_of(frames[i])->at("object"), "chat.completion.chunk");
  EXPECT_EQ(json_of(frames[frames.size() - 2])->at("usage")["completion_tokens"], 32);
}

// guidellm asks for the health and the models first, and for usage in every chunk.
TEST(Clients, GuidellmReadsUsageOfEveryChunk) {
  Served served;
  const std::string common =
      "Host: 127.0.0.1:8100\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate\r\n"
      "Connection: keep-alive\r\nUser-Agent: python-httpx/0.28.1\r\n";
  EXPECT_EQ(status_of(served.ask("GET /health HTTP/1.1\r\n" + common + "\r\n")), 200);
  EXPECT_EQ(status_of(served.ask("GET /v1/models HTTP/1.1\r\n" + common + "\r\n")), 200);
  const std::string stream = stream_of(
      served,
      sent(
          "POST /v1/chat/completions HTTP/1.1\r\n" + common + "Content-Type: application/json\r\n",
          R"({"model":"mock","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],)"
          R"("stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true},)"
          R"("max_completion_tokens":12,"max_tokens":12,"stop":null,"ignore_eos":true})"));
  int last = 0;
  for (const std::string& frame : split_frames(stream)) {
    const auto chunk = json_of(frame);
    if (!chunk) continue;
    const int now = chunk->at("usage")["completion_tokens"];
    EXPECT_GE(now, last);
    last = now;
  }
  EXPECT_EQ(last, 12);
}

}  // namespace
}  // namespace assay::serve_tests
