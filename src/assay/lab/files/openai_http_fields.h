#pragma once

// The fields of an openai_http benchmark, as words of `assay load`.

#include "assay/input/form.h"
#include "assay/lab/files/benchmark_file.h"

namespace assay::lab {

// Those that no other kind of benchmark has.
std::vector<input::FormField> openai_http_fields();

Result<OpenAiHttp> read_openai_http(const input::YamlField& root);

}  // namespace assay::lab
