#pragma once

// The fields of an openai_http benchmark, as words of `assay load`.

#include "assay/lab/files/benchmark_file.h"

namespace assay::lab {

Result<OpenAiHttp> read_openai_http(const input::YamlField& root);

}  // namespace assay::lab
