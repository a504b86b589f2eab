// Bring your own kernel, told from beginning to end: discover, inspect, run, compare, filter.

#include <cmath>
#include <cstdio>
#include <vector>

#include "assay/base/random.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/kernel/catalog.h"
#include "assay/op/gemm/gemm.h"
#include "examples/byok/f64_gemm_family.h"

namespace {

using namespace assay;  // NOLINT: an example shows names as a user writes them.

double largest_error(const std::vector<double>& a, const std::vector<double>& b,
                     const std::vector<double>& out, int64_t m, int64_t n, int64_t k) {
  double largest = 0;
  for (int64_t row = 0; row < m; ++row) {
    for (int64_t column = 0; column < n; ++column) {
      double sum = 0;
      for (int64_t i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
      largest = std::fmax(largest, std::fabs(sum - out[row * n + column]));
    }
  }
  return largest;
}

Status story() {
  // A problem has no pointers: discovery needs only sizes, types and layouts.
  constexpr int64_t m = 256, n = 1024, k = 128;
  std::vector<double> a(m * k), b(k * n), out(m * n);
  const CounterRandom random{2025, 0};
  for (size_t i = 0; i < a.size(); ++i) a[i] = random.uniform(i);
  for (size_t i = 0; i < b.size(); ++i) b[i] = random.uniform(a.size() + i);

  ASSAY_TRY(auto view_a, dense_view(a.data(), DType::f64, std::vector<int64_t>{1, m, k}));
  ASSAY_TRY(auto view_b, dense_view(b.data(), DType::f64, std::vector<int64_t>{1, k, n}));
  ASSAY_TRY(auto view_out, dense_view(out.data(), DType::f64, std::vector<int64_t>{1, m, n}));
  ASSAY_TRY(auto problem,
            gemm::problem(gemm::Arguments{
                .a = view_a, .b = view_b, .out = view_out, .accumulate = DType::f64}));

  Catalog catalog;
  catalog.add("byok", ProviderRole::user, byok::make_f64_gemm_family());
  ASSAY_TRY(auto device, cpu::open({}));
  ASSAY_TRY(auto found, catalog.get_kernels(problem, {.target = device->target()}));
  std::printf("kernels that can run %s:\n", problem.name().c_str());
  for (const Kernel& kernel : found.kernels) {
    std::printf("  %s  id %.12s\n", kernel.metadata().name().c_str(),
                kernel.metadata().id().c_str());
  }
  for (const auto& [reason, refused] : found.refusals) {
    std::printf("  %lld others: %s\n", static_cast<long long>(refused.count),
                refused.example.c_str());
  }
  if (found.kernels.empty()) return fail(ErrorCode::failed, "no kernel was found");

  ASSAY_TRY(auto stream, device->make_stream());
  const Arguments arguments{problem, {a.data(), b.data(), out.data()}};
  ASSAY_TRY(found.kernels[0].run(arguments, *device, *stream, {}));
  std::printf("largest error of %s: %g\n", found.kernels[0].metadata().name().c_str(),
              largest_error(a, b, out, m, n, k));

  // A tile that the family does not offer.
  ASSAY_TRY(auto none, catalog.get_kernels(problem, {.target = device->target(),
                                                     .where = [](const KernelMetadata& row) {
                                                       return row.design["tile_m"] == 256;
                                                     }}));
  std::printf("kernels with a tile of 256 rows: %zu\n", none.kernels.size());
  return {};
}

}  // namespace

int main() {
  if (const Status told = story(); !told) {
    std::fprintf(stderr, "%s\n", told.error().message.c_str());
    return 1;
  }
  return 0;
}
