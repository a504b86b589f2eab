#include "matrix.h"

#include <algorithm>
#include <limits>

namespace assay::openblas {

std::optional<int> Matrix::leading(bool by_rows) const {
  const int64_t lines = by_rows ? rows : columns, length = by_rows ? columns : rows;
  const int64_t apart = by_rows ? row_stride : column_stride;
  const int64_t inside = by_rows ? column_stride : row_stride;
  if (length > 1 && inside != 1) return std::nullopt;
  const int64_t leading = lines > 1 ? apart : std::max<int64_t>(length, 1);
  if (leading < length || leading > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(leading);
}

}  // namespace assay::openblas
