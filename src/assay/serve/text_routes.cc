#include "assay/serve/text_routes.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/serve/body_fields.h"
#include "assay/serve/messages.h"
#include "assay/serve/utf8.h"

namespace assay::serve {
namespace {

using Prompts = std::vector<std::vector<int>>;

// A chat's template has the special tokens that it needs; a bare prompt gets the model's own.
text::SpecialTokens special_of(bool chat) {
  return chat ? text::SpecialTokens::none : text::SpecialTokens::around;
}

Outcome<std::vector<int>> tokens_of(const Backend& backend, std::string_view text,
                                    text::SpecialTokens special) {
  auto tokens = backend.vocabulary().tokenize(text, special);
  if (!tokens) return refuse({.status = 400, .message = tokens.error().message, .param = "prompt"});
  return std::move(*tokens);
}

// Tokens that were sent are checked by reading them; echoed, they are text.
Outcome<Prompts> prompts_of(const Backend& backend, Asked& asked) {
  Prompts prompts = asked.prompt_ids;
  std::vector<std::string> texts;
  for (const std::vector<int>& ids : prompts) {
    auto text = backend.vocabulary().detokenize(ids);
    if (!text) return refuse({.status = 400, .message = text.error().message, .param = "prompt"});
    texts.push_back(std::move(*text));
  }
  for (const std::string& prompt : asked.prompts) {
    auto tokens = tokens_of(backend, prompt, special_of(asked.chat));
    if (!tokens) return refuse(tokens.error());
    prompts.push_back(std::move(*tokens));
  }
  if (!asked.prompt_ids.empty()) asked.prompts = std::move(texts);
  asked.prompt_ids.clear();
  return prompts;
}

Outcome<int> most_tokens(const Asked& asked, std::size_t prompt_tokens, int context) {
  const std::int64_t left = context - static_cast<std::int64_t>(prompt_tokens);
  const std::int64_t wanted = asked.max_tokens.value_or(left);
  if (left >= 1 && wanted <= left) return static_cast<int>(wanted);
  return refuse(
      {.status = 400,
       .message = fmt::format("This model's context is {} tokens: the prompt has {}, and {} were "
                              "asked for; shorten the prompt or ask for fewer.",
                              context, prompt_tokens, std::max<std::int64_t>(wanted, 1)),
       .param = asked.chat ? "messages" : "prompt",
       .code = "context_length_exceeded"});
}

Outcome<std::vector<Job>> jobs_of(const Asked& asked, Prompts prompts, int context) {
  std::vector<Job> jobs;
  for (std::vector<int>& prompt : prompts) {
    const auto most = most_tokens(asked, prompt.size(), context);
    if (!most) return refuse(most.error());
    for (int choice = 0; choice < asked.n; ++choice)
      jobs.push_back({.prompt = choice + 1 < asked.n ? prompt : std::move(prompt),
                      .choice = choice,
                      .max_tokens = *most,
                      .min_tokens = std::min(asked.min_tokens, *most),
                      .ignore_eos = asked.ignore_eos,
                      .whole = !asked.stream,
                      .alternatives = asked.alternatives,
                      .sampling = asked.sampling});
  }
  return jobs;
}

net::Response stream_head() {
  return {200,
          {{"Content-Type", "text/event-stream; charset=utf-8"},
           {"Cache-Control", "no-cache"},
           {"X-Accel-Buffering", "no"}},
          {}};
}

Outcome<Answer> generate(const RouteContext& context, Outcome<Asked> asked) {
  if (!asked) return refuse(asked.error());
  if (auto why = context.backend.unavailable())
    return refuse({.status = 503, .message = std::move(*why)});
  if (asked->model.empty() && context.site.limits.strict)
    return refuse({.status = 400, .message = "model must be given.", .param = "model"});
  if (!asked->model.empty() && asked->model != context.site.model)
    return refuse(no_model(context.site, asked->model));
  auto prompts = prompts_of(context.backend, *asked);
  if (!prompts) return refuse(prompts.error());
  std::vector<std::int64_t> sizes;
  for (const auto& prompt : *prompts) sizes.push_back(static_cast<std::int64_t>(prompt.size()));
  auto jobs = jobs_of(*asked, std::move(*prompts), context.backend.capabilities().context);
  if (!jobs) return refuse(jobs.error());
  AnswerNames names{(asked->chat ? "chatcmpl-" : "cmpl-") + context.id, context.now_s,
                    context.site.model,
                    fmt::format("assay-{}", context.backend.capabilities().name)};
  Answer answer;
  answer.response = asked->stream ? stream_head() : json_response("");
  answer.frames = std::make_unique<AnswerFrames>(std::move(*asked), std::move(names), sizes);
  answer.jobs = std::move(*jobs);
  return answer;
}

Answer or_error(Outcome<Answer> answer) {
  return answer ? std::move(*answer) : error_answer(answer.error());
}

struct ToTokenize {
  std::string text;
  text::SpecialTokens special = text::SpecialTokens::none;
};

// "prompt", or "messages" as a chat has them.
Outcome<ToTokenize> text_to_tokenize(const RouteContext& context, const net::Request& request) {
  auto body = parse_body(request.body);
  if (!body) return refuse(body.error());
  BodyFields fields(*body);
  std::string model, prompt;
  fields.read("model", model);
  fields.read("prompt", prompt);
  const bool chat = fields.find("prompt") == nullptr;
  if (chat) prompt = chat_text(fields, context.site.limits.chat_template);
  bool add_special = !chat;
  fields.read("add_special_tokens", add_special);
  if (fields.error()) return refuse(*fields.error());
  if (!model.empty() && model != context.site.model) return refuse(no_model(context.site, model));
  return ToTokenize{std::move(prompt), special_of(!add_special)};
}

Outcome<std::vector<int>> tokens_to_read(const net::Request& request) {
  const auto body = parse_body(request.body);
  if (!body) return refuse(body.error());
  BodyFields fields(*body);
  const Json* tokens = fields.find("tokens");
  const auto is_id = [](const Json& id) {
    return id.is_number_unsigned() && id.get<std::uint64_t>() <= INT32_MAX;
  };
  if (tokens == nullptr || !tokens->is_array() || !std::ranges::all_of(*tokens, is_id))
    fields.wrong("tokens", "must be a list of tokens");
  if (fields.error()) return refuse(*fields.error());
  return tokens->get<std::vector<int>>();
}

}  // namespace

Answer error_answer(const ApiError& error) { return {error_response(error), nullptr, {}}; }

ApiError no_model(const Site& site, std::string_view asked) {
  return {.status = 404,
          .message = fmt::format("There is no model '{}': this server has '{}'.",
                                 sanitize(asked, 80), site.model),
          .param = "model",
          .code = "model_not_found"};
}

Answer chat_completions(const RouteContext& context, const net::Request& request,
                        std::string_view) {
  return or_error(generate(context, read_chat(request.body, context.site.limits)));
}

Answer completions(const RouteContext& context, const net::Request& request, std::string_view) {
  return or_error(generate(context, read_completion(request.body, context.site.limits)));
}

Answer tokenize(const RouteContext& context, const net::Request& request, std::string_view) {
  const auto text = text_to_tokenize(context, request);
  if (!text) return error_answer(text.error());
  const auto tokens = tokens_of(context.backend, text->text, text->special);
  if (!tokens) return error_answer(tokens.error());
  return {json_response(fmt::format(R"({{"tokens":[{}],"count":{},"max_model_len":{}}})",
                                    fmt::join(*tokens, ","), tokens->size(),
                                    context.backend.capabilities().context)),
          nullptr,
          {}};
}

Answer detokenize(const RouteContext& context, const net::Request& request, std::string_view) {
  const auto tokens = tokens_to_read(request);
  if (!tokens) return error_answer(tokens.error());
  const auto text = context.backend.vocabulary().detokenize(*tokens);
  if (!text)
    return error_answer({.status = 400, .message = text.error().message, .param = "tokens"});
  return {json_response(fmt::format(R"({{"prompt":{}}})", json_text(*text))), nullptr, {}};
}

}  // namespace assay::serve
