// config.json of a model.

#include "assay/input/model_config.h"

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/samples.h"

namespace assay {

ASSAY_FUZZ_TARGET(model_config) {
  for (const int64_t devices : {int64_t{1}, int64_t{4}}) {
    const auto suite = input::parse_model(bytes, "/models/one/config.json",
                                          {.tensor_parallel = devices, .batches = {1, 16}});
    if (!fuzz::is_read(suite)) continue;
    fuzz::expect(!suite->problems.empty(), "a model of nothing");
    for (const Problem& problem : suite->problems) {
      fuzz::expect(problem.weight() >= 1, "a problem that is never called");
      fuzz::expect_made_again(problem);
    }
  }
}

}  // namespace assay
