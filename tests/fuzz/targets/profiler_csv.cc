// A report of cutlass_profiler, and the answer that is read out of it.

#include "assay/record/profiler_csv.h"

#include <cmath>

#include "assay/profiler/answer.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/samples.h"

namespace assay {

ASSAY_FUZZ_TARGET(profiler_csv) {
  const auto report = read_profiler_csv(bytes, "report.csv");
  if (!fuzz::is_read(report)) return;
  const auto questions = profiler::questions(fuzz::sample_problem());
  if (questions && !questions->empty()) {
    const auto answer =
        profiler::read_answer(fuzz::sample_problem(), questions->front(), bytes, "report.csv");
    if (answer)
      fuzz::expect(std::isfinite(answer->runtime_ms) && answer->runtime_ms > 0,
                   "an answer without a time");
  }
  const auto results = best_rows_of_each(*report, "report.csv");
  if (!fuzz::is_read(results)) return;
  const auto written = profiler_csv(*results);
  if (!fuzz::is_read_again(written)) return;
  const auto again = read_profiler_csv(*written, "again.csv");
  if (!fuzz::is_read_again(again)) return;
  const auto same = best_rows_of_each(*again, "again.csv");
  if (!fuzz::is_read_again(same)) return;
  size_t before = 0, after = 0;
  for (const ProviderResults& of : *results) before += of.results.size();
  for (const ProviderResults& of : *same) after += of.results.size();
  fuzz::expect(before == after, "results are lost or added");
}

}  // namespace assay
