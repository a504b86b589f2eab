#pragma once

// What a race is asked to show of the user's kernel, for scripts: held or not, as of compare's
// claims. A gate holds by samples alone, and what was not shown is not held.

#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/compare/comparison.h"
#include "assay/record/record.h"

namespace assay {

struct Requirement {
  enum class Kind { faster, same, within } kind = Kind::faster;
  double fraction = 0;  // Of within: how far behind it may be.
};

// "faster", "same" or "within:3%". faster: by more than the margin. same: no slower, which `faster`
// is, too. within: its interval ends no further behind than that.
Result<Requirement> parse_requirement(std::string_view text);

// Of the verdict of each problem: the user's kernel against the best stock kernel.
std::vector<Claim> require_of_race(const RunRecord& record, const Requirement& requirement);

// "X is no slower than before on P": its speed-up in both records over the stock kernel that the
// earlier record's verdict names, or over another one that both confirmed. Times of two runs are
// not compared. Problems that the earlier record has no verdict of, or this one has not, are added
// to `missing`; machines and libraries that differ to `stale`.
struct Regression {
  std::vector<Claim> claims;
  std::vector<std::string> missing, stale;
};
Regression no_regression(const RunRecord& record, const RunRecord& previous,
                         std::string_view previous_path);

}  // namespace assay
