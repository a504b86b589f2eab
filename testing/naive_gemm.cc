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

// An epilogue as a kernel's author writes it, in T, apart from what the referee does.
template <class T>
T behind_steps(const std::vector<std::string>& steps, T x, T gate,
               const std::function<double(std::string_view)>& operand) {
  const T half = static_cast<T>(0.5), one = 1;
  const auto gelu = [&](T y) { return half * y * (one + std::erf(y / std::sqrt(T{2}))); };
  const auto gelu_tanh = [&](T y) {
    const T inner = static_cast<T>(0.7978845608028654) * (y + static_cast<T>(0.044715) * y * y * y);
    return half * y * (one + std::tanh(inner));
  };
  const auto silu = [&](T y) { return y / (one + std::exp(-y)); };
  for (const std::string& step : steps) {
    if (step == "relu")
      x = std::max(x, T{0});
    else if (step == "gelu")
      x = gelu(x);
    else if (step == "gelu_tanh")
      x = gelu_tanh(x);
    else if (step == "silu")
      x = silu(x);
    else if (step.starts_with("swiglu"))
      x = silu(x) * gate;
    else if (step.starts_with("geglu_tanh"))
      x = gelu_tanh(x) * gate;
    else if (step.starts_with("geglu"))
      x = gelu(x) * gate;
    else if (step.starts_with("clamp:")) {
      const size_t colon = step.find(':', 6);
      x = std::min(std::max(x, static_cast<T>(std::stod(step.substr(6, colon - 6)))),
                   static_cast<T>(std::stod(step.substr(colon + 1))));
    } else if (step.ends_with("scale"))
      x *= static_cast<T>(operand(step));
    else
      x += static_cast<T>(operand(step));
  }
  return x;
}

template <class T>
double with_epilogue(const Problem& problem, const std::vector<std::vector<std::byte>>& inputs,
                     const Naive& how, const std::vector<double>& sums, int64_t l, int64_t i,
                     int64_t j) {
  const auto attribute = problem.attributes().find("epilogue");
  std::vector<std::string> steps;
  std::string rest = std::get<std::string>(attribute->second);
  while (!rest.empty()) {
    steps.push_back(rest.substr(0, rest.find('+')));
    rest = rest.size() == steps.back().size() ? "" : rest.substr(steps.back().size() + 1);
  }
  const auto gate = std::ranges::find_if(
      steps, [](const std::string& step) { return step.find("glu") != std::string::npos; });
  const auto n = static_cast<int64_t>(sums.size());
  const bool pairs = gate != steps.end() && gate->ends_with("_interleaved");
  const int64_t first = gate == steps.end() ? j : pairs ? 2 * j : j;
  const int64_t second = gate == steps.end() ? j : pairs ? 2 * j + 1 : n / 2 + j;
  steps.resize(std::min(steps.size(), how.steps));
  if (j >= how.columns_with_epilogue) steps.clear();
  const auto read = [&](std::string_view role, int64_t column) {
    size_t place = 0;
    while (problem.operands()[place].role != role) ++place;
    const auto& sizes = problem.operands()[place].sizes;
    return get(problem, role, inputs[place], sizes[0] == 1 ? 0 : l, sizes[1] == 1 ? 0 : i,
               sizes[2] == 1 ? 0 : column);
  };
  const auto at = static_cast<size_t>(first), other = static_cast<size_t>(second);
  const auto ahead = static_cast<size_t>(
      std::ranges::find_if(
          steps, [](const std::string& s) { return s.find("glu") != std::string::npos; }) -
      steps.begin());
  const std::vector<std::string> before(steps.begin(), steps.begin() + static_cast<long>(ahead));
  const std::vector<std::string> after(steps.begin() + static_cast<long>(ahead), steps.end());
  const T x = behind_steps<T>(before, static_cast<T>(sums[at]), 0,
                              [&](std::string_view role) { return read(role, first); });
  const T up = behind_steps<T>(before, static_cast<T>(sums[other]), 0,
                               [&](std::string_view role) { return read(role, second); });
  return behind_steps<T>(after, x, up, [&](std::string_view role) { return read(role, j); });
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
      std::vector<double> sums(static_cast<size_t>(v.n));
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
        if (how.unfused) value = round_to(v.out, value);
        sums[static_cast<size_t>(j)] = value;
      }
      const bool in_float = accumulate != DType::f64 && accumulate != DType::s32;
      for (int64_t j = 0; j < v.out_columns; ++j)
        put(problem, "out", out, l, i, j,
            in_float ? with_epilogue<float>(problem, inputs, how, sums, l, i, j)
                     : with_epilogue<double>(problem, inputs, how, sums, l, i, j));
    }
  }
  return out;
}

}  // namespace assay::gemm::testing
