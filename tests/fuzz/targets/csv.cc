// Comma-separated values.

#include "assay/record/csv.h"

#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(csv) {
  const auto rows = read_csv(bytes, "file.csv");
  if (!fuzz::is_read(rows)) return;
  std::string written = "head\n";  // So that no cell begins with the file.
  for (const CsvRow& row : *rows) {
    if (row.size() == kMaxCsvColumns) return;  // No room for the last one.
    for (const CsvCell& cell : row) written += csv_cell(cell.text) + ',';
    written += "end\n";
  }
  const auto again = read_csv(written, "again.csv");
  if (!fuzz::is_read_again(again)) return;
  fuzz::expect(again->size() == rows->size() + 1, "rows are lost or added");
  for (size_t i = 0; i < rows->size() && i + 1 < again->size(); ++i) {
    const CsvRow &before = (*rows)[i], &after = (*again)[i + 1];
    fuzz::expect(after.size() == before.size() + 1, "cells are lost or added");
    for (size_t j = 0; j < before.size() && j < after.size(); ++j)
      fuzz::expect_same(after[j].text, before[j].text, "a cell changes");
  }
}

}  // namespace assay
