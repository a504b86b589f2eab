#pragma once

// How a text becomes words, before any is encoded.

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "assay/text/pattern.h"

namespace assay::text {

// Words of a text; one that is no part of the text is kept beside them.
struct Words {
  std::vector<std::string_view> words;
  std::deque<std::string> made;
};

enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

struct Splitter {
  Pattern pattern;
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;        // What lies between matches counts as a match, and the reverse.
  bool prefix_blank = false;  // First each word that does not begin with a blank gets one.
  bool split = true;          // Without it, that is all.

  Status apply(Words& words) const;

 private:
  Status split_word(std::string_view word, std::vector<std::string_view>& words) const;
};

}  // namespace assay::text
