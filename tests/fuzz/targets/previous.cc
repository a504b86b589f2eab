// --against-previous: an earlier comparison.json.

#include <cmath>

#include "assay/compare/claims.h"
#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(previous) {
  const auto document = parse_json_document(bytes, "comparison.json");
  if (!document) return;
  const auto previous = read_previous(*document);
  if (!fuzz::is_read(previous)) return;
  for (const Previous::Entry& entry : previous->entries) {
    const bool compares = std::isfinite(entry.speedup) && entry.speedup > 0;
    const bool times = std::isfinite(entry.runtime_ms) && entry.runtime_ms > 0;
    fuzz::expect(compares || times, "an entry that says nothing");
    if (entry.low && entry.high) fuzz::expect(*entry.low <= *entry.high, "an interval of none");
  }
}

}  // namespace assay
