// Configurations as a user's package of CUTLASS lists them.

#include "providers/cutlass/table.h"
#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(cutlass_table) {
  const auto table = cutlass::Table::parse(bytes, "configurations.txt");
  if (!fuzz::is_read(table)) return;
  int64_t there = 0;
  for (const cutlass::Group& group : table->groups) {
    fuzz::expect(group.list < table->lists.size(), "a list that is not there");
    if (group.list < table->lists.size())
      there += static_cast<int64_t>(table->lists[group.list].size());
  }
  fuzz::expect(there == table->configurations, "another number of configurations");
  for (const auto& list : table->lists)
    for (const uint32_t design : list)
      fuzz::expect(design < table->designs.size(), "a design that is not there");
}

}  // namespace assay
