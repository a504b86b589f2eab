#pragma once

// Whether a kernel works behind its clock while the thread that launches stands still: it may let
// another thread finish there what its launches left undone. From the stop of the clock until
// outputs were looked at, all kernels of a problem do the same, whoever brought them. What the
// launching thread itself works beside its launches is judged from the record
// (record/work_beside.h).

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
  // kernels that no user brought: more than twice as long, and 40 us.
  std::optional<std::string> excess(size_t kernel);

 private:
  // Of each stretch of launches, in ns.
  struct Seen {
    bool of_user = false;
    std::vector<double> burst, behind;
  };
  using Key = std::pair<size_t, int>;  // Of a kernel, and how many launches its bursts have.
  std::optional<std::string> excess(const Key& key, const Seen& own) const;
  double of_others(const Key& key) const;

  std::map<Key, Seen> seen_;
};

}  // namespace assay::sweep
