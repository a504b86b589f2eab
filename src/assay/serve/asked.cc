#include "assay/serve/asked.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/serve/body_fields.h"
#include "assay/serve/messages.h"

namespace assay::serve {
namespace {

constexpr std::int64_t kMostTokens = std::numeric_limits<std::int32_t>::max();
constexpr int kOpenAiMaxTokens = 16;  // OpenAI's own default for completions.

void read_stop(BodyFields& fields, const AskLimits& limits, Asked& asked) {
  const Json* stop = fields.find("stop");
  if (stop == nullptr) return;
  const auto add = [&](const Json& text) {
    const bool fits = text.is_string() && !text.get_ref<const std::string&>().empty() &&
                      text.get_ref<const std::string&>().size() <= limits.stop_bytes;
    if (fits)
      asked.stop.push_back(text.get<std::string>());
    else
      fields.wrong("stop", fmt::format("must be a string of 1 to {} bytes, or a list of them",
                                       limits.stop_bytes));
  };
  if (!stop->is_array()) return add(*stop);
  if (stop->size() > limits.stop_strings)
    fields.wrong("stop", fmt::format("must hold at most {} strings", limits.stop_strings));
  for (const Json& text : *stop) add(text);
}

void read_stream(BodyFields& fields, Asked& asked) {
  fields.read("stream", asked.stream);
  const Json* options = fields.find_object("stream_options");
  if (options != nullptr) {
    BodyFields inside(*options, "stream_options.");
    inside.read("include_usage", asked.include_usage);
    inside.read("continuous_usage_stats", asked.continuous_usage);
    if (inside.error()) fields.wrong("stream_options", "must hold true or false");
    if (!asked.stream) fields.wrong("stream_options", "is allowed only if stream is true");
  }
  fields.read("continuous_usage_stats", asked.continuous_usage);
}

void read_logit_bias(BodyFields& fields) {
  const Json* bias = fields.find_object("logit_bias");
  if (bias == nullptr) return;
  for (const Json& value : *bias)
    if (!value.is_number() || value.get<double>() < -100 || value.get<double>() > 100)
      fields.wrong("logit_bias", "must hold numbers from -100 to 100");
}

void read_sampling(BodyFields& fields, Sampling& sampling) {
  fields.read("temperature", 0.0, 2.0, sampling.temperature);
  fields.read("top_p", 0.0, 1.0, sampling.top_p);
  fields.read("frequency_penalty", -2.0, 2.0, sampling.frequency_penalty);
  fields.read("presence_penalty", -2.0, 2.0, sampling.presence_penalty);
  fields.read("seed", std::numeric_limits<std::int64_t>::min(),
              std::numeric_limits<std::int64_t>::max(), sampling.seed);
  read_logit_bias(fields);
}

void read_common(BodyFields& fields, const AskLimits& limits, Asked& asked) {
  fields.read("model", asked.model);
  fields.read("n", 1, limits.choices, asked.n);
  fields.read("min_tokens", 0, kMostTokens, asked.min_tokens);
  fields.read("ignore_eos", asked.ignore_eos);
  fields.read("max_tokens", 1, kMostTokens, asked.max_tokens);
  read_stop(fields, limits, asked);
  read_stream(fields, asked);
  read_sampling(fields, asked.sampling);
  std::string user;
  fields.read("user", user);
  fields.tolerate({"repetition_penalty", "top_k", "min_p", "chat_template_kwargs", "metadata",
                   "store", "service_tier", "prompt_cache_key", "response_format",
                   "safety_identifier", "stop_token_ids", "skip_special_tokens"});
}

Outcome<Asked> finish(BodyFields& fields, const AskLimits& limits, Asked asked) {
  if (limits.strict) fields.refuse_unknown();
  if (fields.error()) return refuse(*fields.error());
  return asked;
}

void read_chat_logprobs(BodyFields& fields, Asked& asked) {
  bool wanted = false;
  std::optional<std::int64_t> top;
  fields.read("logprobs", wanted);
  fields.read("top_logprobs", 0, 20, top);
  if (top.value_or(0) > 0 && !wanted)
    fields.wrong("top_logprobs", "is allowed only if logprobs is true");
  if (wanted) asked.alternatives = static_cast<int>(top.value_or(0));
}

bool are_ids(const Json& list) {
  return list.is_array() && !list.empty() && std::ranges::all_of(list, [](const Json& id) {
           return id.is_number_unsigned() && id.get<std::uint64_t>() <= INT32_MAX;
         });
}

void read_prompt(BodyFields& fields, const AskLimits& limits, Asked& asked) {
  constexpr std::string_view kMust =
      "must be a string, a list of strings, a list of tokens, or a list of lists of tokens";
  const Json* prompt = fields.find("prompt");
  if (prompt == nullptr) return fields.wrong("prompt", kMust);
  if (prompt->is_string()) {
    asked.prompts.push_back(prompt->get<std::string>());
  } else if (are_ids(*prompt)) {
    asked.prompt_ids.push_back(prompt->get<std::vector<int>>());
  } else if (prompt->is_array() && !prompt->empty() && std::ranges::all_of(*prompt, are_ids)) {
    for (const Json& ids : *prompt) asked.prompt_ids.push_back(ids.get<std::vector<int>>());
  } else if (prompt->is_array() && !prompt->empty() &&
             std::ranges::all_of(*prompt, [](const Json& text) { return text.is_string(); })) {
    for (const Json& text : *prompt) asked.prompts.push_back(text.get<std::string>());
  } else {
    fields.wrong("prompt", kMust);
  }
  if (asked.prompt_count() > limits.prompts)
    fields.wrong("prompt", fmt::format("must hold at most {} prompts", limits.prompts));
}

}  // namespace

Outcome<Asked> read_chat(std::string_view body, const AskLimits& limits) {
  auto object = parse_body(body);
  if (!object) return refuse(object.error());
  BodyFields fields(*object);
  Asked asked;
  asked.chat = true;
  read_common(fields, limits, asked);
  fields.read("max_completion_tokens", 1, kMostTokens, asked.max_tokens);
  read_chat_logprobs(fields, asked);
  asked.prompts.push_back(chat_text(fields, limits.chat_template));
  fields.tolerate({"tools", "tool_choice", "parallel_tool_calls", "functions", "function_call",
                   "modalities", "reasoning_effort", "verbosity", "prediction"});
  return finish(fields, limits, std::move(asked));
}

Outcome<Asked> read_completion(std::string_view body, const AskLimits& limits) {
  auto object = parse_body(body);
  if (!object) return refuse(object.error());
  BodyFields fields(*object);
  Asked asked;
  asked.max_tokens = kOpenAiMaxTokens;
  read_common(fields, limits, asked);
  read_prompt(fields, limits, asked);
  fields.read("echo", asked.echo);
  std::optional<std::int64_t> logprobs;
  fields.read("logprobs", 0, 5, logprobs);
  if (logprobs) asked.alternatives = static_cast<int>(*logprobs);
  int best_of = asked.n;
  fields.read("best_of", 1, limits.choices, best_of);
  if (best_of != asked.n) fields.wrong("best_of", "must equal n: answers are not ranked here");
  fields.tolerate({"suffix", "add_special_tokens"});
  return finish(fields, limits, std::move(asked));
}

}  // namespace assay::serve
