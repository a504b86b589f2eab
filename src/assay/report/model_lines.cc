#include "assay/report/model_lines.h"

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/report/words.h"

namespace assay::report {

std::vector<std::string> model_lines(const RunRecord& record) {
  std::vector<std::string> lines;
  for (const ModelTime& time : model_times(record)) {
    std::string line =
        fmt::format("model: {}, m {}: ", sanitize(record.options.suite, 240), time.m);
    if (time.missing.empty())
      line +=
          fmt::format("default {} us, best stock {} us, best {} us", significant(time.default_us),
                      significant(time.best_stock_us), significant(time.best_us));
    else
      line += "no time: " + sanitize(time.missing, 240);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace assay::report
