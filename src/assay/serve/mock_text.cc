#include "assay/serve/mock_text.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <vector>

namespace assay::serve {
namespace {

constexpr int kBytes = 256;
constexpr std::uint64_t kCharacterEvery = 24;  // Words, on average.

constexpr std::array<std::string_view, 160> kWords = {
    " the",    " of",     " and",     " a",      " to",     " in",    " is",    " that",
    " it",     " was",    " for",     " on",     " are",    " as",    " with",  " they",
    " at",     " be",     " this",    " from",   " have",   " or",    " by",    " one",
    " had",    " not",    " but",     " what",   " all",    " were",  " when",  " we",
    " there",  " can",    " an",      " your",   " which",  " their", " said",  " if",
    " do",     " will",   " each",    " about",  " how",    " up",    " out",   " them",
    " then",   " she",    " many",    " some",   " so",     " these", " would", " other",
    " into",   " has",    " more",    " her",    " two",    " like",  " him",   " see",
    " time",   " could",  " no",      " make",   " than",   " first", " been",  " its",
    " who",    " now",    " people",  " my",     " made",   " over",  " did",   " down",
    " only",   " way",    " find",    " use",    " may",    " water", " long",  " little",
    " very",   " after",  " words",   " called", " just",   " where", " most",  " know",
    " matrix", " kernel", " tile",    " warp",   " thread", " block", " cache", " memory",
    " shared", " global", " load",    " store",  " layer",  " token", " model", " weight",
    " row",    " column", " product", " sum",    " scale",  " query", " key",   " value",
    " head",   " batch",  " stream",  " queue",  " core",   " cycle", " clock", " fast",
    " slow",   " same",   " right",   " wrong",  " test",   " proof", " error", " bound",
    " number", " float",  " integer", " vector", " unit",   " step",  " loop",  " branch",
    " read",   " write",  " wait",    " sync",   " launch", " graph", " plan",  " race",
    ".",       ",",       "\n",       " I",      " you",    " he",    " The",   " It"};

constexpr std::array<std::string_view, 6> kCharacters = {
    "\xc3\xa9", "\xc3\xbc", "\xe6\x97\xa5", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf0\x9f\x9a\x80"};

constexpr std::size_t kLongestWord = std::ranges::max(kWords, {}, &std::string_view::size).size();

const std::unordered_map<std::string_view, int>& ids() {
  static const auto table = [] {
    std::unordered_map<std::string_view, int> words;
    for (std::size_t i = 0; i < kWords.size(); ++i)
      words.emplace(kWords[i], kBytes + static_cast<int>(i));
    return words;
  }();
  return table;
}

int byte_token(char c) { return static_cast<unsigned char>(c); }

class MockVocabulary final : public Vocabulary {
 public:
  MockVocabulary() {
    for (int byte = 0; byte < kBytes; ++byte) texts_.emplace_back(1, static_cast<char>(byte));
    for (const std::string_view word : kWords) texts_.emplace_back(word);
  }

  int size() const override { return static_cast<int>(texts_.size()); }
  const std::string* bytes_of(int token) const override {
    return token < 0 || token >= size() ? nullptr : &texts_[static_cast<std::size_t>(token)];
  }
  std::span<const int> words() const override { return {}; }

  // The longest word at each place.
  Result<std::vector<int>> tokenize(std::string_view text, text::SpecialTokens) const override {
    std::vector<int> tokens;
    tokens.reserve(text.size() / 3);
    while (!text.empty()) {
      std::size_t used = 1;
      int token = byte_token(text.front());
      const bool may_begin =
          text.front() == ' ' || text.front() == '.' || text.front() == ',' || text.front() == '\n';
      for (std::size_t size = may_begin ? std::min(kLongestWord, text.size()) : 0; size > 0;
           --size) {
        const auto found = ids().find(text.substr(0, size));
        if (found == ids().end()) continue;
        token = found->second;
        used = size;
        break;
      }
      tokens.push_back(token);
      text.remove_prefix(used);
    }
    return tokens;
  }

 private:
  std::vector<std::string> texts_;
};

}  // namespace

std::shared_ptr<const Vocabulary> mock_vocabulary() {
  static const auto vocabulary = std::make_shared<const MockVocabulary>();
  return vocabulary;
}

int MockText::next(int left) {
  if (!words_.empty()) return other_word();
  if (character_.empty()) {
    const std::uint64_t draw = random_.bits(drawn_++);
    const std::string_view character = kCharacters[(draw >> 32) % kCharacters.size()];
    if (draw % kCharacterEvery != 0 || static_cast<int>(character.size()) > left)
      return kBytes + static_cast<int>((draw >> 16) % kWords.size());
    character_ = character;
  }
  const int token = byte_token(character_.front());
  character_.remove_prefix(1);
  return token;
}

int MockText::other_word() {
  if (!words_.empty())
    return words_[static_cast<std::size_t>(random_.below(drawn_++, words_.size()))];
  return kBytes + static_cast<int>(random_.below(drawn_++, kWords.size()));
}

}  // namespace assay::serve
