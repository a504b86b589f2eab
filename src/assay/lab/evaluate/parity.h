#pragma once

// Whether a tree still says what the reference says: tokens by prompt, in JSON lines
// {"id": ..., "tokens": [...], "logits": [[first, second], ...]}.

#include <map>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay::lab {

struct ParityAnswer {
  std::vector<int64_t> tokens;
  // Of each token, where they are given: the two largest logits.
  std::vector<std::pair<double, double>> logits;
};
using ParityAnswers = std::map<std::string, ParityAnswer>;

Result<ParityAnswers> read_parity_answers(std::string_view text, std::string_view origin);

struct ParityVerdict {
  bool holds = false;
  int prompts = 0;
  int close_calls = 0;  // Tokens that differ where the reference's first two were within tolerance.
  std::string reason;   // The first difference; empty where it holds.
};

// Tokens must be equal, but where the reference's first two logits lie within the tolerance of one
// another; what follows such a token is another text, and not compared.
ParityVerdict compare_parity(const ParityAnswers& reference, const ParityAnswers& answers,
                             double tolerance);

// Twice the largest difference between logits of two runs of one tree.
double parity_tolerance(const ParityAnswers& first, const ParityAnswers& second);

}  // namespace assay::lab
