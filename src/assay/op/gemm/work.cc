#include "assay/op/gemm/work.h"

#include "assay/op/gemm/gemm.h"

namespace assay::gemm {

Work work_of(const Problem& problem) {
  Work work;
  const auto sizes = view(problem);
  if (!sizes) return work;
  const double l = static_cast<double>(sizes->l), m = static_cast<double>(sizes->m);
  const double n = static_cast<double>(sizes->n), k = static_cast<double>(sizes->k);
  work.flops = 2 * l * m * n * k;
  if (sizes->alpha != 1) work.flops += l * m * n;
  if (sizes->has_c) work.flops += 2 * l * m * n;
  const auto bytes = [&](DType dtype, double rows, double columns) {
    return l * rows * columns * info(dtype).bits / 8;
  };
  work.bytes_read = bytes(sizes->a, m, k) + bytes(sizes->b, k, n);
  work.bytes_written = bytes(sizes->out, m, n);
  if (sizes->has_c) work.bytes_read += bytes(sizes->out, m, n);
  return work;
}

}  // namespace assay::gemm
