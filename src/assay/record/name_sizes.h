#pragma once

// Sizes that a problem's name tells, as "decode_mlp_m4_n4096_k1024" does. They are checked like
// fields.

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay {

struct NameSizes {
  std::int64_t m = 0, n = 0, k = 0;
  std::optional<std::int64_t> batch;
};

// The sizes of a name in which m, n and k stand side by side, with or without separators, and
// perhaps a batch (l2, b2, batch2) beside them. If several three do, those in the order m, n, k are
// meant. None for other names, for sizes that are 0, and for those of more than 12 digits.
std::optional<NameSizes> sizes_in_name(std::string_view name);

}  // namespace assay
