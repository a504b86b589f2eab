#include "testing/naive_gemm.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace assay::gemm::testing {
namespace {

int64_t offset(const Operand& operand, int64_t l, int64_t i, int64_t j) {
  const auto& s = operand.strides;
  return (l * s[0] + i * s[1] + j * s[2]) * size_bytes(operand.dtype);
}

// A sum of products in the order asked for, each step rounded to T by `round`.
template <class T, class Round>
T sum(const T* x, const T* y, int64_t count, Order order, Round round) {
  T total = 0;
  switch (order) {
    case Order::forward:
      for (int64_t p = 0; p < count; ++p) total = round(total + round(x[p] * y[p]));
      return total;
    case Order::backward:
      for (int64_t p = count; p-- > 0;) total = round(total + round(x[p] * y[p]));
      return total;
    case Order::fused:
      for (int64_t p = 0; p < count; ++p) total = round(std::fma(x[p], y[p], total));
      return total;
    case Order::lanes: {
      T lanes[8] = {};
      for (int64_t p = 0; p < count; ++p) lanes[p % 8] = round(lanes[p % 8] + round(x[p] * y[p]));
      for (T lane : lanes) total = round(total + lane);
      return total;
    }
    case Order::pairwise:
      if (count == 0) return 0;
      if (count == 1) return round(x[0] * y[0]);
      return round(sum(x, y, count / 2, order, round) +
                   sum(x + count / 2, y + count / 2, count - count / 2, order, round));
  }
  return total;
}

template <class T>
double dot(const std::vector<double>& x, const std::vector<double>& y, Order order,
           std::optional<DType> narrow) {
  std::vector<T> tx(x.begin(), x.end()), ty(y.begin(), y.end());
  const auto count = static_cast<int64_t>(tx.size());
  if (narrow) {
    return static_cast<double>(sum(tx.data(), ty.data(), count, order, [&](T value) {
      return static_cast<T>(round_to(*narrow, static_cast<double>(value)));
    }));
  }
  return static_cast<double>(
      sum(tx.data(), ty.data(), count, order, [](T value) { return value; }));
}

}  // namespace

double get(const Problem& problem, std::string_view role, std::span<const std::byte> bytes,
           int64_t l, int64_t i, int64_t j) {
  const Operand& operand = *problem.find_operand(role);
  return load_as_double(operand.dtype, bytes.data() + offset(operand, l, i, j));
}

void put(const Problem& problem, std::string_view role, std::vector<std::byte>& bytes, int64_t l,
         int64_t i, int64_t j, double value) {
  const Operand& operand = *problem.find_operand(role);
  store_from_double(operand.dtype, value, bytes.data() + offset(operand, l, i, j));
}

void flip(const Problem& problem, std::vector<std::byte>& out, int64_t l, int64_t i, int64_t j,
          int bit) {
  out[offset(*problem.find_operand("out"), l, i, j) + bit / 8] ^=
      static_cast<std::byte>(1 << bit % 8);
}

std::vector<std::byte> run(const Instance& instance, const Naive& how) {
  return run(instance, InputSeeds{}, how);
}

std::vector<std::byte> run(const Instance& instance, const InputSeeds& seeds, const Naive& how) {
  const Problem& problem = instance.problem();
  const View v = *view(problem);
  std::vector<std::vector<std::byte>> inputs;
  for (size_t i = 0; i < problem.operands().size(); ++i) {
    const auto own = instance.input(i);
    auto& bytes = inputs.emplace_back(own.begin(), own.end());
    if (seeds.renewed() && problem.operands()[i].access != Access::write)
      renew(operation().renewal(problem, i, seeds), bytes);
  }
  const std::span<const std::byte> a = inputs[0], b = inputs[1];
  std::vector<std::byte> out(static_cast<size_t>(problem.find_operand("out")->span_bytes),
                             std::byte{0x5a});
  const int64_t depth = v.k - how.skipped_k;
  const auto read = [&](std::string_view role, std::span<const std::byte> from, int64_t l,
                        int64_t i, int64_t j) {
    const double value = get(problem, role, from, l, i, j);
    return how.input ? how.input(value) : value;
  };
  const DType accumulate = how.accumulate.value_or(v.accumulate);
  for (int64_t l = 0; l < std::min(v.l, how.batches_written); ++l) {
    std::vector<std::vector<double>> columns(static_cast<size_t>(v.n));
    for (int64_t j = 0; j < v.n; ++j)
      for (int64_t p = 0; p < depth; ++p) columns[j].push_back(read("b", b, l, p, j));
    for (int64_t i = 0; i < std::min(v.m, how.rows_written); ++i) {
      std::vector<double> row;
      for (int64_t p = 0; p < depth; ++p) row.push_back(read("a", a, l, i, p));
      for (int64_t j = 0; j < v.n; ++j) {
        double value = 0;
        if (accumulate == DType::f64 || accumulate == DType::s32)
          value = dot<double>(row, columns[j], how.order, std::nullopt);
        else if (accumulate == DType::f32)
          value = dot<float>(row, columns[j], how.order, std::nullopt);
        else
          value = dot<float>(row, columns[j], how.order, accumulate);
        const double c = v.has_c ? get(problem, "c", inputs[3], l, i, j) : 0;
        if (accumulate == DType::f32) {
          float scaled = static_cast<float>(v.alpha) * static_cast<float>(value);
          if (v.has_c) scaled += static_cast<float>(v.beta) * static_cast<float>(c);
          value = scaled;
        } else {
          value = v.alpha * value + v.beta * c;
        }
        put(problem, "out", out, l, i, j, value);
      }
    }
  }
  return out;
}

}  // namespace assay::gemm::testing
