#include "assay/serve/answer_frames.h"

#include <numeric>
#include <utility>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "assay/net/sse_frame.h"
#include "assay/serve/utf8.h"

namespace assay::serve {
namespace {

std::string opening(const AnswerNames& names, std::string_view object) {
  return fmt::format(
      FMT_COMPILE(R"({{"id":{},"object":"{}","created":{},"model":{},"system_fingerprint":{},)"
                  R"("choices":[)"),
      json_text(names.id), object, names.created_s, json_text(names.model),
      json_text(names.fingerprint));
}

std::string_view object_name(const Asked& asked) {
  if (!asked.chat) return "text_completion";  // The same for chunks.
  return asked.stream ? "chat.completion.chunk" : "chat.completion";
}

}  // namespace

AnswerFrames::AnswerFrames(Asked asked, AnswerNames names,
                           const std::vector<std::int64_t>& prompt_tokens)
    : asked_(std::move(asked)), names_(std::move(names)) {
  prefix_ = opening(names_, object_name(asked_));
  usage_.prompt = std::accumulate(prompt_tokens.begin(), prompt_tokens.end(), std::int64_t{0});
  choices_.resize(asked_.prompt_count() * static_cast<std::size_t>(asked_.n));
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    choices_[i].filter = StopFilter(asked_.stop);
    choices_[i].offset = characters(echoed(i));
  }
  open_ = choices_.size();
}

std::string_view AnswerFrames::echoed(std::size_t index) const {
  const std::size_t prompt = index / static_cast<std::size_t>(asked_.n);
  if (!asked_.echo || prompt >= asked_.prompts.size()) return {};
  return asked_.prompts[prompt];
}

void AnswerFrames::open_chunk(std::string& frames, std::size_t index) const {
  constexpr std::size_t kRest = 192;  // Delta and end of a usual chunk.
  frames.reserve(frames.size() + prefix_.size() + kRest);
  frames.append(net::kFrameBegin).append(prefix_);
  frames.append(R"({"index":)").append(fmt::format_int(index).c_str()) += ',';
}

void AnswerFrames::close_chunk(std::string& frames, std::string_view logprobs,
                               Finish finish) const {
  frames.append(R"(,"logprobs":)").append(logprobs);
  frames.append(R"(,"finish_reason":)").append(finish_word(finish)).append("}]");
  append_tail(frames);
  frames.append("}").append(net::kFrameEnd);
}

// While usage comes at the end, every other chunk says that it has none.
void AnswerFrames::append_tail(std::string& frames) const {
  if (asked_.continuous_usage)
    frames.append(R"(,"usage":)").append(usage_json(usage_));
  else if (asked_.include_usage)
    frames.append(R"(,"usage":null)");
}

// Those of text that was held back come with the text.
std::string AnswerFrames::take_logprobs(Choice& choice) const {
  if (asked_.alternatives < 0 || choice.logs.empty()) return "null";
  const std::vector<TokenLog> logs = std::exchange(choice.logs, {});
  return asked_.chat ? chat_logprobs_json(logs) : completion_logprobs_json(logs, choice.offset);
}

void AnswerFrames::append_begin(std::string& frames, std::size_t index, Choice& choice) const {
  if (std::exchange(choice.begun, true)) return;
  if (asked_.chat) {
    open_chunk(frames, index);
    frames += R"("delta":{"role":"assistant","content":""})";
    close_chunk(frames, "null", Finish::none);
  }
  if (!asked_.echo) return;
  open_chunk(frames, index);
  frames += R"("text":)";
  append_json_text(frames, echoed(index));
  close_chunk(frames, "null", Finish::none);
}

void AnswerFrames::append_text(std::string& frames, std::size_t index, Choice& choice,
                               std::string_view text) {
  if (text.empty()) return;
  open_chunk(frames, index);
  frames += asked_.chat ? R"("delta":{"content":)" : R"("text":)";
  append_json_text(frames, text);
  if (asked_.chat) frames += '}';
  close_chunk(frames, take_logprobs(choice), Finish::none);
}

void AnswerFrames::append_end(std::string& frames, std::size_t index, Choice& choice) const {
  open_chunk(frames, index);
  frames += asked_.chat ? R"("delta":{})" : R"("text":"")";
  close_chunk(frames, take_logprobs(choice), choice.finish);
}

AnswerFrames::Step AnswerFrames::take(std::size_t index, const Event& event) {
  Choice& choice = choices_[index];
  Step step;
  if (choice.finish != Finish::none) return step;
  std::string text;
  if (event.token) {
    ++usage_.completion;
    if (asked_.alternatives >= 0) choice.logs.push_back({*event.token, event.candidates});
    text = choice.filter.take(event.token->text);
  }
  usage_.completion += event.miscounted;
  choice.finish = choice.filter.stopped() ? Finish::stop : event.finish;
  const bool ends = choice.finish != Finish::none;
  if (ends) text += choice.filter.flush();
  step.cancel = ends && event.finish == Finish::none;
  if (asked_.stream) {
    if (!text.empty() || ends) append_begin(step.frames, index, choice);
    append_text(step.frames, index, choice, text);
  } else {
    choice.text += text;
  }
  if (!ends) return step;
  --open_;
  if (asked_.stream) append_end(step.frames, index, choice);
  return step;
}

std::string AnswerFrames::end_frames() const {
  std::string frames;
  if (asked_.include_usage)
    frames = net::data_frame(prefix_ + R"(],"usage":)" + usage_json(usage_) + '}');
  return frames.append(net::kDoneFrame);
}

std::string AnswerFrames::error_frames(const ApiError& error) const {
  return net::data_frame(error_json(error)).append(net::kDoneFrame);
}

void AnswerFrames::append_choice(std::string& body, std::size_t index) const {
  const Choice& choice = choices_[index];
  std::string logprobs = "null";
  std::int64_t offset = choice.offset;
  if (asked_.alternatives >= 0)
    logprobs = asked_.chat ? chat_logprobs_json(choice.logs)
                           : completion_logprobs_json(choice.logs, offset);
  std::string text(echoed(index));
  text += choice.text;
  body.append(R"({"index":)").append(fmt::format_int(index).c_str()) += ',';
  body += asked_.chat ? R"("message":{"role":"assistant","content":)" : R"("text":)";
  append_json_text(body, text);
  if (asked_.chat) body += R"(,"refusal":null})";
  body.append(R"(,"logprobs":)").append(logprobs);
  body.append(R"(,"finish_reason":)").append(finish_word(choice.finish)) += '}';
}

std::string AnswerFrames::body() const {
  constexpr std::size_t kRest = 512;  // All but the text of a usual answer.
  std::string json;
  json.reserve(prefix_.size() + choices_.front().text.size() + kRest);
  json += prefix_;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (i > 0) json += ',';
    append_choice(json, i);
  }
  return json.append(R"(],"usage":)").append(usage_json(usage_)) + '}';
}

}  // namespace assay::serve
