#include "assay/op/gemm/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "assay/base/parallel.h"

namespace assay::gemm {
namespace {

constexpr int64_t kBlockK = 256;        // Panels of b: 256 x 16 doubles stay in the first cache.
constexpr int64_t kBlockColumns = 512;  // Packed b: 1 MiB.
constexpr int64_t kBlockRows = 96;      // A multiple of every kernel's row count.
constexpr int64_t kGroupRows = 960;     // What one thread does with a packed b.
constexpr double kAlone = 1 << 20;      // Elements of a and b that one thread does.
constexpr int kMaxTile = 8 * 16;

// tile[i][j] = sum over p of a[p][i] * b[p][j], in registers. Written in vectors of the compiler,
// so that one text serves every instruction set; this file alone is compiled with contraction,
// since products of float32 and narrower values are exact in float64 with or without it.
template <int kWidth, int kRows, int kVectors>
[[gnu::always_inline]] inline void register_tile(int64_t depth, const double* a, const double* b,
                                                 double* tile) {
  typedef double Vector __attribute__((vector_size(kWidth * 8), aligned(8), may_alias));
  Vector sum[kRows][kVectors] = {};
  for (int64_t p = 0; p < depth; ++p) {
    const Vector* row = reinterpret_cast<const Vector*>(b + p * kWidth * kVectors);
    Vector values[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) values[v] = row[v];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const double factor = a[p * kRows + i];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[i][v] += values[v] * factor;
    }
  }
  std::memcpy(tile, sum, sizeof(sum));
}

struct Kernel {
  int rows, columns;
  void (*run)(int64_t depth, const double* a, const double* b, double* tile);
};

void run_baseline(int64_t depth, const double* a, const double* b, double* tile) {
  register_tile<2, 4, 2>(depth, a, b, tile);
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void run_avx2(int64_t depth, const double* a, const double* b,
                                          double* tile) {
  register_tile<4, 4, 3>(depth, a, b, tile);
}
[[gnu::target("avx512f")]] void run_avx512(int64_t depth, const double* a, const double* b,
                                           double* tile) {
  register_tile<8, 8, 2>(depth, a, b, tile);
}
#endif

Kernel choose_kernel(VectorUnit unit) {
#if defined(__x86_64__)
  if (unit == VectorUnit::avx512) return {8, 16, run_avx512};
  if (unit == VectorUnit::avx2) return {4, 12, run_avx2};
#endif
  return {4, 4, run_baseline};
}

// Tile (depth x count, or count x depth where `transposed`) into panels [count / width][depth]
// [width], the last one filled up with zeros; and their absolute values.
void pack(const double* tile, int64_t depth, int64_t count, int width, bool transposed,
          std::vector<double>& panels, std::vector<double>& absolute, bool want_absolute) {
  const int64_t padded = (count + width - 1) / width * width;
  panels.resize(static_cast<size_t>(padded * depth));
  for (int64_t first = 0; first < padded; first += width) {
    double* panel = panels.data() + first * depth;
    const int64_t valid = std::min<int64_t>(width, count - first);
    if (valid < width) std::fill(panel, panel + depth * width, 0.0);
    if (transposed) {
      for (int64_t i = 0; i < valid; ++i)
        for (int64_t p = 0; p < depth; ++p) panel[p * width + i] = tile[(first + i) * depth + p];
    } else {
      for (int64_t p = 0; p < depth; ++p)
        std::memcpy(panel + p * width, tile + p * count + first,
                    static_cast<size_t>(valid) * sizeof(double));
    }
  }
  if (!want_absolute) return;
  absolute.resize(panels.size());
  for (size_t i = 0; i < panels.size(); ++i) absolute[i] = std::fabs(panels[i]);
}

// out (rows x columns within a matrix of `stride`) += the product of packed panels.
void add_product(const Kernel& kernel, int64_t depth, const std::vector<double>& a, int64_t rows,
                 const std::vector<double>& b, int64_t columns, double* out, int64_t stride) {
  alignas(64) double tile[kMaxTile];
  for (int64_t j = 0; j < columns; j += kernel.columns) {
    const int64_t width = std::min<int64_t>(kernel.columns, columns - j);
    for (int64_t i = 0; i < rows; i += kernel.rows) {
      kernel.run(depth, a.data() + i * depth, b.data() + j * depth, tile);
      const int64_t height = std::min<int64_t>(kernel.rows, rows - i);
      for (int64_t y = 0; y < height; ++y) {
        double* to = out + (i + y) * stride + j;
        for (int64_t x = 0; x < width; ++x) to[x] += tile[y * kernel.columns + x];
      }
    }
  }
}

struct Output {
  double *product, *magnitude;  // magnitude may be null.
  int64_t stride;
};

// A group of rows by a block of columns.
void multiply_group(const Kernel& kernel, const Matrix& a, const Matrix& b, int64_t batch,
                    Range rows, Range columns, const Output& out) {
  for (double* each : {out.product, out.magnitude})
    for (int64_t i = 0; each != nullptr && i < rows.count; ++i)
      std::fill_n(each + i * out.stride, columns.count, 0.0);
  std::vector<double> tile(static_cast<size_t>(kBlockK * std::max(kBlockColumns, kBlockRows)));
  std::vector<double> packed_a, packed_b, absolute_a, absolute_b;
  const bool want_magnitude = out.magnitude != nullptr;
  for (int64_t p = 0; p < a.columns; p += kBlockK) {
    const Range depth{nullptr, p, std::min(kBlockK, a.columns - p)};
    load_tile(b, batch, depth, columns, tile.data());
    pack(tile.data(), depth.count, columns.count, kernel.columns, false, packed_b, absolute_b,
         want_magnitude);
    for (int64_t i = 0; i < rows.count; i += kBlockRows) {
      const Range strip = rows.part(i, std::min(kBlockRows, rows.count - i));
      load_tile(a, batch, strip, depth, tile.data());
      pack(tile.data(), depth.count, strip.count, kernel.rows, true, packed_a, absolute_a,
           want_magnitude);
      add_product(kernel, depth.count, packed_a, strip.count, packed_b, columns.count,
                  out.product + i * out.stride, out.stride);
      if (want_magnitude)
        add_product(kernel, depth.count, absolute_a, strip.count, absolute_b, columns.count,
                    out.magnitude + i * out.stride, out.stride);
    }
  }
}

}  // namespace

void multiply(const Matrix& a, const Matrix& b, int64_t batch, Range rows, Range columns,
              double* product, double* magnitude, VectorUnit unit) {
  const Kernel kernel = choose_kernel(resolve(unit));
  const int64_t across = (columns.count + kBlockColumns - 1) / kBlockColumns;
  const int64_t down = (rows.count + kGroupRows - 1) / kGroupRows;
  const auto work = [&](size_t index) {
    const int64_t i = static_cast<int64_t>(index) / across * kGroupRows;
    const int64_t j = static_cast<int64_t>(index) % across * kBlockColumns;
    multiply_group(
        kernel, a, b, batch, rows.part(i, std::min(kGroupRows, rows.count - i)),
        columns.part(j, std::min(kBlockColumns, columns.count - j)),
        {product + i * columns.count + j,
         magnitude == nullptr ? nullptr : magnitude + i * columns.count + j, columns.count});
  };
  const auto groups = static_cast<size_t>(across * down);
  if (static_cast<double>(a.columns) * static_cast<double>(rows.count + columns.count) > kAlone) {
    for_each_parallel(groups, work);
  } else {
    for (size_t index = 0; index < groups; ++index) work(index);
  }
}

}  // namespace assay::gemm
