#pragma once

// Which result of one file speaks of the same thing as which result of another.

#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/provider_results.h"

namespace assay {

// Why two results of the same name do not match: the first field that both have and that differs
// ("condition cache=warm,... and cache=cold,..."); empty if they do.
std::string mismatch(const ProviderResult& first, const ProviderResult& second);

// Which result of a file has the sizes of `wanted` in another order, as where a and b are swapped:
// "gemm_m512_n256_k1024 on line 5 has its sizes with m and n swapped"; empty for none.
std::string in_another_order(const ProviderResult& wanted, const ProviderResults& results);

// For each baseline result the index of its counterpart, none where there is none. A result's key
// is name, sizes, dtypes, layout, constant operands, condition and class; fields absent on either
// side match as long as that is unique. Where several match, the one that agrees in most fields
// does; where that is no single one, the error (invalid_input) names the lines.
Result<std::vector<std::optional<std::size_t>>> match_results(const ProviderResults& baseline,
                                                              const ProviderResults& other);

// One key per result: its name, or, where two results share that, the name and what tells them
// apart.
std::vector<std::string> display_keys(const ProviderResults& results);

}  // namespace assay
