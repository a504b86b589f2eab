#include "assay/serve/service.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/serve/mock_backend.h"

namespace assay::serve {
namespace {

// Keeps what would go over sockets.
class FakeOutlet final : public net::Outlet {
 public:
  struct Exchange {
    net::Response response;
    std::vector<std::string> writes;
    bool answered = false, begun = false, ended = false, abandoned = false;
    std::string all() const {
      std::string text;
      for (const std::string& write : writes) text += write;
      return text;
    }
  };
  void answer(net::ExchangeId id, const net::Response& response) override {
    exchanges[id].response = response;
    exchanges[id].answered = true;
  }
  void begin(net::ExchangeId id, const net::Response& head) override {
    exchanges[id].response = head;
    exchanges[id].begun = true;
  }
  bool send(net::ExchangeId id, std::string_view bytes) override {
    exchanges[id].writes.emplace_back(bytes);
    return !slow;
  }
  void end(net::ExchangeId id) override { exchanges[id].ended = true; }
  void abandon(net::ExchangeId id) override { exchanges[id].abandoned = true; }
  void wake_at(std::int64_t) override { awaited = true; }

  std::map<net::ExchangeId, Exchange> exchanges;
  bool slow = false, awaited = false;
};

class Serving {
 public:
  explicit Serving(MockOptions mock = {}, ServiceOptions options = {}) {
    options.desk.site.model = "mock";
    options.desk.access_log = [this](std::string_view line) { log.emplace_back(line); };
    options.stamps = [this](auto make) { stamps.push_back(make()); };
    service = std::make_unique<Service>(std::move(options), std::make_unique<MockBackend>(mock));
    service->attach(outlet);
  }

  net::ExchangeId begin(std::string_view path, const Json& body,
                        std::vector<net::Header> headers = {}) {
    net::Request request;
    request.method = "POST";
    request.target = path;
    request.headers = std::move(headers);
    request.body = body.dump();
    service->on_request(++last, std::move(request));
    return last;
  }
  void go_on() {
    while (std::exchange(outlet.awaited, false)) service->on_time();
  }
  FakeOutlet::Exchange& ask(std::string_view path, const Json& body,
                            std::vector<net::Header> headers = {}) {
    const auto id = begin(path, body, std::move(headers));
    go_on();
    return outlet.exchanges[id];
  }
  Json body_of(std::string_view path, const Json& body) {
    return Json::parse(ask(path, body).response.body);
  }

