#pragma once

// A model's tokenizer: byte-pair encoding as tokenizer.json and GGUF files describe it. What a file
// asks for and is not known here is refused by name: other ids than the model's are worse than
// none.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/text/added_tokens.h"
#include "assay/text/bpe.h"
#include "assay/text/splitter.h"

namespace assay::text {

// How the vocabulary's entries are bytes of a text.
enum class Decoding {
  bytes,          // Written in the alphabet of bytes.
  byte_fallback,  // <0xHH> is a byte, all else is text.
};

struct TokenizerParts {
  bool compose = false;  // Unicode's NFC, first.
  std::vector<Splitter> splitters;
  BpeParts bpe;
  std::vector<AddedToken> added;
  Decoding decoding = Decoding::bytes;
  std::vector<int> before, after;  // Around every text, where special tokens are asked for.
};

enum class SpecialTokens { none, around };

class Tokenizer {
 public:
  // A tokenizer.json, or a GGUF file of a model. Errors: not_found, invalid_input.
  static Result<Tokenizer> load(const std::string& path);
  static Result<Tokenizer> from_json(std::string_view text, std::string_view origin);
  // `bytes`: at least the file's metadata.
  static Result<Tokenizer> from_gguf(std::string_view bytes, std::string_view origin);
  static Result<Tokenizer> create(TokenizerParts parts);

  // Tokens that are written in the text ("<|im_end|>") are found in it. One thread at a time.
  // Errors: invalid_input (no UTF-8), failed (a pattern needs too much).
  Result<std::vector<int>> encode(std::string_view text,
                                  SpecialTokens special = SpecialTokens::none) const;

  // The bytes of tokens, special ones too. Errors: invalid_input for an id that there is not.
  Result<std::string> decode(std::span<const int> ids) const;
  // Of one: maybe a part of a character. Null: there is no such token.
  const std::string* bytes_of(int id) const;
  bool is_special(int id) const;
  int size() const { return static_cast<int>(entries_.size()); }  // Ids are below it.

 private:
  struct Entry {
    std::string bytes;
    bool there = false, special = false;
  };

  explicit Tokenizer(Bpe bpe) : bpe_(std::move(bpe)) {}
  Status add_entry(int id, std::string bytes, bool special);
  Status add_all(const TokenizerParts& parts);
  Status encode_plain(std::string_view text, std::vector<int>& ids) const;
  Status encode_words(std::string_view text, std::vector<int>& ids) const;

  Bpe bpe_;
  bool compose_ = false;
  std::vector<Splitter> splitters_;
  AddedTokens as_written_, normalized_;
  std::vector<Entry> entries_;
  std::vector<int> before_, after_;
};

}  // namespace assay::text
