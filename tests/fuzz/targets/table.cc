// A tuned table's file: as it stands, and behind a checksum that fits.

#include "assay/select/table_contents.h"
#include "assay/select/table_format.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/samples.h"

namespace assay {

// bytes: a body, as seal_table() takes it.
ASSAY_FUZZ_TARGET(table) {
  fuzz::is_read(parse_table(bytes, "table"));
  const auto table = parse_table(seal_table(bytes), "table");
  if (!fuzz::is_read(table)) return;
  for (const TableProblem& problem : table->problems)
    for (const TableChoice& choice : problem.choices)
      fuzz::expect(choice.kernel < table->kernels.size(), "a choice of a kernel that is not there");
  const auto written = table_bytes(*table);
  if (!fuzz::is_read_again(written)) return;
  const auto again = parse_table(*written, "again");
  if (!fuzz::is_read_again(again)) return;
  fuzz::expect(again->origin == table->origin && again->kinds == table->kinds &&
                   again->problems == table->problems,
               "a table changes");
  const auto twice = table_bytes(*again);
  fuzz::expect(twice && *twice == *written, "a table is written in two ways");
}

}  // namespace assay
