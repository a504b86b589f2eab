#pragma once

// Seeded text of so many tokens, made of common words whose tokens are known: counted by whoever
// has the model's tokenizer, or a word each.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/random.h"
#include "assay/base/result.h"

namespace assay::load {

// Tokens of a text, special ones left out: the server's /tokenize, or a tokenizer.
using TokenCount = std::function<Result<std::int64_t>(const std::string& text)>;

class WordText {
 public:
  WordText();  // Every word is one token.

  // Counts each word, as it stands behind a blank. Errors: those of `count`; unsupported where no
  // word is one token.
  static Result<WordText> counted(const TokenCount& count, std::string counter);

  // "words", or what counted.
  const std::string& counter() const { return counter_; }
  std::string make(const CounterRandom& random, std::int64_t tokens) const;

 private:
  std::vector<std::int64_t> costs_;  // By word.
  std::vector<std::size_t> single_;  // Words of one token.
  std::string counter_ = "words";
};

}  // namespace assay::load
