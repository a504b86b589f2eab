#pragma once

// The pieces of answers that are the same in whole bodies and in chunks of a stream.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "assay/serve/backend.h"

namespace assay::serve {

struct Usage {
  std::int64_t prompt = 0, completion = 0;
};
std::string usage_json(const Usage& usage);

// A token as it was made, with what else it might have been.
struct TokenLog {
  Candidate token;
  std::vector<Candidate> candidates;
};
std::int64_t characters(std::string_view text);  // Of UTF-8; of a broken one, its beginnings.

std::string chat_logprobs_json(std::span<const TokenLog> tokens);
// `offset`: of the first token in the text, in characters; it is moved past the last.
std::string completion_logprobs_json(std::span<const TokenLog> tokens, std::int64_t& offset);

std::string_view finish_word(Finish finish);  // In quotes; "null" while more follows.

}  // namespace assay::serve
