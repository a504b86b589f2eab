// Requests as AIPerf, guidellm and vLLM's bench client sent them (recorded/, by
// tests/clients/run.py
// --record), byte for byte, and what each of them makes of the answer: the rules are theirs.

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "tests/serve/served.h"

namespace assay::serve_tests {
namespace {

std::string recorded(std::string_view name) {
  const auto text =
      read_file(testing::AssayProgram::source(fmt::format("tests/serve/recorded/{}.http", name)));
  EXPECT_TRUE(text) << name;
  return text.value_or("");
}

std::string stream_of(const Served& served, std::string_view name) {
  RawClient client = served.connect();
  client.send(recorded(name));
  const std::string answer = client.read_until("\r\n0\r\n\r\n");
  EXPECT_EQ(status_of(answer), 200) << answer;
  EXPECT_NE(answer.find("Content-Type: text/event-stream"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("Content-Encoding"), std::string::npos);
  return dechunked(body_of(answer));
}

// All of them look for LF LF.
std::vector<std::string> messages_of(std::string_view stream) {
  std::vector<std::string> messages;
  while (!stream.empty()) {
    const auto end = stream.find("\n\n");
    EXPECT_NE(end, std::string_view::npos) << stream;
    if (end == std::string_view::npos) break;
    messages.emplace_back(stream.substr(0, end));
    stream.remove_prefix(end + 2);
  }
  return messages;
}

// What a client read.
struct Read {
  int tokens = 0;  // Chunks that it takes for tokens.
  bool ended = false;
  Json usage;
};

// vLLM's endpoint_request_func.py: a comment is skipped, "data: " is cut off and the rest compared
// with "[DONE]". A chat's chunk is a token if its delta has content, or an empty one and no role;
// else its usage counts.
bool is_vllm_token(const Json& choice) {
  if (choice.contains("text")) return true;
  const Json& delta = choice.at("delta");
  return !delta.value("content", "").empty() ||
         (delta.contains("content") && !delta.contains("role"));
}

Read read_as_vllm(std::string_view stream) {
  Read read;
  for (const std::string& message : messages_of(stream)) {
    EXPECT_FALSE(read.ended) << message;
    if (message.starts_with(':')) continue;
    const std::string chunk = message.starts_with("data: ") ? message.substr(6) : message;
    if (chunk == "[DONE]") {
      read.ended = true;
      continue;
    }
    const Json json = Json::parse(chunk);
    if (!json.at("choices").empty() && is_vllm_token(json["choices"][0]))
      ++read.tokens;
    else if (!json["usage"].is_null())
      read.usage = json["usage"];
  }
  return read;
}

TEST(Clients, VllmBenchReadsTokensAndUsage) {
  Served served;
  for (const char* place : {"vllm_v1_chat_completions", "vllm_v1_completions"}) {
    SCOPED_TRACE(place);
    const Read read = read_as_vllm(stream_of(served, place));
    EXPECT_TRUE(read.ended);
    EXPECT_EQ(read.usage["completion_tokens"], 8);
    EXPECT_GT(read.usage["prompt_tokens"], 0);
    // A character of several tokens comes in one chunk; the last chunk of a completion is empty.
    EXPECT_GT(read.tokens, 1);
    EXPECT_LE(read.tokens, 9);
  }
}

// AIPerf: each line of a message is a field; a message of `event: error` is an error. A chunk
// counts if its object is known and its first choice's delta holds something.
Read read_as_aiperf(std::string_view stream) {
  Read read;
  for (const std::string& message : messages_of(stream)) {
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_TRUE(message.starts_with("data:")) << message;
    const std::string_view value = trim(std::string_view(message).substr(5));
    if (value == "[DONE]") {
      read.ended = true;
      continue;
    }
    const Json json = Json::parse(value);
    EXPECT_EQ(json.at("object"), "chat.completion.chunk");
    if (!json["usage"].is_null()) read.usage = json["usage"];
    if (json["choices"].empty()) continue;
    const Json& delta = json["choices"][0].at("delta");
    read.tokens += !delta.value("content", "").empty();
  }
  return read;
}

TEST(Clients, AiperfReadsTokensAndUsage) {
  Served served;
  const Read read = read_as_aiperf(stream_of(served, "aiperf_v1_chat_completions"));
  EXPECT_TRUE(read.ended);
  EXPECT_EQ(read.usage["completion_tokens"], 8);
  EXPECT_GT(read.tokens, 1);
}

// AIPerf's own id comes back: it joins its records with the server's stamps.
TEST(Clients, AiperfFindsItsRequestIdAgain) {
  Served served;
  const std::string request = recorded("aiperf_v1_chat_completions");
  const auto at = request.find("X-Request-ID: ") + 14;
  const std::string id = request.substr(at, request.find('\r', at) - at);
  RawClient client = served.connect();
  client.send(request);
  EXPECT_NE(client.read_until("\r\n\r\n").find("x-request-id: " + id), std::string::npos);
}

// guidellm reads lines, and stops at "[DONE]" behind "data:". It asks for usage in every chunk.
Read read_as_guidellm(std::string_view stream) {
  Read read;
  for (const std::string_view line : split(stream, '\n')) {
    const std::string_view stripped = trim(line);
    if (!stripped.starts_with("data:") || read.ended) continue;
    const std::string_view value = trim(stripped.substr(5));
    if (value == "[DONE]") {
      read.ended = true;
      continue;
    }
    const Json json = Json::parse(value);
    const int before = read.usage.is_null() ? 0 : read.usage["completion_tokens"].get<int>();
    read.usage = json.at("usage");
    EXPECT_GE(read.usage["completion_tokens"], before);
    if (!json["choices"].empty())
      read.tokens += !json["choices"][0].at("delta").value("content", "").empty();
  }
  return read;
}

// It asks for the server's health first.
TEST(Clients, GuidellmReadsUsageOfEveryChunk) {
  Served served;
  EXPECT_EQ(status_of(served.ask(recorded("guidellm_health"))), 200);
  const Read read = read_as_guidellm(stream_of(served, "guidellm_v1_chat_completions"));
  EXPECT_TRUE(read.ended);
  EXPECT_EQ(read.usage["completion_tokens"], 8);
  EXPECT_GT(read.tokens, 1);
}

}  // namespace
}  // namespace assay::serve_tests
