#include "assay/load/parity_prompts.h"

#include <algorithm>
#include <set>

#include "assay/load/json_lines.h"
#include "assay/load/ready.h"
#include "assay/load/request_body.h"
#include "assay/net/ask.h"

namespace assay::load {
namespace {

constexpr std::int64_t kMostPromptTokens = 1 << 20;

Result<ParityPrompt> read_prompt(const JsonField& line) {
  ASSAY_TRY(line.expect_object());
  ASSAY_TRY(line.only_keys({"id", "prompt", "messages", "max_tokens"}));
  ParityPrompt prompt;
  ASSAY_TRY(const JsonField id, line.at("id"));
  ASSAY_TRY(prompt.id, id.as_string());
  if (const auto messages = line.find("messages")) {
    ASSAY_TRY(const auto items, messages->items());
    if (items.empty()) return fail(messages->error(ErrorCode::invalid_input, "holds no message"));
    prompt.messages = messages->json();
  } else {
    ASSAY_TRY(const JsonField text, line.at("prompt"));
    ASSAY_TRY(prompt.text, text.as_string());
    if (prompt.text.empty()) return fail(text.error(ErrorCode::invalid_input, "is empty"));
  }
  if (const auto most = line.find("max_tokens")) {
    ASSAY_TRY(prompt.output_tokens, most->as_int64(1, kMostPromptTokens));
  }
  return prompt;
}

// Greedy; with the runner-up of each token where `scored`.
Json question_body(const LoadPlan& plan, const ParityPrompt& prompt, bool scored) {
  Json body = {{"model", plan.shape.model},
               {"temperature", 0},
               {"seed", 0},
               {"max_tokens", prompt.output_tokens}};
  if (prompt.text.empty()) {
    body["messages"] = prompt.messages;
    if (scored) {
      body["logprobs"] = true;
      body["top_logprobs"] = 2;
    }
  } else {
    body["prompt"] = prompt.text;
    if (scored) body["logprobs"] = 2;
  }
  return body;
}

Result<net::Answer> post(const LoadPlan& plan, const ParityPrompt& prompt, bool scored,
                         int cancel_fd) {
  net::Question question;
  question.method = "POST";
  question.path =
      endpoint_path(plan.server, prompt.text.empty() ? "/chat/completions" : "/completions");
  question.headers = common_headers(plan.shape);
  question.headers.push_back({"Content-Type", "application/json"});
  question.body = canonical(question_body(plan, prompt, scored));
  question.seconds = plan.timeout_s;
  return net::ask(plan.server, {plan.ca_file, plan.timeout_s}, question, cancel_fd);
}

void add_pair(Json& pairs, std::vector<double> values) {
  std::ranges::sort(values, std::greater());
  if (values.size() >= 2) pairs.push_back({values[0], values[1]});
}

// The two largest of each token, of either endpoint's form.
// Null if it is no object or has no such member.
const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

Json runner_ups(const Json& choice) {
  Json pairs = Json::array();
  const auto logprobs = choice.find("logprobs");
  if (logprobs == choice.end() || !logprobs->is_object()) return pairs;
  if (const auto content = logprobs->find("content"); content != logprobs->end()) {
    for (const Json& token : *content) {
      std::vector<double> values;
      const Json* tops = member(token, "top_logprobs");
      for (const Json& top : tops != nullptr && tops->is_array() ? *tops : Json::array())
        if (const Json* value = member(top, "logprob"); value != nullptr && value->is_number())
          values.push_back(value->get<double>());
      add_pair(pairs, std::move(values));
    }
  } else if (const auto tops = logprobs->find("top_logprobs"); tops != logprobs->end()) {
    for (const Json& top : *tops) {
      std::vector<double> values;
      for (const Json& value : top)
        if (value.is_number()) values.push_back(value.get<double>());
      add_pair(pairs, std::move(values));
    }
  }
  return pairs;
}

Result<std::string> text_of(const JsonField& choice) {
  const auto message = choice.find("message");
  ASSAY_TRY(const JsonField text, message ? message->at("content") : choice.at("text"));
  return text.as_string();
}

Result<Json> tokens_of(const LoadPlan& plan, const std::string& text, int cancel_fd) {
  const auto ids = server_token_ids(plan, text, cancel_fd);
  if (ids) return Json(*ids);
  if (ids.error().code != ErrorCode::unsupported) return fail(ids.error());
  Json bytes = Json::array();
  for (const char byte : text) bytes.push_back(static_cast<unsigned char>(byte));
  return bytes;
}

}  // namespace

Result<std::vector<ParityPrompt>> read_parity_prompts(const std::string& path) {
  std::vector<ParityPrompt> prompts;
  std::set<std::string> ids;
  ASSAY_TRY(for_each_line(path, [&](const JsonField& line) -> Status {
    ASSAY_TRY(ParityPrompt prompt, read_prompt(line));
    if (!ids.insert(prompt.id).second)
      return fail(line.error(ErrorCode::invalid_input,
                             fmt::format("'{}' is there twice", sanitize(prompt.id, 80))));
    prompts.push_back(std::move(prompt));
    return {};
  }));
  return prompts;
}

Result<Json> ask_parity_prompt(const LoadPlan& plan, const ParityPrompt& prompt, int cancel_fd) {
  constexpr int kBadRequest = 400;
  ASSAY_TRY(net::Answer answer, post(plan, prompt, true, cancel_fd));
  // Some servers have no log probabilities, and say so.
  if (answer.head.status == kBadRequest) {
    ASSAY_TRY(answer, post(plan, prompt, false, cancel_fd));
  }
  if (answer.head.status / 100 != 2)
    return fail(ErrorCode::unsupported, "prompt '{}' is answered with {}: {}",
                sanitize(prompt.id, 80), answer.head.status, sanitize(answer.body, 300));
  ASSAY_TRY(const JsonDocument document,
            parse_json_document(answer.body, "prompt '" + sanitize(prompt.id, 80) + "'"));
  ASSAY_TRY(const JsonField choices, JsonField(document).at("choices"));
  ASSAY_TRY(const std::vector<JsonField> items, choices.items());
  if (items.empty()) return fail(choices.error(ErrorCode::invalid_input, "holds no answer"));
  ASSAY_TRY(const std::string text, text_of(items.front()));
  Json line = {{"id", prompt.id}};
  ASSAY_TRY(line["tokens"], tokens_of(plan, text, cancel_fd));
  Json logits = runner_ups(items.front().json());
  if (!logits.empty() && logits.size() == line["tokens"].size()) line["logits"] = std::move(logits);
  return line;
}

}  // namespace assay::load
