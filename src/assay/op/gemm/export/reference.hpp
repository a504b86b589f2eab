
// What an element of out is to be: its products in long double, then the steps behind them.

namespace problem {

inline constexpr const char* kUnchecked = nullptr;

class Reference {
 public:
  static constexpr double kCost = static_cast<double>(kK) * (kGate >= 0 ? 2 : 1);

  explicit Reference(const Buffers& set) : set_(set) {
    for (std::int64_t l = 0; kNormwise && l < kL; ++l) norms_.push_back(norm(l));
  }

  Expected at(std::size_t, const std::int64_t* index) const {
    const std::int64_t l = index[0], row = index[1], column = index[2];
    if (kStepCount == 0) return alone(l, row, column);
    const assay::gemm::Approximate x = chain(l, row, column);
    if (kIntegers) return {x.value, 0.5L, x.open};
    if (!std::isfinite(x.value)) return {x.value, 0, x.open};
    const double size = std::fabs(x.value);
    const double allowed = x.error + kRounding * (size + x.error) + kOutUnit * kMinNormal +
                           (size < kMinNormal ? kMinNormal : 0);
    return {x.value, allowed, x.open || !(size + allowed < kMostOfOut)};
  }

 private:
  struct Sum {
    long double value = 0, magnitude = 0;
  };

  long double get(const Strided& matrix, std::int64_t batch, std::int64_t row,
                  std::int64_t column) const {
    return element(kOperand[matrix.operand].type, set_.operand[matrix.operand],
                   batch * matrix.batch + row * matrix.row + column * matrix.column);
  }

  // The largest magnitude of a matrix.
  long double largest(const Strided& matrix, std::int64_t batch, std::int64_t rows,
                      std::int64_t columns) const {
    long double most = 0;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column)
        most = std::max(most, std::abs(get(matrix, batch, row, column)));
    return most;
  }

  // What stands for every element's sum of absolute values if errors are bounded by norms.
  long double norm(std::int64_t l) const {
    long double norm = std::abs(kAlpha) * kK * largest(kA, l, kM, kK) * largest(kB, l, kK, kN);
    if (kHasC) norm += std::abs(kBeta) * largest(kC, l, kM, kN);
    return norm;
  }

  Sum sum(std::int64_t l, std::int64_t row, std::int64_t column) const {
    Sum sum;
    for (std::int64_t k = 0; k < kK; ++k) {
      const long double product = get(kA, l, row, k) * get(kB, l, k, column);
      sum.value += product;
      sum.magnitude += std::abs(product);
    }
    sum.value *= kAlpha;
    sum.magnitude *= std::abs(kAlpha);
    if (kHasC) {
      const long double c = kBeta * get(kC, l, row, column);
      sum.value += c;
      sum.magnitude += std::abs(c);
    }
    if (kNormwise) sum.magnitude = norms_[static_cast<std::size_t>(l)];
    return sum;
  }

  // A right kernel's distance from the exact sum, with one rounding to the type of out.
  static long double allowed(const Sum& sum) {
    if (kIntegers) return 0.5L;
    const long double size = std::abs(sum.value), sums = kGrowth * sum.magnitude + kUnderflow;
    return sums + kRounding * (size + sums) + (size < kMinNormal ? kMinNormal : 0);
  }

  Expected alone(std::int64_t l, std::int64_t row, std::int64_t column) const {
    const Sum whole = sum(l, row, column);
    return {whole.value, allowed(whole), false};
  }

  assay::gemm::Approximate chain(std::int64_t l, std::int64_t row, std::int64_t column) const {
    const std::size_t ahead = kGate < 0 ? kStepCount : static_cast<std::size_t>(kGate);
    if (kGate < 0) return through(start(l, row, column), 0, ahead, l, row, column);
    const std::int64_t first = kInterleaved ? 2 * column : column;
    const std::int64_t second = kInterleaved ? 2 * column + 1 : kN / 2 + column;
    const auto gate = through(start(l, row, first), 0, ahead, l, row, first);
    const auto up = through(start(l, row, second), 0, ahead, l, row, second);
    const auto bent = kArithmetic.function(gate, kSteps[ahead].function);
    return through(kArithmetic.product(bent, up), ahead + 1, kStepCount, l, row, column);
  }

  assay::gemm::Approximate start(std::int64_t l, std::int64_t row, std::int64_t column) const {
    const Sum whole = sum(l, row, column);
    const bool precise = kIntegers || !std::isfinite(whole.value);
    return {.value = static_cast<double>(whole.value),
            .error = precise ? 0 : static_cast<double>(allowed(whole)),
            .exact = kIntegers};
  }

  assay::gemm::Approximate through(assay::gemm::Approximate x, std::size_t from, std::size_t to,
                                   std::int64_t l, std::int64_t row, std::int64_t column) const {
    for (std::size_t i = from; i < to; ++i) {
      const Step& step = kSteps[i];
      const assay::gemm::Approximate other{
          .value = step.kind <= Step::multiply
                       ? static_cast<double>(get(step.operand, l, row, column))
                       : 0,
          .exact = x.exact};
      switch (step.kind) {
        case Step::add:
          x = kArithmetic.sum(x, other);
          break;
        case Step::multiply:
          x = kArithmetic.product(x, other);
          break;
        case Step::relu:
          x = kArithmetic.relu(x);
          break;
        case Step::clamp:
          x = kArithmetic.clamp(x, step.low, step.high);
          break;
        case Step::bend:
          x = kArithmetic.function(x, step.function);
          break;
      }
    }
    return x;
  }

  const Buffers& set_;
  std::vector<long double> norms_;
};

}  // namespace problem