  FakeOutlet outlet;
  std::vector<std::string> log, stamps;
  std::unique_ptr<Service> service;
  net::ExchangeId last = 0;
};

Json chat(Json more = Json::object()) {
  Json body = {{"model", "mock"}, {"messages", {{{"role", "user"}, {"content", "hi"}}}}};
  body.update(more);
  return body;
}

// As clients cut it: at LF LF.
std::vector<std::string> frames(std::string_view stream) {
  std::vector<std::string> found;
  while (!stream.empty()) {
    const auto end = stream.find("\n\n");
    EXPECT_NE(end, std::string_view::npos);
    EXPECT_TRUE(stream.starts_with("data: "));
    found.emplace_back(stream.substr(6, end - 6));
    stream.remove_prefix(end + 2);
  }
  return found;
}

std::string text_of(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& frame : all) {
    if (frame == "[DONE]") continue;
    const Json chunk = Json::parse(frame);
    for (const Json& choice : chunk.at("choices"))
      text += choice.contains("delta") ? choice["delta"].value("content", "")
                                       : choice.at("text").get<std::string>();
  }
  return text;
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

constexpr std::string_view kChat = "/v1/chat/completions", kText = "/v1/completions";

TEST(Service, StreamsExactFrames) {
  Serving serving;
  const auto& exchange = serving.ask(
      kChat,
      chat({{"stream", true}, {"max_tokens", 5}, {"stream_options", {{"include_usage", true}}}}));
  EXPECT_TRUE(exchange.begun && exchange.ended && !exchange.answered);
  EXPECT_EQ(exchange.response.headers[0].value, "text/event-stream; charset=utf-8");
  EXPECT_EQ(exchange.writes.size(), 5u);  // One for each token.
  const auto all = frames(exchange.all());
  const Json first = Json::parse(all.front());
  EXPECT_EQ(first["object"], "chat.completion.chunk");
  EXPECT_EQ(first["choices"][0]["delta"]["role"], "assistant");
  EXPECT_TRUE(first["usage"].is_null());
  EXPECT_EQ(all.back(), "[DONE]");
  const Json usage = Json::parse(all[all.size() - 2]);
  EXPECT_TRUE(usage["choices"].empty());
  EXPECT_EQ(usage["usage"]["completion_tokens"], 5);
  const Json last = Json::parse(all[all.size() - 3]);
  EXPECT_EQ(last["choices"][0]["finish_reason"], "length");
  EXPECT_TRUE(last["choices"][0]["delta"].empty());
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    EXPECT_EQ(Json::parse(all[i])["id"], first["id"]);
    EXPECT_EQ(Json::parse(all[i])["created"], first["created"]);
  }
}

TEST(Service, TellsTheSameTextWholeAndStreamed) {
  Serving serving;
  for (const bool is_chat : {true, false}) {
    Json body = chat({{"seed", 7}, {"max_tokens", 300}, {"ignore_eos", true}});
    if (!is_chat) body = {{"prompt", "hi"}, {"seed", 7}, {"max_tokens", 300}, {"ignore_eos", true}};
    const auto path = is_chat ? kChat : kText;
    const Json whole = serving.body_of(path, body)["choices"][0];
    body["stream"] = true;
    const std::string streamed = text_of(frames(serving.ask(path, body).all()));
    EXPECT_EQ(is_chat ? whole["message"]["content"] : whole["text"], streamed);
    EXPECT_GT(streamed.size(), 600u);
  }
}

TEST(Service, SeedsGiveTextsBack) {
  Serving serving;
  const auto text = [&](const Json& more) {
    return serving.body_of(kChat, chat(more))["choices"][0]["message"]["content"];
  };
  EXPECT_EQ(text({{"seed", 1}}), text({{"seed", 1}}));
  EXPECT_NE(text({{"seed", 1}}), text({{"seed", 2}}));
  EXPECT_NE(text(Json::object()), text(Json::object()));
  EXPECT_EQ(text({{"temperature", 0}}), text({{"temperature", 0}}));
}

TEST(Service, StopsWhereItWasTold) {
  Serving serving;
  const Json seeded = {{"seed", 3}, {"max_tokens", 100}};
  const std::string whole =
      serving.body_of(kChat, chat(seeded))["choices"][0]["message"]["content"];
  std::size_t at = 40;  // Where a word ends, between characters of ASCII.
  while (whole[at + 3] != ' ' || !is_ascii(whole.substr(at, 7))) ++at;
  const std::string stop = whole.substr(at, 7);  // Over a border of tokens.
  Json body = chat(seeded);
  body["stop"] = stop;
  const Json answer = serving.body_of(kChat, body);
  EXPECT_EQ(answer["choices"][0]["message"]["content"], whole.substr(0, whole.find(stop)));
  EXPECT_EQ(answer["choices"][0]["finish_reason"], "stop");
  EXPECT_LT(answer["usage"]["completion_tokens"], 100);
  body["stream"] = true;
  EXPECT_EQ(text_of(frames(serving.ask(kChat, body).all())), whole.substr(0, whole.find(stop)));
  EXPECT_EQ(serving.service->backend().current_load().running, 0);
}

TEST(Service, CountsTokensAsAsked) {
  MockOptions mock;
  mock.output_tokens = 8;
  Serving serving(mock);
  const auto usage = [&](const Json& more) {
    return serving.body_of(kChat, chat(more))["usage"]["completion_tokens"];
  };
  EXPECT_EQ(usage(Json::object()), 8);
  EXPECT_EQ(usage({{"max_tokens", 3}}), 3);
  EXPECT_EQ(usage({{"max_tokens", 20}, {"ignore_eos", true}, {"stop", nullptr}}), 20);
  EXPECT_EQ(usage({{"max_tokens", 30}, {"max_completion_tokens", 4}}), 4);
  EXPECT_EQ(usage({{"max_tokens", 30}, {"min_tokens", 12}}), 12);
  EXPECT_EQ(serving.body_of(kText, {{"prompt", "hi"}})["usage"]["completion_tokens"], 8);
}

TEST(Service, MakesSeveralAnswersToSeveralPrompts) {
  Serving serving;
  const Json answer = serving.body_of(
      kText,
      {{"prompt", {"a", "b"}}, {"n", 2}, {"max_tokens", 4}, {"logprobs", 2}, {"echo", true}});
  ASSERT_EQ(answer["choices"].size(), 4u);
  EXPECT_EQ(answer["choices"][3]["index"], 3);
  EXPECT_TRUE(answer["choices"][3]["text"].get<std::string>().starts_with("b"));
  EXPECT_EQ(answer["choices"][0]["logprobs"]["tokens"].size(), 4u);
  EXPECT_EQ(answer["usage"]["completion_tokens"], 16);
  const auto all = frames(serving
                              .ask(kChat, chat({{"n", 3},
                                                {"stream", true},
                                                {"max_tokens", 2},
                                                {"logprobs", true},
                                                {"top_logprobs", 1}}))
                              .all());
  int finished = 0;
  for (const std::string& frame : all)
    if (frame != "[DONE]")
      finished += Json::parse(frame)["choices"][0]["finish_reason"] == "length";
  EXPECT_EQ(finished, 3);
}

// Offsets are of the text that is told, and an echoed prompt is its beginning.
TEST(Service, OffsetsOfTokensCountAnEchoedPrompt) {
  Serving serving;
  Json asked = {{"prompt", "h\u00e9"}, {"max_tokens", 2}, {"logprobs", 0}, {"seed", 1}};
  const Json alone = serving.body_of(kText, asked)["choices"][0]["logprobs"]["text_offset"];
  ASSERT_EQ(alone.size(), 2u);
  EXPECT_EQ(alone[0], 0);
  asked["echo"] = true;
  const Json echoed = serving.body_of(kText, asked)["choices"][0];
  EXPECT_TRUE(echoed["text"].get<std::string>().starts_with("h\u00e9"));
  EXPECT_EQ(echoed["logprobs"]["text_offset"][0], 2);
  EXPECT_EQ(echoed["logprobs"]["text_offset"][1], alone[1].get<int>() + 2);
  asked["stream"] = true;
  const auto all = frames(serving.ask(kText, asked).all());
  ASSERT_GE(all.size(), 3u);
  EXPECT_EQ(Json::parse(all[1])["choices"][0]["logprobs"]["text_offset"][0], 2);
}

struct Wrong {
  Json more;
  std::string param;
};

TEST(Service, NamesTheFieldThatIsWrong) {
  Serving serving;
  const std::vector<Wrong> table = {
      {{{"messages", nullptr}}, "messages"},
      {{{"messages", Json::array()}}, "messages"},
      {{{"messages", {{{"role", "boss"}, {"content", "x"}}}}}, "messages[0].role"},
      {{{"messages", {{{"role", "user"}, {"content", 5}}}}}, "messages[0].content"},
      {{{"temperature", 3}}, "temperature"},
      {{{"temperature", "1"}}, "temperature"},
      {{{"top_p", -1}}, "top_p"},
      {{{"n", 0}}, "n"},
      {{{"n", 1000}}, "n"},
      {{{"max_tokens", 0}}, "max_tokens"},
      {{{"max_tokens", 1.5}}, "max_tokens"},
      {{{"max_completion_tokens", -1}}, "max_completion_tokens"},
      {{{"stop", {"a", "b", "c", "d", "e"}}}, "stop"},
      {{{"stop", ""}}, "stop"},
      {{{"stream", "yes"}}, "stream"},
      {{{"stream_options", {{"include_usage", true}}}}, "stream_options"},
      {{{"top_logprobs", 2}}, "top_logprobs"},
      {{{"logprobs", true}, {"top_logprobs", 21}}, "top_logprobs"},
      {{{"seed", "x"}}, "seed"},
      {{{"seed", 1e30}}, "seed"},
      {{{"logit_bias", {{"5", 101}}}}, "logit_bias"},
      {{{"user", 5}}, "user"},
      {{{"model", 5}}, "model"},
  };
  for (const Wrong& wrong : table) {
    const auto& exchange = serving.ask(kChat, chat(wrong.more));
    EXPECT_EQ(exchange.response.status, 400) << wrong.more.dump();
    const Json error = Json::parse(exchange.response.body)["error"];
    EXPECT_EQ(error["param"], wrong.param) << error.dump();
    EXPECT_EQ(error["type"], "invalid_request_error");
  }
}

TEST(Service, ToleratesUnknownFieldsUnlessStrict) {
  Serving serving;
  EXPECT_EQ(serving.ask(kChat, chat({{"new_thing", 1}, {"tools", nullptr}})).response.status, 200);
  ServiceOptions strict;
  strict.desk.site.limits.strict = true;
  Serving refusing({}, std::move(strict));
  EXPECT_EQ(refusing.ask(kChat, chat({{"new_thing", 1}})).response.status, 400);
  EXPECT_EQ(refusing.ask(kChat, chat({{"tools", Json::array()}})).response.status, 200);
}

TEST(Service, RefusesWhatItCannotServe) {
  Serving serving;
  EXPECT_EQ(serving.ask(kChat, chat({{"model", "other"}})).response.status, 404);
  const auto& long_prompt = serving.ask(kChat, chat({{"max_tokens", 40000}}));
  EXPECT_EQ(Json::parse(long_prompt.response.body)["error"]["code"], "context_length_exceeded");
  EXPECT_EQ(serving.ask("/v1/responses", chat()).response.status, 501);
  EXPECT_EQ(serving.ask("/nowhere", chat()).response.status, 404);
  EXPECT_EQ(serving.ask("/v1/models", chat()).response.status, 405);
  EXPECT_EQ(serving.ask("/flush_cache", chat()).response.status, 403);
  EXPECT_EQ(serving.ask(kChat, chat(), {{"content-type", "text/plain"}}).response.status, 415);
  EXPECT_EQ(serving.ask(kChat, chat(), {{"origin", "http://evil.example"}}).response.status, 403);
}

std::string header_of(const net::Response& response, std::string_view name) {
  for (const net::Header& header : response.headers)
    if (header.name == name) return header.value;
  return {};
}

// A browser asks ahead, without the key, and shows a page only answers that name its origin.
TEST(Service, APageThatMayAskIsToldSo) {
  const std::string page = "http://page.example";
  ServiceOptions options;
  options.desk.key.emplace("secret");
  options.desk.origins = {page};
  Serving serving({}, std::move(options));
  const auto ask_ahead = [&](const std::string& origin, const std::string& target) {
    net::Request request;
    request.method = "OPTIONS";
    request.target = target;
    request.headers = {{"origin", origin},
                       {"access-control-request-method", "POST"},
                       {"access-control-request-headers", "authorization,content-type"}};
    serving.service->on_request(++serving.last, std::move(request));
    return serving.outlet.exchanges[serving.last].response;
  };
  const net::Response ahead = ask_ahead(page, std::string(kChat));
  EXPECT_EQ(ahead.status, 200);
  EXPECT_EQ(header_of(ahead, "Access-Control-Allow-Origin"), page);
  EXPECT_EQ(header_of(ahead, "Access-Control-Allow-Methods"), "POST");
  EXPECT_EQ(header_of(ahead, "Access-Control-Allow-Headers"), "authorization,content-type");
  EXPECT_EQ(ask_ahead(page, "/nowhere").status, 404);
  EXPECT_EQ(ask_ahead("http://evil.example", std::string(kChat)).status, 405);
  for (const bool stream : {false, true}) {
    const auto& told = serving.ask(kChat, chat({{"stream", stream}, {"max_tokens", 1}}),
                                   {{"origin", page}, {"authorization", "Bearer secret"}});
    EXPECT_EQ(told.response.status, 200);
    EXPECT_EQ(header_of(told.response, "Access-Control-Allow-Origin"), page);
  }
  const auto& refused = serving.ask(kChat, chat(), {{"origin", page}});
  EXPECT_EQ(refused.response.status, 401);
  EXPECT_EQ(header_of(refused.response, "Access-Control-Allow-Origin"), page);
  const auto& no_page = serving.ask(kChat, chat(), {{"authorization", "Bearer secret"}});
  EXPECT_EQ(header_of(no_page.response, "Access-Control-Allow-Origin"), "");
}

TEST(Service, LetsTheKeyInAlone) {
  ServiceOptions options;
  options.desk.key.emplace("secret");
  Serving serving({}, std::move(options));
  EXPECT_EQ(serving.ask(kChat, chat()).response.status, 401);
  EXPECT_EQ(serving.ask(kChat, chat(), {{"authorization", "Bearer secre"}}).response.status, 401);
  EXPECT_EQ(serving.ask(kChat, chat(), {{"authorization", "bearer secret"}}).response.status, 200);
  EXPECT_EQ(
      serving.ask("/flush_cache", chat(), {{"authorization", "Bearer secret"}}).response.status,
      200);
  for (const std::string& line : serving.log) EXPECT_EQ(line.find("secre"), std::string::npos);
}

TEST(Service, QueuesAndThenRefuses) {
  MockOptions mock;
  mock.slots = 1;
  mock.queue = 1;
  mock.ttft_ms = 1e6;
  Serving serving(mock);
  const auto first = serving.begin(kChat, chat());
  serving.begin(kChat, chat());
  EXPECT_EQ(serving.service->backend().current_load().waiting, 1);
  const auto third = serving.begin(kChat, chat());
  EXPECT_EQ(serving.outlet.exchanges[third].response.status, 429);
  bool told = false;
  for (const net::Header& header : serving.outlet.exchanges[third].response.headers)
    told |= header.name == "Retry-After";
  EXPECT_TRUE(told);
  serving.service->on_gone(first);  // Its slot is the next one's at once.
  EXPECT_EQ(serving.service->backend().current_load().running, 1);
  EXPECT_EQ(serving.service->backend().current_load().waiting, 0);
}

// Logarithms that are kept until an answer's end count for what they hold.
TEST(Service, AnswersThatHoldTooMuchAreRefused) {
  ServiceOptions options;
  options.outstanding_tokens = 1000;
  Serving serving({}, std::move(options));
  const auto status = [&](int tokens, bool stream) {
    const auto& exchange = serving.ask(kChat, chat({{"max_tokens", tokens},
                                                    {"logprobs", true},
                                                    {"top_logprobs", 20},
                                                    {"stream", stream}}));
    return exchange.response.status;
  };
  EXPECT_EQ(status(8, false), 200);
  EXPECT_EQ(status(50, false), 400);
  EXPECT_NE(status(50, true), 400);
  EXPECT_EQ(serving.ask(kChat, chat({{"max_tokens", 50}})).response.status, 200);
}

TEST(Service, FailsAsItWasTold) {
  MockOptions mock;
  mock.error_rate = 1;
  Serving serving(mock);
  int before = 0, within = 0;
  for (int i = 0; i < 40; ++i) {
    const auto& exchange = serving.ask(kChat, chat({{"stream", true}, {"max_tokens", 4}}));
    before += exchange.answered && exchange.response.status == 500;
    if (!exchange.begun) continue;
    const auto all = frames(exchange.all());
    within += Json::parse(all[all.size() - 2]).contains("error") && all.back() == "[DONE]";
  }
  EXPECT_EQ(before + within, 40);
  EXPECT_GT(before, 0);
  EXPECT_GT(within, 0);
  mock.error_rate = 0;
  mock.disconnect_rate = 1;
  Serving cutting(mock);
  EXPECT_TRUE(cutting.ask(kChat, chat({{"stream", true}})).abandoned);
  EXPECT_TRUE(cutting.service->at_rest());
}

TEST(Service, HoldsTokensForASlowReader) {
  Serving serving;
  serving.outlet.slow = true;
  auto& exchange = serving.ask(kChat, chat({{"stream", true}, {"max_tokens", 9}}));
  EXPECT_EQ(exchange.writes.size(), 1u);
  EXPECT_FALSE(exchange.ended);
  serving.outlet.slow = false;
  serving.service->on_room(serving.last);
  serving.go_on();
  EXPECT_TRUE(exchange.ended);
  EXPECT_EQ(exchange.writes.size(), 9u);
}

TEST(Service, StampsEachTokenBeforeItIsSent) {
  MockOptions mock;
  mock.ttft_ms = 1;
  mock.itl_ms = 1;
  Serving serving(mock);
  serving.ask(kChat, chat({{"stream", true}, {"max_tokens", 3}}), {{"x-request-id", "r-1"}});
  ASSERT_EQ(serving.stamps.size(), 1u);
  const Json line = Json::parse(serving.stamps[0]);
  EXPECT_EQ(line["request_id"], "r-1");
  EXPECT_EQ(line["ending"], "done");
  ASSERT_EQ(line["token_ns"].size(), 3u);
  EXPECT_EQ(line["due_ns"][0], line["accepted_ns"].get<std::int64_t>() + 1'000'000);
  for (int i = 0; i < 3; ++i) EXPECT_GE(line["token_ns"][i], line["due_ns"][i]);
}

TEST(Service, ReadsTokensBack) {
  Serving serving;
  const std::string text = " the kernel \xe6\x97\xa5 reads\n";
  const Json tokens = serving.body_of("/tokenize", {{"prompt", text}});
  EXPECT_EQ(tokens["count"], tokens["tokens"].size());
  EXPECT_EQ(serving.body_of("/detokenize", {{"tokens", tokens["tokens"]}})["prompt"], text);
  EXPECT_EQ(serving.ask("/detokenize", {{"tokens", {-1}}}).response.status, 400);
  EXPECT_EQ(serving.ask("/detokenize", {{"tokens", {999999}}}).response.status, 400);
}

}  // namespace
}  // namespace assay::serve
