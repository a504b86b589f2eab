// record.json, ours or anybody's.

#include "assay/record/record.h"

#include "assay/record/provider_results.h"
#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(record) {
  const auto document = parse_json_document(bytes, "record.json");
  if (!document) return;
  const auto record = read_record(*document);
  if (!fuzz::is_read(record)) return;
  const std::string written = record_text(*record);
  const auto again = parse_json_document(written, "again.json");
  if (!fuzz::is_read_again(again)) return;
  const auto same = read_record(*again);
  if (fuzz::is_read_again(same))
    fuzz::expect_same(record_text(*same), written, "a record that was written reads differently");
  BestOfProviders best;
  for (const ProblemRecord& problem : record->problems) {
    best.add(problem, "record.json");
    fuzz::expect_same(hash_of_evidence(*record, problem), hash_of_evidence(*record, problem),
                      "two hashes of one record");
  }
  best.take(record->environment);
}

}  // namespace assay
