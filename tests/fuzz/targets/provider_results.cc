// <provider>_results.json of any tool.

#include "assay/record/provider_results.h"

#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(provider_results) {
  const auto document = parse_json_document(bytes, "results.json");
  if (!document) return;
  const auto results = read_provider_results(*document);
  if (!fuzz::is_read(results)) return;
  const Json written = to_json(*results);
  const auto again = parse_json_document(dump_pretty(written), "again.json");
  if (!fuzz::is_read_again(again)) return;
  const auto same = read_provider_results(*again);
  if (fuzz::is_read_again(same))
    fuzz::expect_same(to_json(*same), written, "results that were written read differently");
}

}  // namespace assay
