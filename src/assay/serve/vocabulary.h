#pragma once

// What texts are tokens of: a model's tokenizer, or the mock's own words.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/text/tokenizer.h"

namespace assay::serve {

class Vocabulary {
 public:
  virtual ~Vocabulary() = default;

  virtual int size() const = 0;  // Ids are below it.
  virtual Result<std::vector<int>> tokenize(std::string_view text,
                                            text::SpecialTokens special) const = 0;
  // Null for an id that there is not. Maybe a part of a character.
  virtual const std::string* bytes_of(int token) const = 0;
  // Tokens that are whole characters and stand for themselves.
  virtual std::span<const int> words() const = 0;

  // Errors: invalid_input for an id that there is not.
  Result<std::string> detokenize(std::span<const int> tokens) const;
};

// Of a model: `tokenizer` in the words of a vocabulary.
class ModelVocabulary final : public Vocabulary {
 public:
  explicit ModelVocabulary(text::Tokenizer tokenizer);

  int size() const override { return tokenizer_.size(); }
  Result<std::vector<int>> tokenize(std::string_view text,
                                    text::SpecialTokens special) const override {
    return tokenizer_.encode(text, special);
  }
  const std::string* bytes_of(int token) const override { return tokenizer_.bytes_of(token); }
  std::span<const int> words() const override { return words_; }

 private:
  text::Tokenizer tokenizer_;
  std::vector<int> words_;
};

}  // namespace assay::serve
