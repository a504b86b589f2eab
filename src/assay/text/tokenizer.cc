#include "assay/text/tokenizer.h"

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/text/byte_alphabet.h"
#include "assay/text/compose.h"
#include "assay/text/utf8.h"

namespace assay::text {
namespace {

constexpr int kMostIds = 1 << 24;
constexpr std::string_view kHexDigits = "0123456789ABCDEF";

// The byte that "<0x0A>" stands for.
std::optional<char> fallback_byte(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return std::nullopt;
  const std::size_t high = kHexDigits.find(text[3]), low = kHexDigits.find(text[4]);
  if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
  return static_cast<char>(high * 16 + low);
}

// An entry with a character that stands for no byte is told as it is written, added ones included.
std::string bytes_of_entry(const std::string& written, Decoding decoding) {
  if (decoding == Decoding::bytes) return bytes_of_characters(written).value_or(written);
  const auto byte = fallback_byte(written);
  return byte ? std::string(1, *byte) : written;
}

}  // namespace

Status Tokenizer::add_entry(int id, std::string bytes, bool special) {
  if (id < 0 || id >= kMostIds)
    return fail(ErrorCode::invalid_input, "'{}' has the id {}: ids are 0 to {}",
                sanitize(bytes, 80), id, kMostIds - 1);
  if (static_cast<std::size_t>(id) >= entries_.size())
    entries_.resize(static_cast<std::size_t>(id) + 1);
  entries_[static_cast<std::size_t>(id)] = {std::move(bytes), true, special};
  return {};
}

Status Tokenizer::add_all(const TokenizerParts& parts) {
  for (const auto& [written, id] : parts.bpe.vocabulary) {
    if (bytes_of(id) != nullptr)
      return fail(ErrorCode::invalid_input, "the id {} is given twice, the second time to '{}'", id,
                  sanitize(written, 80));
    ASSAY_TRY(add_entry(id, bytes_of_entry(written, parts.decoding), false));
  }
  for (AddedToken token : parts.added) {
    if (!is_utf8(token.content))
      return fail(ErrorCode::invalid_input, "the added token {} is not UTF-8", token.id);
    if (token.normalized && compose_) {
      ASSAY_TRY(token.content, composed(token.content));
    }
    ASSAY_TRY(add_entry(token.id, bytes_of_entry(token.content, parts.decoding), token.special));
    (token.normalized ? normalized_ : as_written_).add(token);
  }
  for (const int id : parts.before)
    if (bytes_of(id) == nullptr)
      return fail(ErrorCode::invalid_input, "every text is to begin with {}, which is no token",
                  id);
  for (const int id : parts.after)
    if (bytes_of(id) == nullptr)
      return fail(ErrorCode::invalid_input, "every text is to end with {}, which is no token", id);
  return {};
}

Result<Tokenizer> Tokenizer::create(TokenizerParts parts) {
  ASSAY_TRY(Bpe bpe, Bpe::create(parts.bpe));
  Tokenizer tokenizer(std::move(bpe));
  tokenizer.compose_ = parts.compose;
  ASSAY_TRY(tokenizer.add_all(parts));
  tokenizer.splitters_ = std::move(parts.splitters);
  tokenizer.before_ = std::move(parts.before);
  tokenizer.after_ = std::move(parts.after);
  return tokenizer;
}

const std::string* Tokenizer::bytes_of(int id) const {
  if (id < 0 || id >= size() || !entries_[static_cast<std::size_t>(id)].there) return nullptr;
  return &entries_[static_cast<std::size_t>(id)].bytes;
}

bool Tokenizer::is_special(int id) const {
  return bytes_of(id) != nullptr && entries_[static_cast<std::size_t>(id)].special;
}

Status Tokenizer::encode_words(std::string_view text, std::vector<int>& ids) const {
  Words words{{text}, {}};
  for (const Splitter& splitter : splitters_) ASSAY_TRY(splitter.apply(words));
  for (const std::string_view word : words.words) bpe_.encode(word, ids);
  return {};
}

Status Tokenizer::encode_plain(std::string_view text, std::vector<int>& ids) const {
  std::string made;
  if (compose_) {
    ASSAY_TRY(made, composed(text));
    text = made;
  }
  for (const AddedTokens::Piece& piece : normalized_.split(text)) {
    if (piece.id >= 0)
      ids.push_back(piece.id);
    else
      ASSAY_TRY(encode_words(piece.text, ids));
  }
  return {};
}

Result<std::vector<int>> Tokenizer::encode(std::string_view text, SpecialTokens special) const {
  if (!is_utf8(text)) return fail(ErrorCode::invalid_input, "the text is not UTF-8");
  std::vector<int> ids;
  ids.reserve(text.size() / 4 + 2);
  if (special == SpecialTokens::around) ids = before_;
  for (const AddedTokens::Piece& piece : as_written_.split(text)) {
    if (piece.id >= 0)
      ids.push_back(piece.id);
    else
      ASSAY_TRY(encode_plain(piece.text, ids));
  }
  if (special == SpecialTokens::around) ids.insert(ids.end(), after_.begin(), after_.end());
  return ids;
}

Result<std::string> Tokenizer::decode(std::span<const int> ids) const {
  std::string text;
  for (const int id : ids) {
    const std::string* bytes = bytes_of(id);
    if (bytes == nullptr) return fail(ErrorCode::invalid_input, "there is no token {}", id);
    text += *bytes;
  }
  return text;
}

}  // namespace assay::text
