#include "cli/files/files_table.h"

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/report/words.h"

namespace assay::cli {
namespace {

double median_of(const KernelOutcome* kernel) {
  return kernel != nullptr && kernel->race ? kernel->race->median_us : 0;
}

// The fastest; one without a time where none has one; null: no kernel of the file took part.
const KernelOutcome* best_of(const ProblemRecord& problem, const UserFile& file) {
  const KernelOutcome* best = nullptr;
  for (const KernelOutcome& kernel : problem.kernels) {
    if (!is_of(kernel, file)) continue;
    const double us = median_of(&kernel), best_us = median_of(best);
    if (best == nullptr || (us > 0 && (best_us == 0 || us < best_us))) best = &kernel;
  }
  return best;
}

std::string ending_of(const KernelOutcome* kernel) {
  if (kernel == nullptr) return "refused";
  return is_timed(kernel->ending) ? "no clean round" : std::string(ending_name(kernel->ending));
}

}  // namespace

std::string files_table(const ProblemRecord& problem, std::span<const UserFile> files,
                        const report::TextStyle& style) {
  if (files.size() < 2) return {};
  report::Table table;
  table.columns = {{"file", report::Align::left, 12, report::Elide::middle},
                   {"us in the race", report::Align::right},
                   {"of the first", report::Align::right}};
  const double first = median_of(best_of(problem, files.front()));
  for (const UserFile& file : files) {
    const KernelOutcome* best = best_of(problem, file);
    const double us = median_of(best);
    table.rows.push_back(
        {{{sanitize(file.file_and_entry, 200)},
          {us > 0 ? report::microseconds(us) : ending_of(best)},
          {us > 0 && first > 0 ? fmt::format("{:.2f} x", first / us) : std::string("-")}},
         {}});
  }
  return report::text_table(table, style);
}

}  // namespace assay::cli
