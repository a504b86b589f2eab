#include "assay/serve/vocabulary.h"

#include <utility>

#include "assay/text/utf8.h"

namespace assay::serve {

Result<std::string> Vocabulary::detokenize(std::span<const int> tokens) const {
  std::string text;
  for (const int token : tokens) {
    const std::string* bytes = bytes_of(token);
    if (bytes == nullptr)
      return fail(ErrorCode::invalid_input, "there is no token {}: ids are 0 to {}", token,
                  size() - 1);
    text += *bytes;
  }
  return text;
}

ModelVocabulary::ModelVocabulary(text::Tokenizer tokenizer) : tokenizer_(std::move(tokenizer)) {
  for (int token = 0; token < tokenizer_.size(); ++token) {
    const std::string* bytes = tokenizer_.bytes_of(token);
    if (bytes != nullptr && !bytes->empty() && !tokenizer_.is_special(token) &&
        text::is_utf8(*bytes))
      words_.push_back(token);
  }
}

}  // namespace assay::serve
