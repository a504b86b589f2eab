#include "assay/load/request_body.h"

#include <iterator>

#include "assay/base/version.h"
#include "assay/net/ask.h"

namespace assay::load {
namespace {

std::string joined_texts(const Json& messages) {
  std::string text;
  for (const Json& message : messages) {
    if (!text.empty()) text += '\n';
    if (message.contains("content") && message["content"].is_string())
      text += message["content"].get_ref<const std::string&>();
  }
  return text;
}

}  // namespace

std::string request_body(const RequestShape& shape, const Ask& ask) {
  Json body = {{"model", shape.model}, {"stream", shape.stream}};
  if (shape.chat)
    body["messages"] = ask.messages;
  else
    body["prompt"] = joined_texts(ask.messages);
  if (ask.output_tokens > 0)
    body[shape.chat ? "max_completion_tokens" : "max_tokens"] = ask.output_tokens;
  if (shape.stream) body["stream_options"] = {{"include_usage", true}};
  if (shape.ignore_eos) body["ignore_eos"] = true;
  if (shape.temperature) body["temperature"] = *shape.temperature;
  body.update(shape.extra);
  return canonical(body);
}

std::string endpoint_path(const net::Url& server, std::string_view endpoint) {
  const bool has_version = server.path.ends_with("/v1");
  return fmt::format("{}{}{}", server.path, has_version ? "" : "/v1", endpoint);
}

std::vector<net::Header> common_headers(const RequestShape& shape) {
  std::vector<net::Header> headers = {{"User-Agent", fmt::format("assay/{}", build_info().version)},
                                      {"Accept-Encoding", "identity"}};
  if (!shape.api_key.empty()) headers.push_back({"Authorization", "Bearer " + shape.api_key});
  headers.insert(headers.end(), shape.headers.begin(), shape.headers.end());
  return headers;
}

RequestBytes::RequestBytes(const LoadPlan& plan) {
  net::Question question;
  question.method = "POST";
  question.path =
      endpoint_path(plan.server, plan.shape.chat ? "/chat/completions" : "/completions");
  question.headers = common_headers(plan.shape);
  question.headers.push_back({"Content-Type", "application/json"});
  question.headers.push_back(
      {"Accept", plan.shape.stream ? "text/event-stream" : "application/json"});
  head_ = net::request_text(plan.server, question);
  // Its last lines are the length of no body, and the blank one.
  head_.resize(head_.rfind("Content-Length:"));
}

std::string RequestBytes::make(std::string_view request_id, std::string_view body) const {
  std::string bytes;
  bytes.reserve(head_.size() + request_id.size() + body.size() + 64);
  bytes += head_;
  fmt::format_to(std::back_inserter(bytes), "X-Request-Id: {}\r\nContent-Length: {}\r\n\r\n",
                 request_id, body.size());
  bytes += body;
  return bytes;
}

}  // namespace assay::load
