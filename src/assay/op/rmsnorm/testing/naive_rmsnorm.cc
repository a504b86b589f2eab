#include "assay/op/rmsnorm/testing/naive_rmsnorm.h"

#include <algorithm>
#include <cmath>

#include "assay/op/outputs.h"
#include "assay/op/renewal.h"

namespace assay::rmsnorm::testing {
namespace {

template <class T>
class Kernel {
 public:
  Kernel(const View& view, const Naive& how) : v_(view), how_(how) {}

  // x plus residual, and what is normalised of it.
  void add(std::vector<double>& x, std::vector<double>& residual) const {
    for (size_t j = 0; j < x.size(); ++j) {
      if (how_.adds) x[j] = static_cast<double>(static_cast<T>(x[j]) + static_cast<T>(residual[j]));
      if (how_.writes_back) residual[j] = round_to(v_.residual, x[j]);
    }
  }

  // squares: of what, where they are of something else than x.
  std::vector<double> row(const std::vector<double>& x, const std::vector<double>& squared,
                          const std::vector<double>& w) const {
    std::vector<T> squares;
    for (const double value : squared) {
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

// Where an output's element lies in all of them.
size_t place_of(const Problem& problem, int64_t i, int64_t j, size_t operand) {
  const Operand& output = problem.operands()[operand];
  const int64_t element = i * output.strides[0] + j;
  return OutputPlaces::of(problem).places[operand - kOut].offset +
         static_cast<size_t>(element * size_bytes(output.dtype));
}

}  // namespace

std::vector<std::byte> run(const Instance& instance, const Naive& how, const InputSeeds& seeds) {
  const Problem& problem = instance.problem();
  const View v = *view(problem);
  std::vector<std::vector<std::byte>> inputs;
  for (size_t operand = 0; operand < problem.operands().size(); ++operand) {
    const auto own = instance.input(operand);
    auto& bytes = inputs.emplace_back(own.begin(), own.end());
    if (seeds.renewed() && operand != kOut)
      renew(operation().renewal(problem, operand, seeds), bytes);
  }
  std::vector<double> x(static_cast<size_t>(v.n)), residual(x.size()), w(x.size());
  convert_to_double(v.w, inputs[kW].data(), v.n, w.data());
  const OutputPlaces places = OutputPlaces::of(problem);
  std::vector<std::byte> outputs(places.bytes, std::byte{0x5a});
  std::vector<void*> found(problem.operands().size());
  for (size_t i = 0; i < found.size(); ++i) found[i] = inputs[i].data();
  places.give(found, outputs.data());
  const auto of = [&](const auto& kernel, int64_t i) {
    if (!v.adds) return kernel.row(x, x, w);
    std::byte* const at = outputs.data() + place_of(problem, i, 0, kResidual);
    convert_to_double(v.residual, at, v.n, residual.data());
    kernel.add(x, residual);
    convert_from_double(v.residual, residual.data(), v.n, at);
    const bool exact = how.sum_with_residual == Naive::Sum::exact;
    return kernel.row(exact ? x : residual,
                      how.sum_with_residual == Naive::Sum::as_written ? residual : x, w);
  };
  for (int64_t i = 0; i < std::min(v.m, how.rows_written); ++i) {
    convert_to_double(v.x, inputs[kX].data() + i * v.x_m * size_bytes(v.x), v.n, x.data());
    const auto row =
        v.accumulate == DType::f64 ? of(Kernel<double>(v, how), i) : of(Kernel<float>(v, how), i);
    convert_from_double(v.out, row.data(), v.n, outputs.data() + place_of(problem, i, 0, kOut));
  }
  return outputs;
}

double get(const Problem& problem, std::span<const std::byte> outputs, int64_t i, int64_t j,
           size_t operand) {
  return load_as_double(problem.operands()[operand].dtype,
                        outputs.data() + place_of(problem, i, j, operand));
}

void put(const Problem& problem, std::span<std::byte> outputs, int64_t i, int64_t j, double value,
         size_t operand) {
  store_from_double(problem.operands()[operand].dtype, value,
                    outputs.data() + place_of(problem, i, j, operand));
}

}  // namespace assay::rmsnorm::testing
