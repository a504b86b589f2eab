// What the callers of an exported kernel share: numbers of each type, the reference, how times are
// said. Operands here are in the host's memory. What the problem is stands in problem.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "problem.h"

namespace {

using problem::Matrix;
using problem::Type;

// --- Numbers ------------------------------------------------------------------------------------

std::int64_t bytes_of(Type type) {
  switch (type) {
    case Type::f64:
      return 8;
    case Type::f32:
    case Type::s32:
      return 4;
    case Type::bf16:
    case Type::f16:
      return 2;
    case Type::s8:
      return 1;
  }
  return 0;
}

double f16_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 0    ? std::ldexp(fraction, -24)
                      : exponent == 31 ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                                       : std::ldexp(fraction + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

template <class T>
T read_as(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

long double get(const std::byte* at, Type type) {
  switch (type) {
    case Type::f64:
      return read_as<double>(at);
    case Type::f32:
      return read_as<float>(at);
    case Type::bf16: {
      const std::uint32_t bits = std::uint32_t{read_as<std::uint16_t>(at)} << 16;
      return read_as<float>(&bits);
    }
    case Type::f16:
      return f16_value(read_as<std::uint16_t>(at));
    case Type::s8:
      return read_as<std::int8_t>(at);
    case Type::s32:
      return read_as<std::int32_t>(at);
  }
  return 0;
}

// In [-1, 1), with as many random bits as the type has, as a race's inputs: how long a launch takes
// depends on them (docs/method.md).
void put_random(std::byte* at, Type type, std::uint64_t bits) {
  const int whole = static_cast<int>(bits >> 56) - 128;
  const float real = static_cast<float>(bits >> 40) * 0x1p-23f - 1;
  const auto put = [&](auto number) { std::memcpy(at, &number, sizeof(number)); };
  switch (type) {
    case Type::f64:
      return put(static_cast<double>(bits >> 11) * 0x1p-52 - 1);
    case Type::f32:
      return put(real);
    case Type::bf16:
      return put(static_cast<std::uint16_t>(read_as<std::uint32_t>(&real) >> 16));
    case Type::f16: {
      // Normal numbers of f16, or zero: its exponents count from 15, those of f32 from 127.
      const auto f32 = read_as<std::uint32_t>(&real);
      const std::uint32_t exponent = f32 >> 23 & 255, sign = f32 >> 16 & 0x8000;
      return put(static_cast<std::uint16_t>(
          exponent <= 112 ? 0 : sign | (exponent - 112) << 10 | (f32 >> 13 & 1023)));
    }
    case Type::s8:
      return put(static_cast<std::int8_t>(whole));
    case Type::s32:
      return put(static_cast<std::int32_t>(whole));
  }
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {  // SplitMix64: Steele, Lea and Flood, OOPSLA 2014.
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

 private:
  std::uint64_t state_;
};

// --- Is it right? -------------------------------------------------------------------------------

long double element(const Matrix& matrix, const void* data, std::int64_t batch, std::int64_t row,
                    std::int64_t column) {
  const std::int64_t at = batch * matrix.batch + row * matrix.row + column * matrix.column;
  return get(static_cast<const std::byte*>(data) + at * bytes_of(matrix.type), matrix.type);
}

// Unit roundoffs.
long double roundoff(Type type) {
  switch (type) {
    case Type::f64:
      return 0x1p-53L;
    case Type::f32:
      return 0x1p-24L;
    case Type::f16:
      return 0x1p-11L;
    case Type::bf16:
      return 0x1p-8L;
    default:
      return 0;
  }
}

// A right kernel's distance from the exact result, whatever the order in which it sums (Higham,
// Accuracy and Stability of Numerical Algorithms, 3.1): N u / (1 - N u) times the sum of absolute
// values, with N roundings, of which sums of blocks have some more; then one rounding to the type of
// out. Integers are exact.
long double allowed(long double exact, long double magnitude) {
  if (problem::kOut.type == Type::s32) return 0.5L;
  const auto roundings = static_cast<long double>(problem::kK + (problem::kNormwise ? 20 : 5));
  const long double u = roundoff(problem::kAccumulate);
  const long double growth = roundings * u / (1 - std::min(roundings * u, 0.5L));
  const long double sums = growth * magnitude + 0x1p-126L;
  const long double out =
      problem::kOut.type == problem::kAccumulate ? 0 : roundoff(problem::kOut.type);
  return sums + out * (std::abs(exact) + sums) + (problem::kOut.type == Type::f16 ? 0x1p-24L : 0);
}

// The largest magnitude of a matrix.
long double largest_of(const Matrix& matrix, const void* data, std::int64_t batch,
                       std::int64_t rows, std::int64_t columns) {
  long double most = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column)
      most = std::max(most, std::abs(element(matrix, data, batch, row, column)));
  return most;
}

// Of a kernel whose errors are bounded by norms: by batch, what stands for every element's sum of
// absolute values.
std::vector<long double> norms_of(const problem::Buffers& set) {
  std::vector<long double> norms;
  for (std::int64_t l = 0; problem::kNormwise && l < problem::kL; ++l) {
    long double norm = std::abs(problem::kAlpha) * problem::kK *
                       largest_of(problem::kA, set.a, l, problem::kM, problem::kK) *
                       largest_of(problem::kB, set.b, l, problem::kK, problem::kN);
    if (problem::kBeta != 0)
      norm += std::abs(problem::kBeta) *
              largest_of(problem::kC, set.c, l, problem::kM, problem::kN);
    norms.push_back(norm);
  }
  return norms;
}

// All elements, or as many at random places as two hundred million multiplications allow.
int check(const problem::Buffers& set) {
  const std::vector<long double> norms = norms_of(set);
  const std::int64_t all = problem::kL * problem::kM * problem::kN;
  const std::int64_t most =
      std::max<std::int64_t>(200'000'000 / std::max<std::int64_t>(problem::kK, 1), 1000);
  const bool every = all <= most;
  Random places(11);
  long double largest = 0;
  const std::int64_t count = every ? all : most;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t place =
        every ? i : static_cast<std::int64_t>(places.next() % static_cast<std::uint64_t>(all));
    const std::int64_t l = place / (problem::kM * problem::kN);
    const std::int64_t m = place / problem::kN % problem::kM, n = place % problem::kN;
    long double sum = 0, magnitude = 0;
    for (std::int64_t k = 0; k < problem::kK; ++k) {
      const long double product =
          element(problem::kA, set.a, l, m, k) * element(problem::kB, set.b, l, k, n);
      sum += product;
      magnitude += std::abs(product);
    }
    sum *= problem::kAlpha;
    magnitude *= std::abs(problem::kAlpha);
    if (problem::kBeta != 0) {
      const long double c = problem::kBeta * element(problem::kC, set.c, l, m, n);
      sum += c;
      magnitude += std::abs(c);
    }
    if (problem::kNormwise) magnitude = norms[static_cast<std::size_t>(l)];
    const long double got = element(problem::kOut, set.out, l, m, n);
    const long double error = std::abs(got - sum) / allowed(sum, magnitude);
    if (!(error <= 1)) {
      std::printf("wrong: out[%lld,%lld,%lld] = %.9Lg, expected %.9Lg +- %.2Lg\n",
                  static_cast<long long>(l), static_cast<long long>(m), static_cast<long long>(n),
                  got, sum, allowed(sum, magnitude));
      return 1;
    }
    largest = std::max(largest, error);
  }
  std::printf(
      "right%s: %lld of %lld elements are within the error bound, the largest error is %.3Lf "
      "of it\n",
      problem::kNormwise ? ", normwise" : "", static_cast<long long>(count),
      static_cast<long long>(all), largest);
  return 0;
}

void fill(const Matrix& matrix, std::byte* data, Random& random) {
  const auto step = static_cast<std::size_t>(bytes_of(matrix.type));
  for (std::size_t at = 0; at + step <= matrix.bytes; at += step)
    put_random(data + at, matrix.type, random.next());
}

// --- How is it said? ----------------------------------------------------------------------------

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void say_recorded(double us) {
  std::printf("%.4g us recorded: %.3f of it\n", problem::kRecordedUs, us / problem::kRecordedUs);
}

// The seconds of --seconds S, two by default; exits where the words are others.
double seconds_of(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--seconds") return std::atof(argv[2]);
  if (argc == 1) return 2;
  std::fprintf(stderr, "usage: caller [--seconds S]\n");
  std::exit(2);
}

}  // namespace
