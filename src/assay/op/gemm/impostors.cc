#include "assay/op/gemm/impostors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "assay/op/gemm/epilogue.h"
#include "assay/op/gemm/reference.h"
#include "assay/op/gemm/tiles.h"

namespace assay::gemm {
namespace {

constexpr std::string_view kImpostors[] = {"zeros",
                                           "ones",
                                           "copy of a",
                                           "copy of b",
                                           "mean of rows",
                                           "half of k",
                                           "bf16 inside",
                                           "no epilogue",
                                           "last step left out",
                                           "epilogue of half the columns"};
enum Which : size_t {
  kZeros,
  kOnes,
  kCopyOfA,
  kCopyOfB,
  kMeans,
  kHalf,
  kNarrow,
  kNoEpilogue,
  kNoLastStep,
  kHalfOfEpilogue
};

// A matrix of its own, for inputs in fewer bits.
struct Own {
  std::vector<std::byte> bytes;
  Matrix matrix;
};
Own in_bf16(const Matrix& from) {
  Own own;
  const auto elements = static_cast<size_t>(from.batches * from.rows * from.columns);
  own.bytes.resize(elements * 2);
  own.matrix = {own.bytes.data(), DType::bf16,
                from.batches,     from.rows,
                from.columns,     from.rows * from.columns,
                from.columns,     1};
  for_each_tile(from, [&](int64_t batch, Range rows, Range columns, double* tile) {
    load_tile(from, batch, rows, columns, tile);
    store_tile(own.matrix, batch, rows, columns, tile);
  });
  return own;
}

class Pretender {
 public:
  Pretender(const View& view, const Epilogue& epilogue, const Instance& instance,
            std::span<std::byte> output)
      : v_(view),
        epilogue_(epilogue),
        a_(with_data(matrix_a(view), instance.input(0))),
        b_(with_data(matrix_b(view), instance.input(1))),
        c_(matrix_c(view)),
        out_(with_data(matrix_out(view), output)) {
    if (view.has_c) c_ = with_data(c_, instance.input(places_of(instance.problem()).c));
    operands_ = epilogue_operands(instance.problem(), view, epilogue, [&](size_t operand) {
      return const_cast<std::byte*>(instance.input(operand).data());  // Only read.
    });
  }

  bool pretend(Which which) {
    switch (which) {
      case kZeros:
        return fill([](int64_t, int64_t, int64_t) { return 0; });
      case kOnes:
        return fill([](int64_t, int64_t, int64_t) { return 1; });
      case kCopyOfA:
        return fill([&](int64_t l, int64_t i, int64_t j) {
          return load_as_double(a_.dtype, a_.at(l, i, j % v_.k));
        });
      case kCopyOfB:
        return fill([&](int64_t l, int64_t i, int64_t j) {
          return load_as_double(b_.dtype, b_.at(l, i % v_.k, j));
        });
      case kMeans:
        return means();
      case kHalf: {
        Matrix a = a_, b = b_;
        a.columns = b.rows = v_.k / 2;
        return v_.k > 1 && multiplied(a, b);
      }
      case kNarrow: {
        const auto bits = [](DType dtype) { return info(dtype).significand_bits; };
        if (!info(v_.out).floating || std::max(bits(v_.a), bits(v_.b)) <= bits(DType::bf16))
          return false;
        const Own a = in_bf16(a_), b = in_bf16(b_);
        return multiplied(a.matrix, b.matrix);
      }
      case kNoEpilogue:
        kept_steps_ = 0;
        return !epilogue_.empty() && multiplied(a_, b_);
      case kNoLastStep:
        kept_steps_ = epilogue_.steps().size() - 1;
        return epilogue_.steps().size() > 1 && multiplied(a_, b_);
      case kHalfOfEpilogue:
        half_ = true;
        return !epilogue_.empty() && v_.out_columns > 1 && multiplied(a_, b_);
    }
    return false;
  }

 private:
  template <class Value>
  bool fill(Value value) {
    for (int64_t l = 0; l < v_.l; ++l)
      for (int64_t i = 0; i < v_.m; ++i)
        for (int64_t j = 0; j < v_.out_columns; ++j)
          store_from_double(v_.out, value(l, i, j), out_.at(l, i, j));
    return true;
  }

