#pragma once

// What the trust rows found of each kernel of the corpus with each seed: lines of a file that grows
// from run to run, and the rows that all of them together make.

#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "bench/row.h"

namespace assay::bench {

// A stock kernel, or an attacker's honest twin, beside a user's.
struct Rival {
  std::string label;
  std::string ending;            // Of its own.
  std::optional<double> slowed;  // Low end of its slow-down's logarithm, less that beside the twin.
};

// One kernel of the corpus, raced with one seed.
struct TrustLine {
  int seed = 0;
  bool attacker = false;  // Otherwise an honest one.
  std::string kernel;     // Its file's name.
  std::string shape;
  std::string ending, sentence;
  std::vector<std::string> findings;  // Codes, on it or on all of its race.
  // Of an attacker against its honest twin; of an honest kernel against the best stock one. Empty
  // where no word was to be had.
  std::string word;
  double ratio = 0;        // Beside the word; above 1 it takes less time.
  std::string stock_word;  // Among stock kernels alone, where there are two.
  std::vector<Rival> rivals;
  double seconds = 0;  // Of wall time; of an honest kernel its share of the race's.
  std::string revision;
};

Json to_json(const TrustLine& line);
// Errors name the line.
Result<std::vector<TrustLine>> read_trust_log(const std::string& path);

// How an attacker failed: its ending, a finding that takes its word, or "gained nothing"; empty: it
// was called faster than its honest twin.
std::string caught_by(const TrustLine& line);
// Why an honest kernel is flagged; empty: it is not.
std::string flagged_by(const TrustLine& line);

std::vector<Row> trust_rows(const std::vector<TrustLine>& lines);

}  // namespace assay::bench
