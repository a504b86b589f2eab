#include "assay/op/gemm/mapping.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "assay/base/parallel.h"
#include "assay/base/random.h"

namespace assay::gemm {
namespace {

constexpr int64_t kPieceBytes = 1 << 18;  // Worth a thread.

template <class Bits>
void copy_permuted(const Matrix& from, const Matrix& to, const Axis& batches, const Axis& rows,
                   const Axis& columns) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(Bits));
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const auto copy_row = [&](int64_t l, int64_t i) {
    const std::byte* source = from.at(batches.from[l], rows.from[i], 0);
    std::byte* target = to.at(l, i, 0);
    for (int64_t j = 0; j < to.columns; ++j) {
      Bits value;
      std::memcpy(&value, source + columns.from[j] * from.column_stride * kSize, sizeof(value));
      if (rows.negative[i] != columns.negative[j]) value = static_cast<Bits>(value ^ kSign);
      std::memcpy(target + j * to.column_stride * kSize, &value, sizeof(value));
    }
  };
  const int64_t all = to.batches * to.rows;
  const int64_t strip =
      std::max<int64_t>(1, kPieceBytes / std::max<int64_t>(1, to.columns * kSize));
  for_each_parallel(static_cast<size_t>((all + strip - 1) / strip), [&](size_t s) {
    const int64_t first = static_cast<int64_t>(s) * strip;
    for (int64_t row = first; row < std::min(all, first + strip); ++row)
      copy_row(row / to.rows, row % to.rows);
  });
}

}  // namespace

Axis Axis::identity(int64_t size) {
  Axis axis;
  axis.from.resize(static_cast<size_t>(size));
  std::iota(axis.from.begin(), axis.from.end(), int64_t{0});
  axis.negative.assign(static_cast<size_t>(size), 0);
  return axis;
}

Axis Axis::random(int64_t size, bool flip, uint64_t seed, uint64_t stream) {
  Axis axis = identity(size);
  const CounterRandom order{seed, stream}, signs{seed, stream + 1};
  for (int64_t i = size - 1; i > 0; --i) {
    const auto index = static_cast<uint64_t>(i);
    std::swap(axis.from[index], axis.from[order.below(index, index + 1)]);
  }
  for (size_t i = 0; flip && i < axis.negative.size(); ++i)
    axis.negative[i] = static_cast<uint8_t>(signs.bits(i) & 1);
  return axis;
}

Axis Axis::after(const Axis& inner) const {
  Axis result = *this;
  for (size_t i = 0; i < from.size(); ++i) {
    const auto middle = static_cast<size_t>(from[i]);
    result.from[i] = inner.from[middle];
    result.negative[i] = negative[i] ^ inner.negative[middle];
  }
  return result;
}

std::vector<int64_t> Axis::inverse() const {
  std::vector<int64_t> to(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    to[static_cast<size_t>(from[i])] = static_cast<int64_t>(i);
  return to;
}

Mapping Mapping::identity(const View& view) {
  return {Axis::identity(view.l), Axis::identity(view.m), Axis::identity(view.n),
          Axis::identity(view.k), Axis::identity(view.out_columns)};
}

Mapping Mapping::random(const View& view, const Epilogue& epilogue, uint64_t seed) {
  const bool flip = info(view.out).floating, plain = epilogue.empty();
  Mapping made{Axis::random(view.l, false, seed, 10),
               Axis::random(view.m, flip && plain, seed, 20),
               Axis::random(view.out_columns, flip && plain, seed, 30),
               Axis::random(view.k, flip, seed, 40),
               {}};
  made.out = made.n;
  if (epilogue.gate() == nullptr) return made;
  made.n = Axis::identity(view.n);
  for (int64_t j = 0; j < view.out_columns; ++j) {
    const auto to = epilogue.columns(j, view.n);
    const auto from = epilogue.columns(made.out.from[static_cast<size_t>(j)], view.n);
    for (size_t i = 0; i < to.size(); ++i) made.n.from[static_cast<size_t>(to[i])] = from[i];
  }
  return made;
}

Mapping Mapping::after(const Mapping& inner) const {
  return {l.after(inner.l), m.after(inner.m), n.after(inner.n), k.after(inner.k),
          out.after(inner.out)};
}

void permute(const Matrix& matrix, std::span<const std::byte> bytes, std::span<std::byte> target,
             const Axis& batches, const Axis& rows, const Axis& columns) {
  Matrix from = with_data(matrix, bytes), to = with_data(matrix, target);
  const Axis* outer = &rows;
  const Axis* inner = &columns;
  if (matrix.row_stride < matrix.column_stride) {  // Run along what lies together.
    for (Matrix* each : {&from, &to}) {
      std::swap(each->rows, each->columns);
      std::swap(each->row_stride, each->column_stride);
    }
    std::swap(outer, inner);
  }
  switch (size_bytes(matrix.dtype)) {
    case 1:
      copy_permuted<uint8_t>(from, to, batches, *outer, *inner);
      break;
    case 2:
      copy_permuted<uint16_t>(from, to, batches, *outer, *inner);
      break;
    case 4:
      copy_permuted<uint32_t>(from, to, batches, *outer, *inner);
      break;
    default:
      copy_permuted<uint64_t>(from, to, batches, *outer, *inner);
      break;
  }
}

}  // namespace assay::gemm
