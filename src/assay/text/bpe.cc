#include "assay/text/bpe.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <queue>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/text/byte_alphabet.h"
#include "assay/text/utf8.h"

namespace assay::text {
namespace {

constexpr std::size_t kFew = 48;  // Symbols that are looked through for each merge.
constexpr std::size_t kMostRemembered = 1 << 16, kLongestRemembered = 32;
constexpr int kUnknown = -1;
constexpr int kNoRank = std::numeric_limits<int>::max();

// 0 is no key: symbols are counted from 1 in it.
std::uint64_t key_of(int left, int right) {
  return (static_cast<std::uint64_t>(left) + 1) << 32 | static_cast<std::uint32_t>(right);
}

// Spreads keys over the table's places (Knuth's multiplicative hash).
std::size_t place_of(std::uint64_t key, int shift) {
  return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> shift);
}

}  // namespace

Result<Bpe> Bpe::create(const BpeParts& parts) {
  Bpe bpe;
  bpe.bytes_ = parts.bytes;
  bpe.ignore_merges_ = parts.ignore_merges;
  bpe.byte_fallback_ = parts.byte_fallback;
  bpe.fuse_unknown_ = parts.fuse_unknown;
  for (const auto& [text, id] : parts.vocabulary) {
    if (!bpe.written_.emplace(text, id).second)
      return fail(ErrorCode::invalid_input, "the vocabulary has '{}' twice", sanitize(text, 80));
    if (!parts.ignore_merges) continue;
    const auto word = parts.bytes ? bytes_of_characters(text) : std::optional(text);
    if (word) bpe.words_.emplace(*word, id);
  }
  if (!parts.unknown.empty()) {
    const auto id = bpe.find(parts.unknown);
    if (!id)
      return fail(ErrorCode::invalid_input,
                  "the vocabulary does not have '{}', which is to stand "
                  "for what is unknown",
                  sanitize(parts.unknown, 80));
    bpe.unknown_ = *id;
  }
  for (int byte = 0; byte < 256; ++byte)
    bpe.byte_symbols_[static_cast<std::size_t>(byte)] =
        bpe.symbols_of(byte_character(static_cast<unsigned char>(byte)));
  ASSAY_TRY(bpe.add_merges(parts));
  return bpe;
}

Status Bpe::add_merges(const BpeParts& parts) {
  const std::size_t places = std::bit_ceil(2 * parts.merges.size() + 16);
  merges_.resize(places);
  shift_ = 64 - std::countr_zero(places);
  int rank = 0;
  for (const auto& [left, right] : parts.merges) {
    const auto first = find(left), second = find(right), both = find(left + right);
    if (!first || !second || !both)
      return fail(ErrorCode::invalid_input,
                  "merge {} is of '{}' and '{}': the vocabulary does not have {}", rank + 1,
                  sanitize(left, 80), sanitize(right, 80),
                  first && second ? "them as one" : "both");
    insert({key_of(*first, *second), rank++, *both});
  }
  return {};
}

std::optional<int> Bpe::find(std::string_view written) const {
  const auto found = written_.find(written);
  return found == written_.end() ? std::nullopt : std::optional(found->second);
}

// Of a pair that is given twice, the last counts.
void Bpe::insert(const Merge& merge) {
  std::size_t at = place_of(merge.key, shift_);
  while (merges_[at].key != 0 && merges_[at].key != merge.key) at = (at + 1) & (merges_.size() - 1);
  merges_[at] = merge;
}

const Bpe::Merge* Bpe::merge_of(int left, int right) const {
  if (left < 0 || right < 0) return nullptr;
  const std::uint64_t key = key_of(left, right);
  for (std::size_t at = place_of(key, shift_); merges_[at].key != 0;
       at = (at + 1) & (merges_.size() - 1))
    if (merges_[at].key == key) return &merges_[at];
  return nullptr;
}

// Its own symbol, those of its bytes, or kUnknown.
std::vector<int> Bpe::symbols_of(std::string_view character) const {
  if (const auto id = find(character)) return {*id};
  std::vector<int> symbols;
  for (const char c : character) {
    const auto id = byte_fallback_ ? find(fmt::format("<0x{:02X}>", static_cast<unsigned char>(c)))
                                   : std::nullopt;
    if (!id) return {kUnknown};
    symbols.push_back(*id);
  }
  return symbols;
}

