// assay: {entry: constructed, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// An object with a constructor and a destructor, which makes its tables when it is loaded.
#include <memory>
#include <vector>

#include "honest.h"

namespace {
// Offsets of rows, as if they were worth a table.
class Offsets {
 public:
  Offsets() : table_(std::make_unique<std::vector<long>>(1024)) {
    for (size_t i = 0; i < table_->size(); ++i) (*table_)[i] = static_cast<long>(i);
  }
  ~Offsets() { table_.reset(); }
  long of(long row, long length) const {
    return row < 1024 ? (*table_)[static_cast<size_t>(row)] * length : row * length;
  }

 private:
  std::unique_ptr<std::vector<long>> table_;
};
const Offsets offsets;
}  // namespace

KERNEL(constructed) {
  for (long i = 0; i < m; ++i) right(a + offsets.of(i, k), b, out + offsets.of(i, n), 1, n, k);
}
