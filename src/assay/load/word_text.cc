#include "assay/load/word_text.h"

#include <array>
#include <numeric>

namespace assay::load {
namespace {

constexpr std::array<std::string_view, 96> kWords = {
    "the",  "of",   "and",    "to",      "in",    "is",    "that",  "for",   "it",   "as",
    "was",  "with", "be",     "by",      "on",    "not",   "he",    "but",   "at",   "are",
    "this", "have", "from",   "or",      "had",   "an",    "they",  "which", "one",  "you",
    "were", "all",  "her",    "she",     "there", "would", "their", "we",    "him",  "been",
    "has",  "when", "who",    "will",    "no",    "more",  "if",    "out",   "so",   "up",
    "said", "what", "its",    "about",   "than",  "into",  "them",  "can",   "only", "other",
    "time", "new",  "some",   "could",   "these", "two",   "may",   "first", "then", "do",
    "any",  "like", "my",     "now",     "over",  "such",  "our",   "man",   "me",   "even",
    "most", "made", "after",  "also",    "did",   "many",  "must",  "where", "much", "way",
    "well", "down", "should", "because", "long",  "people"};

}  // namespace

WordText::WordText() : costs_(kWords.size(), 1), single_(kWords.size()) {
  std::iota(single_.begin(), single_.end(), std::size_t{0});
}

Result<WordText> WordText::counted(const TokenCount& count, std::string counter) {
  WordText text;
  text.counter_ = std::move(counter);
  std::string all;
  for (const std::string_view word : kWords) fmt::format_to(std::back_inserter(all), " {}", word);
  ASSAY_TRY(const std::int64_t together, count(all));
  // The usual case, for one question instead of one a word.
  if (together == static_cast<std::int64_t>(kWords.size())) return text;
  text.single_.clear();
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    ASSAY_TRY(text.costs_[i], count(fmt::format(" {}", kWords[i])));
    if (text.costs_[i] == 1) text.single_.push_back(i);
  }
  if (text.single_.empty())
    return fail(ErrorCode::unsupported, "no common word is one token of this tokenizer");
  return text;
}

std::string WordText::make(const CounterRandom& random, std::int64_t tokens) const {
  std::string text;
  std::uint64_t drawn = 0;
  while (tokens > 0) {
    std::size_t word = random.below(drawn++, kWords.size());
    if (costs_[word] > tokens || costs_[word] < 1)
      word = single_[random.below(drawn++, single_.size())];
    tokens -= costs_[word];
    text += ' ';
    text += kWords[word];
  }
  return text;
}

}  // namespace assay::load
