#include "assay/op/rmsnorm/testing/naive_rmsnorm.h"

#include <algorithm>
#include <cmath>

#include "assay/op/renewal.h"

namespace assay::rmsnorm::testing {
namespace {

template <class T>
class Kernel {
 public:
  Kernel(const View& view, const Naive& how) : v_(view), how_(how) {}

  std::vector<double> row(const std::vector<double>& x, const std::vector<double>& w) const {
    std::vector<T> squares;
    for (const double value : x) {
      const T taken = static_cast<T>(how_.input ? how_.input(value) : value);
      squares.push_back(taken * taken);
    }
    squares.resize(squares.size() -
                   std::min(squares.size() - 1, static_cast<size_t>(how_.skipped_columns)));
    const T mean = sum(squares.data(), squares.size()) / static_cast<T>(v_.n);
    const T root = static_cast<T>(how_.root_factor) / std::sqrt(mean + static_cast<T>(v_.epsilon));
    std::vector<double> out;
    for (size_t j = 0; j < x.size(); ++j) {
      T value = static_cast<T>(x[j]) * root;
      if (how_.rounds_twice) value = static_cast<T>(round_to(v_.out, static_cast<double>(value)));
      out.push_back(static_cast<double>(how_.weighs ? value * static_cast<T>(w[j]) : value));
    }
    return out;
  }

 private:
  T stored(T value) const {
    return how_.sum ? static_cast<T>(how_.sum(static_cast<double>(value))) : value;
  }

  T sum(const T* values, size_t count) const {
    T total = 0;
    switch (how_.order) {
      case Order::forward:
        for (size_t i = 0; i < count; ++i) total = stored(total + values[i]);
        return total;
      case Order::backward:
        for (size_t i = count; i-- > 0;) total = stored(total + values[i]);
        return total;
      case Order::lanes: {
        T lanes[8] = {};
        for (size_t i = 0; i < count; ++i) lanes[i % 8] = stored(lanes[i % 8] + values[i]);
        for (const T lane : lanes) total = stored(total + lane);
        return total;
      }
      case Order::pairwise:
        if (count == 1) return values[0];
        return stored(sum(values, count / 2) + sum(values + count / 2, count - count / 2));
    }
    return total;
  }

  const View& v_;
  const Naive& how_;
};

}  // namespace

std::vector<std::byte> run(const Instance& instance, const Naive& how, const InputSeeds& seeds) {
  const Problem& problem = instance.problem();
  const View v = *view(problem);
  std::vector<std::vector<std::byte>> inputs;
  for (const size_t operand : {kX, kW}) {
    const auto own = instance.input(operand);
    auto& bytes = inputs.emplace_back(own.begin(), own.end());
    if (seeds.renewed()) renew(operation().renewal(problem, operand, seeds), bytes);
  }
  std::vector<double> x(static_cast<size_t>(v.n)), w(x.size());
  convert_to_double(v.w, inputs[kW].data(), v.n, w.data());
  std::vector<std::byte> out(static_cast<size_t>(problem.operands()[kOut].span_bytes),
                             std::byte{0x5a});
  for (int64_t i = 0; i < std::min(v.m, how.rows_written); ++i) {
    convert_to_double(v.x, inputs[kX].data() + i * v.x_m * size_bytes(v.x), v.n, x.data());
    const auto row = v.accumulate == DType::f64 ? Kernel<double>(v, how).row(x, w)
                                                : Kernel<float>(v, how).row(x, w);
    convert_from_double(v.out, row.data(), v.n, out.data() + i * v.out_m * size_bytes(v.out));
  }
  return out;
}

double get(const Problem& problem, std::span<const std::byte> out, int64_t i, int64_t j) {
  const View v = *view(problem);
  return load_as_double(v.out, out.data() + (i * v.out_m + j) * size_bytes(v.out));
}

void put(const Problem& problem, std::span<std::byte> out, int64_t i, int64_t j, double value) {
  const View v = *view(problem);
  store_from_double(v.out, value, out.data() + (i * v.out_m + j) * size_bytes(v.out));
}

}  // namespace assay::rmsnorm::testing
