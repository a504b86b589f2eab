#include "testing/fake_cublas/product.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "testing/fake_cublas/state.h"

namespace fake_cublas {
namespace {

template <class T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void write(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

float from_bf16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

// To nearest, ties to even; a NaN stays one.
uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (value != value) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

template <class Sum>
Sum load(const Matrix& matrix, int64_t batch, int64_t row, int64_t column) {
  const auto* at =
      static_cast<const std::byte*>(matrix.data) +
      (batch * matrix.stride + column * matrix.leading + row) * element_bytes(matrix.type);
  switch (matrix.type) {
    case kF64:
      return static_cast<Sum>(read<double>(at));
    case kF16:
      return static_cast<Sum>(static_cast<float>(read<_Float16>(at)));
    case kBf16:
      return static_cast<Sum>(from_bf16(read<uint16_t>(at)));
    case kS8:
      return static_cast<Sum>(read<int8_t>(at));
    case kS32:
      return static_cast<Sum>(read<int32_t>(at));
    default:
      return static_cast<Sum>(read<float>(at));
  }
}

template <class Sum>
void store(const Matrix& matrix, int64_t batch, int64_t row, int64_t column, Sum value) {
  auto* at = static_cast<std::byte*>(matrix.data) +
             (batch * matrix.stride + column * matrix.leading + row) * element_bytes(matrix.type);
  switch (matrix.type) {
    case kF64:
      return write(at, static_cast<double>(value));
    case kF16:
      return write(at, static_cast<_Float16>(value));
    case kBf16:
      return write(at, to_bf16(static_cast<float>(value)));
    case kS32:
      return write(at, static_cast<int32_t>(value));
    default:
      return write(at, static_cast<float>(value));
  }
}

int64_t rows(const Matrix& matrix) { return matrix.transposed ? matrix.columns : matrix.rows; }
int64_t columns(const Matrix& matrix) { return matrix.transposed ? matrix.rows : matrix.columns; }

// op(matrix), one row behind the other, or one column.
template <class Sum>
std::vector<Sum> gather(const Matrix& matrix, int64_t batch, bool by_rows) {
  const int64_t m = rows(matrix), n = columns(matrix);
  std::vector<Sum> all(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      all[static_cast<size_t>(by_rows ? i * n + j : j * m + i)] =
          load<Sum>(matrix, batch, matrix.transposed ? j : i, matrix.transposed ? i : j);
  return all;
}

constexpr unsigned kRelu = 2, kBias = 4, kGelu = 32;

template <class Sum>
Sum behind(const Product& product, int64_t row, Sum value) {
  if ((product.epilogue & kBias) != 0) {
    const Matrix bias{const_cast<void*>(product.bias),
                      product.d.type,
                      product.d.rows,
                      1,
                      product.d.rows,
                      0,
                      false};
    value += load<Sum>(bias, 0, row, 0);
  }
  if ((product.epilogue & kRelu) != 0) value = std::max(value, Sum{0});
  if ((product.epilogue & kGelu) != 0) {
    const auto x = static_cast<double>(value);
    value =
        static_cast<Sum>(x / 2 * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))));
  }
  return value;
}

template <class Sum>
void compute_in(const Product& product, const Recipe& recipe) {
  const int64_t m = product.d.rows, n = product.d.columns, k = depth(product);
  const int64_t most = k - recipe.left_out;
  std::vector<Sum> sums(static_cast<size_t>(recipe.parts));
  for (int64_t batch = 0; batch < product.count; ++batch) {
    const auto a = gather<Sum>(product.a, batch, true), b = gather<Sum>(product.b, batch, false);
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t part = 0; part < recipe.parts; ++part) {
          Sum sum = 0;
          for (int64_t p = k * part / recipe.parts;
               p < std::min(k * (part + 1) / recipe.parts, most); ++p)
            sum += a[static_cast<size_t>(i * k + p)] * b[static_cast<size_t>(j * k + p)];
          sums[static_cast<size_t>(part)] = sum;
        }
        if (recipe.workspace != nullptr) {
          auto* at = static_cast<Sum*>(recipe.workspace) + ((batch * n + j) * m + i) * recipe.parts;
          std::memcpy(at, sums.data(), sums.size() * sizeof(Sum));
          std::memcpy(sums.data(), at, sums.size() * sizeof(Sum));
        }
        Sum value = 0;
        for (const Sum sum : sums) value += sum;
        value *= static_cast<Sum>(product.alpha);
        if (product.beta != 0)
          value += static_cast<Sum>(product.beta) * load<Sum>(product.c, batch, i, j);
        store(product.d, batch, i, j, behind(product, i, value));
      }
    }
  }
}

}  // namespace

int64_t element_bytes(int type) {
  switch (type) {
    case kF64:
      return 8;
    case kF16:
    case kBf16:
      return 2;
    case kS8:
      return 1;
    default:
      return 4;
  }
}

int64_t depth(const Product& product) { return columns(product.a); }

int check(const Product& product) {
  const auto& [a, b, c, d, compute, alpha, beta, count, epilogue, bias] = product;
  for (const Matrix* matrix : {&a, &b, &c, &d})
    if (matrix->rows < 1 || matrix->columns < 1 || matrix->leading < matrix->rows ||
        matrix->stride < 0)
      return kInvalidValue;
  if (count < 1 || rows(a) != d.rows || columns(b) != d.columns || columns(a) != rows(b) ||
      c.rows != d.rows || c.columns != d.columns || c.type != d.type || d.transposed)
    return kInvalidValue;
  return check_types(a.type, b.type, d.type, compute);
}

int check_types(int a, int b, int d, int compute) {
  const bool is_small = a == kF16 || a == kBf16;
  const bool known =
      a == b && ((compute == kCompute32F && (is_small || a == kF32) && (d == a || d == kF32)) ||
                 (compute == kCompute64F && a == kF64 && d == kF64) ||
                 (compute == kCompute32I && a == kS8 && d == kS32));
  return known ? kSuccess : kNotSupported;
}

int scale_type(int compute) {
  return compute == kCompute64F ? kF64 : compute == kCompute32I ? kS32 : kF32;
}

double factor(const void* value, int compute) {
  if (compute == kCompute64F) return *static_cast<const double*>(value);
  if (compute == kCompute32I) return *static_cast<const int32_t*>(value);
  return *static_cast<const float*>(value);
}

int64_t workspace_bytes(const Product& product, int64_t parts) {
  const int64_t bytes = product.compute == kCompute64F ? 8 : 4;
  return product.count * product.d.rows * product.d.columns * parts * bytes;
}

void compute(const Product& product, const Recipe& recipe) {
  switch (product.compute) {
    case kCompute64F:
      return compute_in<double>(product, recipe);
    case kCompute32I:
      return compute_in<int32_t>(product, recipe);
    default:
      return compute_in<float>(product, recipe);
  }
}

}  // namespace fake_cublas
