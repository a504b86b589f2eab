#include "assay/op/gemm/work.h"

#include "assay/op/gemm/epilogue.h"
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
  const auto epilogue = epilogue_of(problem);
  work.bytes_written = bytes(sizes->out, m, static_cast<double>(sizes->out_columns));
  if (epilogue && !epilogue->empty()) {
    work.flops += epilogue->flops() * l * m * static_cast<double>(sizes->out_columns);
    for (const EpilogueStep& step : epilogue->steps()) {
      const Operand* operand = step.has_operand() ? problem.find_operand(step.name()) : nullptr;
      if (operand == nullptr) continue;
      double elements = 1;
      for (const int64_t size : operand->sizes) elements *= static_cast<double>(size);
      work.bytes_read += elements * info(operand->dtype).bits / 8;
    }
  }
  if (sizes->has_c) work.bytes_read += bytes(sizes->out, m, n);
  return work;
}

}  // namespace assay::gemm
