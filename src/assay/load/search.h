#pragma once

// The largest load that keeps an objective: bracketed by doubling, halved until it is known well
// enough, and confirmed in fresh runs.

#include <functional>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::load {

struct Tried {
  double load = 0;
  bool keeps = false;
  bool client_limited = false;  // What it says of the server is a bound at most.
  bool confirming = false;
};

struct SearchOptions {
  double from = 1, most = 65536;
  bool whole = true;         // Streams; else a rate.
  double resolution = 0.02;  // As a share; of whole loads at least 1.
  int confirming = 3;
};

struct SearchResult {
  double largest = 0;           // 0: not even the smallest keeps it.
  bool client_limited = false;  // The client could make no more: the server may bear more.
  bool reached_most = false;
  std::vector<Tried> tried;
};

// `attempt` runs one load; number differs from run to run.
using Attempt = std::function<Result<Tried>(double load, int number)>;
Result<SearchResult> search_load(const SearchOptions& options, const Attempt& attempt);

Json search_json(const SearchResult& result);

}  // namespace assay::load
