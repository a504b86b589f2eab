#include "assay/stats/rates.h"

#include <algorithm>
#include <cmath>

namespace assay::stats {

double chance_of_more(const Count& first, const Count& second) {
  if (!(first.exposure > 0) || !(second.exposure > 0) || first.events <= 0) return 1;
  const double share = first.exposure / (first.exposure + second.exposure);
  const auto all = static_cast<double>(first.events + second.events);
  double chance = 0;
  for (int64_t events = first.events; events <= first.events + second.events; ++events) {
    const auto n = static_cast<double>(events);
    chance += std::exp(std::lgamma(all + 1) - std::lgamma(n + 1) - std::lgamma(all - n + 1) +
                       n * std::log(share) + (all - n) * std::log1p(-share));
  }
  return std::min(chance, 1.0);
}

}  // namespace assay::stats