void Bpe::begin(std::string_view word, std::vector<int>& symbols) const {
  bool fused = false;
  const auto add = [&](const std::vector<int>& more) {
    const bool is_unknown = more.front() == kUnknown;
    if (!is_unknown)
      symbols.insert(symbols.end(), more.begin(), more.end());
    else if (unknown_ != kUnknown && !(fuse_unknown_ && fused))
      symbols.push_back(unknown_);
    fused = is_unknown;
  };
  if (bytes_) {
    for (const char c : word) add(byte_symbols_[static_cast<unsigned char>(c)]);
    return;
  }
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t size = first_character(word.substr(at)).size;
    add(symbols_of(word.substr(at, size)));
    at += size;
  }
}

void Bpe::merge_few(std::vector<int>& symbols) const {
  struct Pair {
    int rank = kNoRank, id = 0;
  };
  std::array<Pair, kFew> pairs;
  const auto look = [&](std::size_t at) {
    const Merge* merge = at + 1 < symbols.size() ? merge_of(symbols[at], symbols[at + 1]) : nullptr;
    pairs[at] = merge == nullptr ? Pair{} : Pair{merge->rank, merge->id};
  };
  for (std::size_t at = 0; at < symbols.size(); ++at) look(at);
  while (symbols.size() > 1) {
    const auto least = std::min_element(
        pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(symbols.size()) - 1,
        [](const Pair& a, const Pair& b) { return a.rank < b.rank; });
    if (least->rank == kNoRank) return;
    const auto at = static_cast<std::size_t>(least - pairs.begin());
    symbols[at] = least->id;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    std::copy(pairs.begin() + static_cast<std::ptrdiff_t>(at) + 2,
              pairs.begin() + static_cast<std::ptrdiff_t>(symbols.size()) + 1,
              pairs.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    look(at);
    if (at > 0) look(at - 1);
  }
}

// The same for words of any length: a queue of pairs, of which those that are no more are skipped.
void Bpe::merge_many(std::vector<int>& symbols) const {
  struct Pair {
    int rank;
    std::size_t at;
    int id;
    bool operator>(const Pair& other) const {
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };
  constexpr std::size_t kNone = SIZE_MAX;
  const std::size_t count = symbols.size();
  std::vector<std::size_t> next(count), previous(count);
  for (std::size_t i = 0; i < count; ++i) {
    next[i] = i + 1 < count ? i + 1 : kNone;
    previous[i] = i > 0 ? i - 1 : kNone;
  }
  std::vector<bool> gone(count);
  std::priority_queue<Pair, std::vector<Pair>, std::greater<>> queue;
  const auto look = [&](std::size_t at) {
    if (at == kNone || next[at] == kNone) return;
    if (const Merge* merge = merge_of(symbols[at], symbols[next[at]]))
      queue.push({merge->rank, at, merge->id});
  };
  for (std::size_t i = 0; i < count; ++i) look(i);
  while (!queue.empty()) {
    const Pair pair = queue.top();
    queue.pop();
    if (gone[pair.at] || next[pair.at] == kNone) continue;
    const std::size_t right = next[pair.at];
    const Merge* merge = merge_of(symbols[pair.at], symbols[right]);
    if (merge == nullptr || merge->id != pair.id || merge->rank != pair.rank) continue;
    symbols[pair.at] = merge->id;
    gone[right] = true;
    next[pair.at] = next[right];
    if (next[right] != kNone) previous[next[right]] = pair.at;
    look(pair.at);
    look(previous[pair.at]);
  }
  std::size_t kept = 0;
  for (std::size_t at = 0; at != kNone; at = next[at]) symbols[kept++] = symbols[at];
  symbols.resize(kept);
}

void Bpe::encode(std::string_view word, std::vector<int>& ids) const {
  if (word.empty()) return;
  if (ignore_merges_) {
    if (const auto found = words_.find(word); found != words_.end()) {
      ids.push_back(found->second);
      return;
    }
  }
  const bool remember = word.size() <= kLongestRemembered;
  if (remember) {
    if (const auto found = remembered_.find(word); found != remembered_.end()) {
      ids.insert(ids.end(), found->second.begin(), found->second.end());
      return;
    }
  }
  std::vector<int> symbols;
  symbols.reserve(word.size());
  begin(word, symbols);
  if (symbols.size() > kFew)
    merge_many(symbols);
  else
    merge_few(symbols);
  ids.insert(ids.end(), symbols.begin(), symbols.end());
  if (remember && remembered_.size() < kMostRemembered)
    remembered_.emplace(word, std::move(symbols));
}

}  // namespace assay::text
