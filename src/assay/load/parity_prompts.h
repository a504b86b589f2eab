#pragma once

// Prompts that a server is asked one by one, greedily, so that its answers can be held against
// those of a reference: which tokens, and how close the runner-up of each was.

#include <cstdint>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/load/plan.h"

namespace assay::load {

struct ParityPrompt {
  std::string id;
  std::string text;  // Of a completion; empty: a chat.
  Json messages;     // Of a chat.
  std::int64_t output_tokens = 32;
};

// A JSON object a line: {id, prompt} or {id, messages}, and perhaps max_tokens. Errors name file
// and line.
Result<std::vector<ParityPrompt>> read_parity_prompts(const std::string& path);

// {id, tokens, logits}: the answer's tokens by the server's /tokenize, or its bytes where the
// server has none; for each token the two largest log probabilities, left out where the server does
// not say them or cuts the text otherwise. Errors: failed (no whole answer), unsupported (not 2xx).
Result<Json> ask_parity_prompt(const LoadPlan& plan, const ParityPrompt& prompt, int cancel_fd);

}  // namespace assay::load
