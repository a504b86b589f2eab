#include "assay/lab/files/path_pattern.h"

#include <vector>

namespace assay::lab {

bool matches(std::string_view path, std::string_view pattern) {
  // reach[i]: the pattern so far fits the first i characters; the whole takes |path| x |pattern|.
  std::vector<bool> reach(path.size() + 1, false);
  reach[0] = true;
  for (size_t at = 0; at < pattern.size(); ++at) {
    std::vector<bool> next(path.size() + 1, false);
    if (pattern[at] == '*') {
      const bool slashes = at + 1 < pattern.size() && pattern[at + 1] == '*';
      if (slashes) ++at;
      for (size_t i = 0; i <= path.size(); ++i)
        next[i] = reach[i] || (i > 0 && next[i - 1] && (slashes || path[i - 1] != '/'));
    } else {
      for (size_t i = 0; i < path.size(); ++i) next[i + 1] = reach[i] && path[i] == pattern[at];
    }
    reach.swap(next);
  }
  return reach[path.size()];
}

}  // namespace assay::lab
