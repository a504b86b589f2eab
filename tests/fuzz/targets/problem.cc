// A problem's fields in a message, a record or a table.

#include "assay/op/operation.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/samples.h"

namespace assay {

ASSAY_FUZZ_TARGET(problem) {
  const auto fields = parse_json(bytes, "problem");
  if (!fields) return;
  for (const Operation* operation : built_in_operations()) {
    const auto problem = operation->problem(*fields);
    if (!fuzz::is_read(problem)) continue;
    fuzz::expect_made_again(*problem);
    for (const Operand& operand : problem->operands())
      fuzz::expect(operand.span_bytes > 0, "an operand of no bytes");
    const Work work = operation->work(*problem);
    fuzz::expect(work.flops >= 0 && work.bytes() > 0, "work that is none");
  }
}

}  // namespace assay
