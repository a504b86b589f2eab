#include "assay/text/splitter.h"

#include <algorithm>
#include <utility>

namespace assay::text {
namespace {

struct Part {
  Range range;
  bool match = false;
};

std::vector<Part> parts_of(std::size_t bytes, const std::vector<Range>& matches, bool invert) {
  std::vector<Part> parts;
  std::size_t told = 0;
  for (const Range& match : matches) {
    if (told < match.begin) parts.push_back({{told, match.begin}, invert});
    parts.push_back({match, !invert});
    told = match.end;
  }
  if (told < bytes) parts.push_back({{told, bytes}, invert});
  return parts;
}

// A match goes to the part before it, unless that is one that took a match itself.
std::vector<Part> with_previous(const std::vector<Part>& parts) {
  std::vector<Part> merged;
  bool after_match = false;
  for (const Part& part : parts) {
    if (part.match && !after_match && !merged.empty())
      merged.back().range.end = part.range.end;
    else
      merged.push_back(part);
    after_match = part.match;
  }
  return merged;
}

std::vector<Part> with_next(const std::vector<Part>& parts) {
  std::vector<Part> merged;
  bool before_match = false;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->match && !before_match && !merged.empty())
      merged.back().range.begin = part->range.begin;
    else
      merged.push_back(*part);
    before_match = part->match;
  }
  std::ranges::reverse(merged);
  return merged;
}

std::vector<Part> contiguous(const std::vector<Part>& parts) {
  std::vector<Part> merged;
  for (const Part& part : parts)
    if (!merged.empty() && merged.back().match == part.match)
      merged.back().range.end = part.range.end;
    else
      merged.push_back(part);
  return merged;
}

std::vector<Part> behave(SplitBehavior behavior, std::vector<Part> parts) {
  switch (behavior) {
    case SplitBehavior::removed:
      std::erase_if(parts, [](const Part& part) { return part.match; });
      return parts;
    case SplitBehavior::isolated:
      return parts;
    case SplitBehavior::merged_with_previous:
      return with_previous(parts);
    case SplitBehavior::merged_with_next:
      return with_next(parts);
    case SplitBehavior::contiguous:
      return contiguous(parts);
  }
  return parts;
}

}  // namespace

Status Splitter::split_word(std::string_view word, std::vector<std::string_view>& words) const {
  std::vector<Range> matches;
  ASSAY_TRY(pattern.find_all(word, matches));
  for (const Part& part : behave(behavior, parts_of(word.size(), matches, invert)))
    words.push_back(word.substr(part.range.begin, part.range.end - part.range.begin));
  return {};
}

Status Splitter::apply(Words& words) const {
  if (prefix_blank)
    for (std::string_view& word : words.words)
      if (!word.starts_with(' ')) word = words.made.emplace_back(" ").append(word);
  if (!split) return {};
  std::vector<std::string_view> more;
  for (const std::string_view word : words.words) ASSAY_TRY(split_word(word, more));
  words.words = std::move(more);
  return {};
}

}  // namespace assay::text