  bool means() {
    std::vector<double> sums(static_cast<size_t>(v_.l * v_.m));
    for_each_tile(a_, [&](int64_t l, Range rows, Range columns, double* tile) {
      load_tile(a_, l, rows, columns, tile);
      for (int64_t i = 0; i < rows.count; ++i)
        for (int64_t p = 0; p < columns.count; ++p)
          sums[static_cast<size_t>(l * v_.m + rows[i])] += tile[i * columns.count + p];
    });
    return fill([&](int64_t l, int64_t i, int64_t) {
      return sums[static_cast<size_t>(l * v_.m + i)] / static_cast<double>(v_.k);
    });
  }

  bool multiplied(const Matrix& a, const Matrix& b) {
    std::vector<double> product(static_cast<size_t>(v_.m * v_.n));
    for (int64_t l = 0; l < v_.l; ++l) {
      multiply(a, b, l, Range::all(v_.m), Range::all(v_.n), product.data(), nullptr);
      for (int64_t i = 0; i < v_.m; ++i)
        for (int64_t j = 0; j < v_.out_columns; ++j) {
          const double addend = v_.has_c ? v_.beta * load_as_double(c_.dtype, c_.at(l, i, j)) : 0;
          std::array<double, 2> sums{};
          const auto columns = epilogue_.columns(j, v_.n);
          for (size_t which = 0; which < sums.size(); ++which)
            sums[which] =
                v_.alpha * product[static_cast<size_t>(i * v_.n + columns[which])] + addend;
          store_from_double(v_.out, behind(sums, l, i, j), out_.at(l, i, j));
        }
    }
    return true;
  }

  double behind(const std::array<double, 2>& sums, int64_t l, int64_t i, int64_t j) const {
    if (half_ && j >= v_.out_columns / 2) return sums[0];
    return apply(epilogue_.first(kept_steps_), operands_, sums, l, i, j, v_);
  }

  const View& v_;
  const Epilogue& epilogue_;
  size_t kept_steps_ = Epilogue::kMostSteps;
  bool half_ = false;
  EpilogueOperands operands_;
  Matrix a_, b_, c_, out_;
};

}  // namespace

std::span<const std::string_view> impostor_names() { return kImpostors; }

bool pretend(size_t impostor, const Instance& instance, std::span<std::byte> output) {
  const auto sizes = view(instance.problem());
  const auto epilogue = epilogue_of(instance.problem());
  return sizes && epilogue && impostor < std::size(kImpostors) &&
         Pretender(*sizes, *epilogue, instance, output).pretend(static_cast<Which>(impostor));
}

Result<Problem> fewer_outputs(const Problem& problem, double products) {
  ASSAY_TRY(const View v, view(problem));
  const auto all = [](int64_t l, int64_t m, int64_t n, int64_t k) {
    return static_cast<double>(l) * static_cast<double>(m) * static_cast<double>(n) *
           static_cast<double>(k);
  };
  if (all(v.l, v.m, v.n, v.k) <= products) return problem;
  Shape shape;
  shape.name = problem.name();
  shape.batch = 1;
  shape.k = v.k;
  // Half of what there is room for on each side, or all of the shorter one.
  const double outputs = std::max(64.0, products / static_cast<double>(v.k));
  const auto side = static_cast<int64_t>(std::sqrt(outputs));
  shape.m = std::min(v.m, std::max(side, static_cast<int64_t>(outputs) / v.n));
  shape.n = std::clamp(static_cast<int64_t>(outputs) / shape.m, int64_t{1}, v.n);
  ASSAY_TRY(const Epilogue epilogue, epilogue_of(problem));
  if (epilogue.gate() != nullptr) shape.n = (shape.n + 1) / 2 * 2;
  shape.epilogue = epilogue.text();
  for (const Operand& operand : problem.operands())
    if (std::ranges::find(Epilogue::operand_names(), operand.role) !=
        Epilogue::operand_names().end())
      shape.epilogue_dtypes.emplace(operand.role, operand.dtype);
  shape.a = v.a, shape.b = v.b, shape.out = v.out, shape.accumulate = v.accumulate;
  shape.layout = problem.layout();
  shape.alpha = v.alpha, shape.beta = v.beta;
  for (const Operand& operand : problem.operands())
    if (operand.lifetime == Lifetime::constant) shape.constant.push_back(operand.role);
  return gemm::problem(shape);
}

}  // namespace assay::gemm
