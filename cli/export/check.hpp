// What the callers of an exported kernel share: inputs, comparison, how times are said. Operands here
// are in the host's memory. What the problem is stands in problem.h, what is right in reference.h.
#pragma once

#include "numbers.h"
#include "reference.h"

namespace {

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

// Elements of outputs, as the reference is asked for them.
class Comparison {
 public:
  explicit Comparison(const problem::Buffers& set) : set_(set), reference_(set) {}

  // All elements, or as many at random places as two hundred million multiplications allow.
  bool run(std::size_t which) {
    const Operand& operand = problem::kOperand[which];
    const std::int64_t all = elements_of(operand);
    const auto most = std::max<std::int64_t>(
        static_cast<std::int64_t>(200e6 / std::max(problem::Reference::kCost, 1.0)), 1000);
    all_ += all;
    if (all <= most) {
      for (std::int64_t place = 0; place < all; ++place)
        if (!compare(which, place)) return false;
      return true;
    }
    Random random(11);
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < most; ++i)
      places.push_back(static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(all)));
    std::sort(places.begin(), places.end());
    return std::all_of(places.begin(), places.end(),
                       [&](std::int64_t place) { return compare(which, place); });
  }

  // What lies between the elements was 0xff ahead of the launch, or what was given.
  bool leaves_gaps(std::size_t which) const {
    const Operand& operand = problem::kOperand[which];
    const auto step = static_cast<std::size_t>(bytes_of(operand.type));
    if (static_cast<std::size_t>(elements_of(operand)) * step == operand.bytes) return true;
    std::vector<bool> is_element(operand.bytes / step);
    for (std::int64_t element = 0; element < elements_of(operand); ++element) {
      std::int64_t place = element, at = 0;
      for (int i = operand.rank; i-- > 0; place /= operand.sizes[i])
        at += place % operand.sizes[i] * operand.strides[i];
      is_element[static_cast<std::size_t>(at)] = true;
    }
    const auto* const bytes = static_cast<const unsigned char*>(set_.operand[which]);
    const auto* const given = static_cast<const unsigned char*>(set_.given[which]);
    for (std::size_t at = 0; at < is_element.size() * step; ++at)
      if (!is_element[at / step] && bytes[at] != (operand.read ? given[at] : 0xff)) {
        std::printf("wrong: byte %zu of %s lies between its elements, and was written\n", at,
                    operand.role);
        return false;
      }
    return true;
  }

  std::int64_t all() const { return all_; }
  std::int64_t compared() const { return compared_; }
  long double largest() const { return largest_; }

 private:
  bool compare(std::size_t which, std::int64_t place) {
    const Operand& operand = problem::kOperand[which];
    std::int64_t index[problem::kMostRank] = {}, at = 0;
    for (int i = operand.rank; i-- > 0; place /= operand.sizes[i]) {
      index[i] = place % operand.sizes[i];
      at += index[i] * operand.strides[i];
    }
    const problem::Expected expected = reference_.at(which, index);
    const long double got = element(operand.type, set_.operand[which], at);
    ++compared_;
    if (expected.any || got == expected.value || (std::isnan(got) && std::isnan(expected.value)))
      return true;
    const long double error = std::abs(got - expected.value) / expected.allowed;
    if (error <= 1) {
      largest_ = std::max(largest_, error);
      return true;
    }
    std::string where;
    for (int i = 0; i < operand.rank; ++i)
      where += (i == 0 ? "" : ",") + std::to_string(index[i]);
    std::printf("wrong: %s[%s] = %.9Lg, expected %.9Lg +- %.2Lg\n", operand.role, where.c_str(), got,
                expected.value, expected.allowed);
    return false;
  }

  const problem::Buffers& set_;
  problem::Reference reference_;
  std::int64_t all_ = 0, compared_ = 0;
  long double largest_ = 0;
};

// After one launch into outputs of 0xff. What is right is said of one of them alone.
int check(const problem::Buffers& set, bool says_right) {
  if (problem::kUnchecked != nullptr) {
    if (says_right) std::printf("unchecked: %s\n", problem::kUnchecked);
    return 0;
  }
  Comparison comparison(set);
  for (std::size_t i = 0; i < problem::kOperands; ++i)
    if (problem::kOperand[i].output && !(comparison.run(i) && comparison.leaves_gaps(i))) return 1;
  if (!says_right) return 0;
  std::printf(
      "right%s: %lld of %lld elements are within the error bound, the largest error is %.3Lf "
      "of it\n",
      problem::kBound, static_cast<long long>(comparison.compared()),
      static_cast<long long>(comparison.all()), comparison.largest());
  return 0;
}

// Outputs that are also read hold what a launch is to find there. In the host's memory.
inline void give(const problem::Buffers& set) {
  for (std::size_t i = 0; i < problem::kOperands; ++i)
    if (problem::kOperand[i].read)
      std::memcpy(set.operand[i], set.given[i], problem::kOperand[i].bytes);
}

void fill(const Operand& operand, std::byte* data, Random& random) {
  const auto step = static_cast<std::size_t>(bytes_of(operand.type));
  for (std::size_t at = 0; at + step <= operand.bytes; at += step)
    put_random(data + at, operand.type, random.next());
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
