// record.json.zst, and a store's rows.

#include "assay/record/record.h"
#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(compressed_record) {
  const auto record = read_compressed_record(std::string(bytes), "record.json.zst");
  if (!fuzz::is_read(record)) return;
  const auto written = compressed_record(*record);
  if (!fuzz::is_read_again(written)) return;
  const auto again = read_compressed_record(*written, "again.json.zst");
  if (fuzz::is_read_again(again))
    fuzz::expect_same(record_text(*again), record_text(*record), "a record changes");
}

}  // namespace assay
