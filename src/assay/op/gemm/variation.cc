#include "assay/op/gemm/variation.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "assay/base/random.h"

namespace assay::gemm {
namespace {

// Times +-2^e on the bits of a 16-bit float with `mantissa` stored bits. Zero, infinity and NaN
// keep their size. Subnormals would need normalising: `subnormal` tells the caller to do it.
inline uint16_t scaled(uint16_t value, uint16_t sign, uint16_t add, uint16_t top,
                       uint16_t& subnormal) {
  const uint16_t exponent = value & top;
  const uint16_t grown = static_cast<uint16_t>(value + add);
  const uint16_t kept = exponent == 0 || exponent == top ? value : grown;
  subnormal = static_cast<uint16_t>(subnormal | (exponent == 0 && (value & 0x7fff) != 0));
  return static_cast<uint16_t>(kept ^ sign);
}

bool scale_run16(DType dtype, std::byte* bytes, int64_t count, double factor) {
  const int mantissa = info(dtype).significand_bits - 1;
  const auto top = static_cast<uint16_t>(0x7fff & ~((1 << mantissa) - 1));
  const auto sign = static_cast<uint16_t>(factor < 0 ? 0x8000 : 0);
  const auto add = static_cast<uint16_t>(std::ilogb(factor) << mantissa);
  uint16_t subnormal = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint16_t value;
    std::memcpy(&value, bytes + 2 * i, 2);
    value = scaled(value, sign, add, top, subnormal);
    std::memcpy(bytes + 2 * i, &value, 2);
  }
  return subnormal == 0;
}

template <class Element>
void scale_run(std::byte* bytes, int64_t count, double factor) {
  const auto times = static_cast<Element>(factor);
  for (int64_t i = 0; i < count; ++i) {
    Element value;
    std::memcpy(&value, bytes + i * static_cast<int64_t>(sizeof(Element)), sizeof(Element));
    value = static_cast<Element>(value * times);
    std::memcpy(bytes + i * static_cast<int64_t>(sizeof(Element)), &value, sizeof(Element));
  }
}

// A run of contiguous elements with one factor.
void scale(DType dtype, std::byte* bytes, int64_t count, double factor) {
  switch (dtype) {
    case DType::f64:
      return scale_run<double>(bytes, count, factor);
    case DType::f32:
      return scale_run<float>(bytes, count, factor);
    case DType::s8:
      return scale_run<int8_t>(bytes, count, factor);
    default:
      break;
  }
  std::byte before[256 * 2];
  for (int64_t from = 0; from < count; from += 256) {
    const int64_t part = std::min<int64_t>(256, count - from);
    std::byte* run = bytes + from * 2;
    std::memcpy(before, run, static_cast<size_t>(part) * 2);
    if (scale_run16(dtype, run, part, factor)) continue;
    double values[256];
    convert_to_double(dtype, before, part, values);
    for (int64_t i = 0; i < part; ++i) values[i] *= factor;
    convert_from_double(dtype, values, part, run);
  }
}

}  // namespace

size_t varied_operand_of(const Problem& problem) {
  const auto operands = problem.operands();
  for (size_t i = 0; i < 2 && i < operands.size(); ++i)
    if (operands[i].lifetime == Lifetime::per_call) return i;
  return operands.size();
}

std::vector<double> variation_factors(const View& view, int64_t count, uint64_t seed) {
  std::vector<double> factors(static_cast<size_t>(view.l * count), 1.0);
  if (seed == 0) return factors;
  const CounterRandom random{seed, 0x76617279};
  const bool floating = info(view.out).floating;
  for (size_t i = 0; i < factors.size(); ++i) {
    const uint64_t bits = random.bits(i);
    const double size = floating ? static_cast<double>(1 << (bits >> 1 & 3)) : 1.0;
    factors[i] = bits & 1 ? -size : size;
  }
  return factors;
}

void vary_operand(const Problem& problem, uint64_t seed, std::span<const std::byte> pristine,
                  std::span<std::byte> destination) {
  const size_t bytes = std::min(pristine.size(), destination.size());
  if (bytes > 0) std::memcpy(destination.data(), pristine.data(), bytes);
  const size_t varied = varied_operand_of(problem);
  const auto sizes = view(problem);
  if (seed == 0 || varied > 1 || !sizes) return;
  if (bytes < static_cast<size_t>(problem.operands()[varied].span_bytes)) return;
  // With b seen as its transpose, rows are what varies in both.
  Matrix matrix = with_data(varied == 0 ? matrix_a(*sizes) : matrix_b(*sizes), destination);
  if (varied == 1) {
    std::swap(matrix.rows, matrix.columns);
    std::swap(matrix.row_stride, matrix.column_stride);
  }
  const std::vector<double> factors = variation_factors(*sizes, matrix.rows, seed);
  if (matrix.column_stride == 1) {
    for (int64_t l = 0; l < matrix.batches; ++l)
      for (int64_t i = 0; i < matrix.rows; ++i)
        scale(matrix.dtype, matrix.at(l, i, 0), matrix.columns, factors[l * matrix.rows + i]);
    return;
  }
  for_each_tile(matrix, [&](int64_t l, Range rows, Range columns, double* tile) {
    load_tile(matrix, l, rows, columns, tile);
    for (int64_t i = 0; i < rows.count; ++i)
      for (int64_t j = 0; j < columns.count; ++j)
        tile[i * columns.count + j] *= factors[l * matrix.rows + rows[i]];
    store_tile(matrix, l, rows, columns, tile);
  });
}

}  // namespace assay::gemm
