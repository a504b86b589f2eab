// Rows of kernels as a worker lists them.

#include "assay/kernel/metadata_table.h"
#include "tests/fuzz/fuzz.h"

namespace assay {
namespace {

Result<std::vector<KernelMetadata>> rows_of(const Json& table) {
  std::vector<KernelMetadata> rows;
  ASSAY_TRY(read_table(table, [&](const Json&, KernelMetadata row) {
    rows.push_back(std::move(row));
    return Status();
  }));
  return rows;
}

}  // namespace

ASSAY_FUZZ_TARGET(kernel_table) {
  const auto json = parse_json(bytes, "kernels");
  if (!json) return;
  const auto rows = rows_of(*json);
  if (!fuzz::is_read(rows)) return;
  const auto again = rows_of(table_json(*rows));
  if (!fuzz::is_read_again(again)) return;
  fuzz::expect(again->size() == rows->size(), "rows are lost or added");
  for (size_t i = 0; i < rows->size() && i < again->size(); ++i) {
    fuzz::expect_same((*again)[i].to_json(), (*rows)[i].to_json(), "a row changes");
    fuzz::is_read_again(KernelMetadata::from_json((*rows)[i].to_json()));
  }
}

}  // namespace assay
