#pragma once

// A part of a row's races, so that several benches share them, each on processors of its own.

#include "bench/row.h"

namespace assay::bench {

struct Share {
  int first = 0, end = 0;  // Of the row's races, counted from 0.

  int count() const { return end - first; }
};

inline Share share_of(const Context& context, int races) {
  const auto [share, shares] = context.trust_share;
  return {races * (share - 1) / shares, races * share / shares};
}

inline bool is_whole(const Context& context) { return context.trust_share.second == 1; }

}  // namespace assay::bench
