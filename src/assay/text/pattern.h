#pragma once

// Regular expressions as tokenizers are written with: Oniguruma's dialect, run by PCRE2. A pattern
// is taken only if both understand it alike; whatever else it holds is refused by name.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay::text {

struct Range {
  std::size_t begin = 0, end = 0;
};

class Pattern {
 public:
  static Result<Pattern> compile(std::string_view expression);
  static Result<Pattern> literal(std::string_view text);

  // Every match in `text`, which must be UTF-8, from left to right; none is empty. Errors: failed,
  // if matching takes more steps or memory than a pattern may.
  Status find_all(std::string_view text, std::vector<Range>& matches) const;

 private:
  struct Compiled;
  explicit Pattern(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  static Result<Pattern> make(const std::string& translated, std::string_view shown);

  std::shared_ptr<const Compiled> compiled_;
};

// `expression` in PCRE2's words. Errors: what the two read differently.
Result<std::string> translate_pattern(std::string_view expression);

}  // namespace assay::text
