#pragma once

// Whether a kernel works beside its clock, on the thread that launches: a kernel that has got hold
// of that thread can do there, once inputs are known, what its launches then leave out, or do
// behind the clock what they left undone. From the answer that inputs are made from until outputs
// have been looked at, what is done beside the launches is the same for all kernels of a problem,
// whoever brought them.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/watch/processor_time.h"

namespace assay::sweep {

class AroundClock {
 public:
  // Of a clean burst of so many launches, and so long by its own clock.
  void add(size_t kernel, bool of_user, int launches, const BurstMoments& moments,
           int64_t burst_ns);

  // A sentence, if a user's kernel takes much longer there, in the middle of its bursts, than
  // kernels that no user brought: by processor time, and by wall time behind the clock more than
  // twice as long. A little more processor time is held against it later (record/work_beside.h).
  std::optional<std::string> excess(size_t kernel);

 private:
  // Of each stretch of launches, in ns.
  struct Seen {
    bool of_user = false;
    std::vector<double> burst, work, behind;
  };
  using Key = std::pair<size_t, int>;  // Of a kernel, and how many launches its bursts have.
  struct Kind;
  std::optional<std::string> excess(const Key& key, const Seen& own, const Kind& kind) const;
  double of_others(const Key& key, const Kind& kind) const;

  std::map<Key, Seen> seen_;
};

}  // namespace assay::sweep
