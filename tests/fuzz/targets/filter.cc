// --filter, asked of a row.

#include "assay/kernel/filter.h"

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/samples.h"

namespace assay {

ASSAY_FUZZ_TARGET(filter) {
  auto filter = Filter::parse(bytes);
  if (!fuzz::is_read(filter)) return;
  const bool matches = filter->matches(fuzz::sample_row());
  fuzz::expect(filter->matches(fuzz::sample_row()) == matches, "two answers for one row");
  if (matches) fuzz::expect(filter->conclude().has_value(), "it matches, and is said to be wrong");
  if (const Status end = filter->conclude(); !end) fuzz::expect_readable(end.error());
}

}  // namespace assay
