#pragma once

// What the body of a request for text asks for, checked.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/serve/api_error.h"
#include "assay/serve/backend.h"
#include "assay/text/chat_template.h"

namespace assay::serve {

struct AskLimits {
  bool strict = false;            // Fields that nobody knows are refused.
  int choices = 64;               // n, and best_of.
  std::size_t prompts = 256;      // Of one request for completions.
  std::size_t stop_strings = 4;   // As OpenAI.
  std::size_t stop_bytes = 1024;  // Of each.
  text::ChatTemplate chat_template = text::ChatTemplate::roles;  // What a chat becomes.
};

struct Asked {
  bool chat = false;
  std::string model;                         // Empty: whichever is served.
  std::vector<std::string> prompts;          // Texts, or
  std::vector<std::vector<int>> prompt_ids;  // tokens.
  int n = 1;                                 // Answers to each.
  std::optional<std::int64_t> max_tokens;
  int min_tokens = 0;
  bool ignore_eos = false;
  bool stream = false;
  bool include_usage = false;     // A last chunk of it.
  bool continuous_usage = false;  // In every chunk.
  bool echo = false;
  std::vector<std::string> stop;
  int alternatives = -1;  // As Job's.
  Sampling sampling;

  std::size_t prompt_count() const { return prompts.size() + prompt_ids.size(); }
};

Outcome<Asked> read_chat(std::string_view body, const AskLimits& limits);
Outcome<Asked> read_completion(std::string_view body, const AskLimits& limits);

}  // namespace assay::serve
