// What ncu prints.

#include "assay/record/ncu_csv.h"

#include <array>
#include <cmath>

#include "assay/base/text.h"
#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(ncu_csv) {
  constexpr std::array<std::string_view, 2> kMetrics = {"gpu__time_duration.sum",
                                                        "dram__bytes.sum"};
  const auto kernels = read_ncu_csv(bytes, "ncu", kMetrics);
  if (!fuzz::is_read(kernels)) return;
  for (const ProfiledKernel& kernel : *kernels) {
    fuzz::expect_same(sanitize(kernel.name), kernel.name, "a name that is not safe to show");
    for (const auto& [metric, value] : kernel.metrics)
      fuzz::expect(std::isfinite(value) && value >= 0, "a metric that is no number");
  }
  for (const int launches : {1, 2, 3}) {
    const auto one = one_launch(*kernels, launches);
    if (fuzz::is_read(one))
      fuzz::expect(one->size() * static_cast<size_t>(launches) == kernels->size(),
                   "kernels are lost");
  }
}

}  // namespace assay
