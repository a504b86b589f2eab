#pragma once

// Whether something happens more often to one of two than to the other.

#include <cstdint>

namespace assay::stats {

// What was counted, over what it could have happened in (bursts, milliseconds).
struct Count {
  int64_t events = 0;
  double exposure = 0;
};

// The chance that `first` has as many events as it has, or more, where both have one rate: the tail
// of a binomial, given the events of both. 1 where there is nothing to tell them apart.
double chance_of_more(const Count& first, const Count& second);

}  // namespace assay::stats
