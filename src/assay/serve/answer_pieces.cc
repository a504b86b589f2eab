#include "assay/serve/answer_pieces.h"

#include <algorithm>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "assay/serve/utf8.h"

namespace assay::serve {
namespace {

void append_token(std::string& out, const Candidate& token) {
  out += R"({"token":)";
  append_json_text(out, token.text);
  fmt::format_to(std::back_inserter(out), R"(,"logprob":{:.6f},"bytes":[)", token.logprob);
  for (std::size_t i = 0; i < token.text.size(); ++i)
    fmt::format_to(std::back_inserter(out), "{}{}", i == 0 ? "" : ",",
                   static_cast<unsigned char>(token.text[i]));
  out += ']';
}

// Of some of the tokens, `write` makes a list.
template <class Range, class Write>
void append_list(std::string& out, const Range& range, const Write& write) {
  out += '[';
  bool first = true;
  for (const auto& item : range) {
    if (!first) out += ',';
    first = false;
    write(item);
  }
  out += ']';
}

// An object: of candidates with the same text, the first.
void append_candidates(std::string& out, const std::vector<Candidate>& candidates) {
  out += '{';
  std::vector<std::string> seen;
  for (const Candidate& candidate : candidates) {
    std::string text = json_text(candidate.text);
    if (std::ranges::find(seen, text) != seen.end()) continue;
    fmt::format_to(std::back_inserter(out), "{}{}:{:.6f}", seen.empty() ? "" : ",", text,
                   candidate.logprob);
    seen.push_back(std::move(text));
  }
  out += '}';
}

}  // namespace

std::string usage_json(const Usage& usage) {
  return fmt::format(FMT_COMPILE(R"({{"prompt_tokens":{},"completion_tokens":{},"total_tokens":{},)"
                                 R"("prompt_tokens_details":{{"cached_tokens":0}},)"
                                 R"("completion_tokens_details":{{"reasoning_tokens":0}}}})"),
                     usage.prompt, usage.completion, usage.prompt + usage.completion);
}

std::int64_t characters(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; });
}

std::string chat_logprobs_json(std::span<const TokenLog> tokens) {
  std::string out = R"({"content":)";
  append_list(out, tokens, [&](const TokenLog& log) {
    append_token(out, log.token);
    out += R"(,"top_logprobs":)";
    append_list(out, log.candidates, [&](const Candidate& candidate) {
      append_token(out, candidate);
      out += '}';
    });
    out += '}';
  });
  return out + R"(,"refusal":null})";
}

std::string completion_logprobs_json(std::span<const TokenLog> tokens, std::int64_t& offset) {
  std::string out = R"({"tokens":)";
  append_list(out, tokens, [&](const TokenLog& log) { append_json_text(out, log.token.text); });
  out += R"(,"token_logprobs":)";
  append_list(out, tokens, [&](const TokenLog& log) {
    fmt::format_to(std::back_inserter(out), "{:.6f}", log.token.logprob);
  });
  out += R"(,"top_logprobs":)";
  append_list(out, tokens, [&](const TokenLog& log) { append_candidates(out, log.candidates); });
  out += R"(,"text_offset":)";
  append_list(out, tokens, [&](const TokenLog& log) {
    fmt::format_to(std::back_inserter(out), "{}", offset);
    offset += characters(log.token.text);
  });
  return out + '}';
}

std::string_view finish_word(Finish finish) {
  switch (finish) {
    case Finish::stop:
      return "\"stop\"";
    case Finish::length:
      return "\"length\"";
    default:
      return "null";
  }
}

}  // namespace assay::serve
