#include "testing/fake_cuda/fake_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>

#include "assay/process/gpu/code.h"
#include "assay/referee/gpu_code.h"

namespace fake_cuda {

bool caches_keep_everything = false;

namespace {

namespace abi = assay::cuda::abi;

template <class T>
T parameter(void** parameters, int index) {
  T value;
  std::memcpy(&value, parameters[index], sizeof value);
  return value;
}

// fill_words(uint32_t* to, uint32_t value, uint64_t words)
uint64_t fill_words(const abi::LaunchConfig&, void** parameters) {
  auto* to = parameter<uint32_t*>(parameters, 0);
  std::fill_n(to, parameter<uint64_t>(parameters, 2), parameter<uint32_t>(parameters, 1));
  return 0;
}

// add_words(const uint32_t* a, const uint32_t* b, uint32_t* out, uint64_t words)
uint64_t add_words(const abi::LaunchConfig&, void** parameters) {
  const auto* a = parameter<const uint32_t*>(parameters, 0);
  const auto* b = parameter<const uint32_t*>(parameters, 1);
  auto* out = parameter<uint32_t*>(parameters, 2);
  for (uint64_t i = 0; i < parameter<uint64_t>(parameters, 3); ++i) out[i] = a[i] + b[i];
  return 0;
}

// write_geometry(uint32_t* out): grid, block, cluster, shared bytes, programmatic.
uint64_t write_geometry(const abi::LaunchConfig& config, void** parameters) {
  auto* out = parameter<uint32_t*>(parameters, 0);
  const uint32_t plain[] = {config.grid_x,  config.grid_y,  config.grid_z,      config.block_x,
                            config.block_y, config.block_z, config.shared_bytes};
  out = std::copy(std::begin(plain), std::end(plain), out);
  uint32_t cluster[3] = {1, 1, 1}, programmatic = 0;
  for (unsigned i = 0; i < config.attribute_count; ++i) {
    const abi::LaunchAttribute& attribute = config.attributes[i];
    if (attribute.id == abi::kAttributeClusterDimension) {
      cluster[0] = attribute.value.cluster.x;
      cluster[1] = attribute.value.cluster.y;
      cluster[2] = attribute.value.cluster.z;
    }
    if (attribute.id == abi::kAttributeProgrammaticSerialization)
      programmatic = static_cast<uint32_t>(attribute.value.programmatic_serialization_allowed);
  }
  out = std::copy(std::begin(cluster), std::end(cluster), out);
  *out = programmatic;
  return 0;
}

// gemm(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k): "tn", dense.
uint64_t gemm(const abi::LaunchConfig&, void** parameters) {
  const auto* a = parameter<const float*>(parameters, 0);
  const auto* b = parameter<const float*>(parameters, 1);
  auto* out = parameter<float*>(parameters, 2);
  const auto m = parameter<int64_t>(parameters, 3), n = parameter<int64_t>(parameters, 4),
             k = parameter<int64_t>(parameters, 5);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += double{a[i * k + p]} * b[j * k + p];
      out[i * n + j] = static_cast<float>(sum);
    }
  }
  return 0;
}

// add_norm(const float* x, const float* w, float* out, float* residual, int64_t m, int64_t n):
// dense rows; residual becomes the sum that is normalised, by an epsilon of 1e-6.
uint64_t add_norm(const abi::LaunchConfig&, void** parameters) {
  const auto* x = parameter<const float*>(parameters, 0);
  const auto* w = parameter<const float*>(parameters, 1);
  auto *out = parameter<float*>(parameters, 2), *residual = parameter<float*>(parameters, 3);
  const auto m = parameter<int64_t>(parameters, 4), n = parameter<int64_t>(parameters, 5);
  for (int64_t i = 0; i < m; ++i, x += n, out += n, residual += n) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      residual[j] += x[j];
      sum += double{residual[j]} * residual[j];
    }
    const double root = 1 / std::sqrt(sum / static_cast<double>(n) + 1e-6);
    for (int64_t j = 0; j < n; ++j) out[j] = static_cast<float>(residual[j] * root * w[j]);
  }
  return 0;
}

// triton_gemm(const float* a, const float* b, float* out, int32_t m, n, k, void* scratch, void*
// profile): the same product, as Triton compiles functions to be called. Where there is scratch
// memory, each block writes its 64 bytes of it.
uint64_t triton_gemm(const abi::LaunchConfig& config, void** parameters) {
  int64_t sizes[3];
  for (int i = 0; i < 3; ++i) sizes[i] = parameter<int32_t>(parameters, 3 + i);
  void* passed[] = {parameters[0], parameters[1], parameters[2], &sizes[0], &sizes[1], &sizes[2]};
  if (auto* scratch = parameter<std::byte*>(parameters, 6); scratch != nullptr)
    std::memset(scratch, 1, size_t{64} * config.grid_x * config.grid_y * config.grid_z);
  if (config.block_x % 32 != 0 || parameter<void*>(parameters, 7) != nullptr) return kFault;
  return gemm(config, passed);
}

// The last byte of b: a row that the kernel has read.
uint64_t spoil(const abi::LaunchConfig& config, void** parameters) {
  gemm(config, parameters);
  const auto n = parameter<int64_t>(parameters, 4), k = parameter<int64_t>(parameters, 5);
  parameter<unsigned char*>(parameters, 1)[n * k * sizeof(float) - 1] ^= 1;
  return 0;
}

// One element by a little.
uint64_t wrong(const abi::LaunchConfig& config, void** parameters) {
  gemm(config, parameters);
  parameter<float*>(parameters, 2)[1] += 1;
  return 0;
}

// Right while it is proven: then nobody has the b of another launch and another a.
uint64_t wrong_later(const abi::LaunchConfig& config, void** parameters) {
  static std::map<float, float> seen;  // a by b.
  static bool timed = false;
  const float a = *parameter<const float*>(parameters, 0),
              b = *parameter<const float*>(parameters, 1);
  if (b != 0 && b != 1) timed |= seen.emplace(b, a).first->second != a;
  return timed ? wrong(config, parameters) : gemm(config, parameters);
}

uint64_t fault(const abi::LaunchConfig&, void**) { return kFault; }

// The parameters of worker/gpu/chain.cc.
uint64_t produce(const abi::LaunchConfig&, void** parameters) {
  auto* to = parameter<std::byte*>(parameters, 0);
  std::copy_n(parameter<const std::byte*>(parameters, 1), parameter<uint64_t>(parameters, 2), to);
  return parameter<uint64_t>(parameters, 5);
}

uint64_t consume(const abi::LaunchConfig&, void** parameters) {
  const auto* from = parameter<const unsigned char*>(parameters, 0);
  auto* digest = parameter<uint32_t*>(parameters, 2);
  for (uint64_t i = 0; i < parameter<uint64_t>(parameters, 1); ++i)
    *digest ^= uint32_t{from[i]} << 8 * (i % 4);
  return 0;
}

// The parameters of worker/gpu/digest.cc; another sum.
uint64_t digest(const abi::LaunchConfig&, void** parameters) {
  const auto* from = parameter<const unsigned char*>(parameters, 0);
  auto sum = parameter<uint64_t>(parameters, 2);
  for (uint64_t i = 0; i < parameter<uint64_t>(parameters, 1); ++i)
    sum = (sum ^ from[i]) * 0x100000001b3;
  *parameter<uint64_t*>(parameters, 3) += sum;
  return 0;
}

// The parameters of worker/gpu/zones.h; other bits.
uint64_t zones(const abi::LaunchConfig&, void** parameters) {
  constexpr uint64_t kZoneBytes = 4096;
  auto* const* starts = parameter<unsigned char* const*>(parameters, 0);
  auto* counts = parameter<uint32_t*>(parameters, 2);
  for (uint64_t i = 0; i < 8 * parameter<uint64_t>(parameters, 1); ++i) {
    unsigned char& byte = starts[i / kZoneBytes][i % kZoneBytes];
    const auto expected = static_cast<unsigned char>(
        (i + parameter<uint64_t>(parameters, 3)) * 0x9e3779b97f4a7c15 >> 56);
    if (parameter<uint32_t>(parameters, 4) != 0)
      byte = expected;
    else
      counts[i / kZoneBytes] += byte != expected ? 1 : 0;
  }
  return 0;
}

// The parameters of worker/gpu/probe.cc: a first pass, from memory unless caches keep everything,
// and a second one.
uint64_t probe(const abi::LaunchConfig&, void** parameters) {
  constexpr uint64_t kFromMemory = 800, kFromCache = 300;
  const auto lines = parameter<uint64_t>(parameters, 1);
  auto* ns = parameter<uint64_t*>(parameters, 4);
  ns[0] = lines * (caches_keep_everything ? kFromCache : kFromMemory);
  ns[1] = lines * kFromCache;
  return ns[0] + ns[1];
}

// The parameters of referee/gpu_code.h.
template <class T>
double read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<double>(value);
}

double load(assay::sweep::ElementCode code, const std::byte* from) {
  using assay::sweep::ElementCode;
  switch (code) {
    case ElementCode::f64:
      return read<double>(from);
    case ElementCode::f32:
      return read<float>(from);
    case ElementCode::f16:
      return read<_Float16>(from);
    case ElementCode::bf16: {
      // The upper half of a float.
      std::byte wide[4] = {std::byte{0}, std::byte{0}, from[0], from[1]};
      return read<float>(wide);
    }
    case ElementCode::s8:
      return read<int8_t>(from);
    case ElementCode::s32:
      return read<int32_t>(from);
  }
  return 0;
}

uint64_t widen(const abi::LaunchConfig&, void** parameters) {
  using namespace assay::sweep;
  const auto* from = parameter<const std::byte*>(parameters, 0);
  auto* to = parameter<double*>(parameters, 1);
  const auto lines = parameter<int64_t>(parameters, 2), depth = parameter<int64_t>(parameters, 3),
             padded = parameter<int64_t>(parameters, 4),
             line_stride = parameter<int64_t>(parameters, 5),
             depth_stride = parameter<int64_t>(parameters, 6);
  for (int64_t i = 0; i < parameter<int64_t>(parameters, 7); ++i) {
    const int64_t line = i / kPanel / padded * kPanel + i % kPanel, k = i / kPanel % padded;
    to[i] = line < lines && k < depth ? load(parameter<ElementCode>(parameters, 8),
                                             from + line * line_stride + k * depth_stride)
                                      : 0;
  }
  return 0;
}

uint64_t multiply(const abi::LaunchConfig& config, void** parameters) {
  using assay::sweep::kPanel;
  const auto rows = parameter<int64_t>(parameters, 4), columns = parameter<int64_t>(parameters, 5),
             depth = parameter<int64_t>(parameters, 6);
  if (config.grid_x * kPanel < columns || config.grid_y * kPanel < rows) return kFault;
  const auto at = [&](int operand, int64_t line, int64_t k) {
    return parameter<const double*>(parameters,
                                    operand)[(line / kPanel * depth + k) * kPanel + line % kPanel];
  };
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      double product = 0, magnitude = 0;
      for (int64_t k = 0; k < depth; ++k) {
        const double term = at(0, i, k) * at(1, j, k);
        product += term;
        magnitude += std::fabs(term);
      }
      parameter<double*>(parameters, 2)[i * columns + j] = product;
      parameter<double*>(parameters, 3)[i * columns + j] = magnitude;
    }
  }
  return 0;
}

// Philox4x32-10, word by word as a GPU makes it (base/random.h).
uint32_t random_word(uint64_t key, uint64_t stream, uint64_t index) {
  const uint64_t block = index / 4;
  uint32_t x[4] = {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                   static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)};
  auto low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round, low += 0x9E3779B9, high += 0xBB67AE85) {
    const uint64_t even = uint64_t{x[0]} * 0xD2511F53, odd = uint64_t{x[2]} * 0xCD9E8D57;
    const uint32_t next[4] = {
        static_cast<uint32_t>(odd >> 32) ^ x[1] ^ low, static_cast<uint32_t>(odd),
        static_cast<uint32_t>(even >> 32) ^ x[3] ^ high, static_cast<uint32_t>(even)};
    std::copy(std::begin(next), std::end(next), x);
  }
  return x[index % 4];
}

template <class T>
void store(std::byte* to, int64_t element, T value) {
  std::memcpy(to + element * static_cast<int64_t>(sizeof value), &value, sizeof value);
}

// The parameters of process/gpu/renewal.h.
uint64_t renew(const abi::LaunchConfig&, void** parameters) {
  using assay::sweep::ElementCode;
  const auto number = [&](int index) { return parameter<int64_t>(parameters, index); };
  auto* to = parameter<std::byte*>(parameters, 0);
  const auto key = static_cast<uint64_t>(number(7)), stream = static_cast<uint64_t>(number(8));
  const auto code = parameter<ElementCode>(parameters, 22);
  const auto mix = [](uint64_t word) {
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return word ^ word >> 31;
  };
  const auto flips = [&](int64_t at) {
    const int64_t size = int64_t{1} << parameter<uint32_t>(parameters, 23);
    const auto line = static_cast<uint64_t>(at * size / 64);
    const uint64_t word = mix(static_cast<uint64_t>(number(15)) + line / 16 * 0x9e3779b97f4a7c15);
    return number(15) != 0 && line % 16 == word % 16 && (mix(word) >> at % (64 / size) & 1) != 0;
  };
  for (int64_t i = 0; i < number(1); ++i) {
    const int64_t index[3] = {i / number(3) / number(2), i / number(3) % number(2), i % number(3)};
    const int64_t at = index[0] * number(4) + index[1] * number(5) + index[2] * number(6);
    const uint32_t word = random_word(key, stream, static_cast<uint64_t>(at));
    auto whole = static_cast<int32_t>(
        number(10) +
        static_cast<int64_t>(uint64_t{word} * parameter<uint32_t>(parameters, 18) >> 32));
    double value = ((static_cast<int32_t>(word) >> 8) * 2 + 1) * 0x1p-24;
    if (code == ElementCode::f64)
      value += (random_word(key, stream + (uint64_t{1} << 32), static_cast<uint64_t>(at)) >> 8) *
               0x1p-48;
    value *= parameter<double>(parameters, 9);
    const int64_t line = index[parameter<uint32_t>(parameters, 16)],
                  place = index[parameter<uint32_t>(parameters, 17)];
    if (number(12) > 0 && line >= number(11) && (line - number(11)) % number(12) == 0) {
      const int64_t part = place / number(13);
      const uint64_t drawn = mix(key + static_cast<uint64_t>(line) * 0x9e3779b97f4a7c15 +
                                 static_cast<uint64_t>(part) * 0xd1b54a32d192ed03);
      const bool is_drawn = part < number(14) && static_cast<uint64_t>(place % number(13)) ==
                                                     drawn % static_cast<uint64_t>(number(13));
      const bool drawn_are_small = parameter<uint32_t>(parameters, 19) != 0;
      const bool is_small = is_drawn == drawn_are_small;
      const double scale = parameter<double>(parameters, 9);
      if (is_small || !drawn_are_small) value = (value + (value < 0 ? -scale : scale)) / 2;
      if (is_small)
        value = std::ldexp(
            value,
            parameter<int32_t>(parameters, 20) -
                static_cast<int>((word & 0xff) * (parameter<uint32_t>(parameters, 21) + 1) >> 8));
    }
    if (flips(at)) {
      value = -value;
      whole = -whole;
    }
    switch (code) {
      case ElementCode::f64:
        store(to, at, value);
        break;
      case ElementCode::f32:
        store(to, at, static_cast<float>(value));
        break;
      case ElementCode::f16:
        store(to, at, static_cast<_Float16>(value));
        break;
      case ElementCode::bf16: {
        const auto narrow = static_cast<float>(value);
        uint32_t bits;
        std::memcpy(&bits, &narrow, sizeof bits);
        store(to, at, static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16));
        break;
      }
      case ElementCode::s8:
        store(to, at, static_cast<int8_t>(whole));
        break;
      case ElementCode::s32:
        store(to, at, whole);
        break;
    }
  }
  return 0;
}

uint64_t compare(const abi::LaunchConfig&, void** parameters) {
  using assay::sweep::ElementCode;
  const auto number = [&](int index) { return parameter<double>(parameters, index); };
  const auto element = [&](int operand, int64_t row, int64_t column) {
    return load(parameter<ElementCode>(parameters, operand + 1),
                parameter<const std::byte*>(parameters, operand) +
                    row * parameter<int64_t>(parameters, operand + 2) +
                    column * parameter<int64_t>(parameters, operand + 3));
  };
  auto& tally = *parameter<assay::sweep::Tally*>(parameters, 10);
  const auto rows = parameter<int64_t>(parameters, 11),
             columns = parameter<int64_t>(parameters, 12);
  const bool has_c = parameter<uint64_t>(parameters, 4) != 0;
  for (int64_t i = 0; i < rows * columns; ++i) {
    const double got = element(0, i / columns, i % columns);
    const double term = has_c ? number(14) * element(4, i / columns, i % columns) : 0;
    const double expected = number(13) * parameter<const double*>(parameters, 8)[i] + term;
    bool right = std::isnan(expected) ? std::isnan(got) : got == expected;
    if (std::isfinite(expected)) {
      const double magnitude = parameter<const double*>(parameters, 9)[i];
      const double sums =
          number(16) * (std::fabs(number(13)) * magnitude + std::fabs(term)) + number(18);
      double unit = sums + number(17) * (std::fabs(expected) + sums) +
                    (std::fabs(expected) < number(19) ? number(19) : 0);
      const double error = std::fabs(got - expected);
      if (number(15) > 0) {
        unit = number(15);
      } else {
        right = error <= unit;
        tally.largest_unit = std::max(tally.largest_unit, unit);
        if (number(20) > 0 && magnitude >= number(20)) {
          const double size = std::fabs(number(13)) * magnitude + std::fabs(term);
          tally.squared += 1;
          tally.squared_errors += error * error;
          tally.plain_squares += number(21) * size * size + number(22) * expected * expected;
        }
      }
      const double most = std::numeric_limits<double>::max();
      const double ratio = error / unit <= most ? error / unit : most;
      tally.largest_error = std::max(tally.largest_error, ratio);
      tally.sum_of_errors = std::min(tally.sum_of_errors + ratio, most);
    }
    if (right) continue;
    ++tally.wrong;
    tally.first = std::min(tally.first, static_cast<uint64_t>(i));
  }
  return 0;
}

void store_rounded(assay::sweep::ElementCode code, std::byte* to, double value) {
  const auto single = static_cast<float>(value);
  if (code == assay::sweep::ElementCode::f32) {
    std::memcpy(to, &single, sizeof single);
  } else if (code == assay::sweep::ElementCode::f16) {
    const auto half = static_cast<_Float16>(value);
    std::memcpy(to, &half, sizeof half);
  } else {
    uint32_t bits;
    std::memcpy(&bits, &single, sizeof bits);
    const auto half = static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    std::memcpy(to, &half, sizeof half);
  }
}

// assay_element_wise: sums, out, l, m, n, columns, sums' and out's steps of batches and rows, type,
// steps, gate; and for each of eight steps kind, type, low, high, three strides, operand. The kinds
// are those of gemm::EpilogueStep.
uint64_t element_wise(const abi::LaunchConfig&, void** parameters) {
  const auto at = [&](int index) { return parameter<int64_t>(parameters, index); };
  const auto code = [&](int index) {
    return static_cast<assay::sweep::ElementCode>(parameter<uint32_t>(parameters, index));
  };
  const auto kind = [&](int64_t step) {
    return parameter<int32_t>(parameters, static_cast<int>(13 + 8 * step));
  };
  const int64_t l = at(2), m = at(3), n = at(4), columns = at(5);
  const auto steps = parameter<int32_t>(parameters, 11), gate = parameter<int32_t>(parameters, 12);
  const int64_t bytes = parameter<uint32_t>(parameters, 10) == 1 ? 4 : 2;
  const bool pairs = gate >= 0 && kind(gate) >= 14;
  const auto function = [](int what, double x) {
    if (what == 9 || what == 11 || what == 14) return x / (1 + std::exp(-x));
    if (what == 7 || what == 12 || what == 15) return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    return x / 2 * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  };
  const auto through = [&](double x, int64_t first, int64_t last, int64_t b, int64_t i, int64_t j) {
    for (int64_t s = first; s < last; ++s) {
      const int p = static_cast<int>(13 + 8 * s);
      double operand = 0;
      if (kind(s) <= 5) {
        const int64_t size = parameter<uint32_t>(parameters, p + 1) == 1 ? 4 : 2;
        operand = load(code(p + 1), parameter<const std::byte*>(parameters, p + 7) +
                                        (b * at(p + 4) + i * at(p + 5) + j * at(p + 6)) * size);
      }
      const double low = parameter<float>(parameters, p + 2);
      const double high = parameter<float>(parameters, p + 3);
      x = kind(s) <= 2    ? x + operand
          : kind(s) <= 5  ? x * operand
          : kind(s) == 6  ? std::max(x, 0.0)
          : kind(s) == 10 ? std::min(std::max(x, low), high)
                          : function(kind(s), x);
    }
    return x;
  };
  for (int64_t b = 0; b < l; ++b) {
    for (int64_t i = 0; i < m; ++i) {
      // Sums may be where out is: a row is read before it is written.
      std::vector<double> made;
      for (int64_t j = 0; j < columns; ++j) {
        const auto* row =
            parameter<const std::byte*>(parameters, 0) + (b * at(6) + i * at(7)) * bytes;
        const int64_t first = pairs ? 2 * j : j, second = pairs ? 2 * j + 1 : n / 2 + j;
        const int64_t ahead = gate < 0 ? steps : gate;
        double x = through(load(code(10), row + first * bytes), 0, ahead, b, i, first);
        if (gate >= 0) {
          const double up = through(load(code(10), row + second * bytes), 0, ahead, b, i, second);
          x = through(function(kind(gate), x) * up, gate + 1, steps, b, i, j);
        }
        made.push_back(x);
      }
      auto* to = parameter<std::byte*>(parameters, 1) + (b * at(8) + i * at(9)) * bytes;
      for (int64_t j = 0; j < columns; ++j) store_rounded(code(10), to + j * bytes, made[j]);
    }
  }
  return 0;
}

// assay_peak_*(uint32_t steps, uint64_t nowhere)
uint64_t peak(const abi::LaunchConfig&, void** parameters) {
  return uint64_t{100} * parameter<uint32_t>(parameters, 0);
}

// assay_read and assay_copy(to, from, bytes): two bytes a nanosecond.
uint64_t move(const abi::LaunchConfig&, void** parameters) {
  return parameter<uint64_t>(parameters, 2) / 2;
}

}  // namespace

const HostKernel* find_kernel(const std::string& name) {
  const std::vector<size_t> kWiden = {8, 8, 8, 8, 8, 8, 8, 8, 4};
  const std::vector<size_t> kMultiply(7, 8);
  const std::vector<size_t> kRenew = {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,
                                      8, 8, 8, 8, 4, 4, 4, 4, 4, 4, 4, 4};
  const std::vector<size_t> kCompare = {8, 4, 8, 8, 8, 4, 8, 8, 8, 8, 8, 8,
                                        8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8};
  std::vector<size_t> element_wise_bytes = {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 4, 4, 4};
  for (int step = 0; step < 8; ++step)
    for (const size_t bytes : {4, 4, 4, 4, 8, 8, 8, 8}) element_wise_bytes.push_back(bytes);
  static const std::vector<HostKernel> all = {
      {"fill_words", {8, 4, 8}, fill_words},
      {"add_words", {8, 8, 8, 8}, add_words},
      {"write_geometry", {8}, write_geometry},
      {"gemm", {8, 8, 8, 8, 8, 8}, gemm},
      {"add_norm", {8, 8, 8, 8, 8, 8}, add_norm},
      {"triton_gemm", {8, 8, 8, 4, 4, 4, 8, 8}, triton_gemm},
      {"gemm_no_wait", {8, 8, 8, 8, 8, 8}, gemm},
      {"gemm_spoils_b", {8, 8, 8, 8, 8, 8}, spoil},
      {"gemm_wrong", {8, 8, 8, 8, 8, 8}, wrong},
      {"gemm_wrong_later", {8, 8, 8, 8, 8, 8}, wrong_later},
      {"gemm_faults", {8, 8, 8, 8, 8, 8}, fault},
      {"assay_produce", {8, 8, 8, 8, 4, 8}, produce},
      {"assay_consume", {8, 8, 8}, consume},
      {"assay_digest", {8, 8, 8, 8}, digest},
      {"assay_zones", {8, 8, 8, 8, 4}, zones},
      {"assay_probe", {8, 8, 8, 4, 8}, probe},
      {"assay_read", {8, 8, 8}, move},
      {"assay_copy", {8, 8, 8}, move},
      {"assay_widen", kWiden, widen},
      {"assay_multiply", kMultiply, multiply},
      {"assay_renew", kRenew, renew},
      {"assay_compare", kCompare, compare},
      {"assay_element_wise", element_wise_bytes, element_wise},
      {"assay_peak_f16", {4, 8}, peak},
      {"assay_peak_bf16", {4, 8}, peak},
      {"assay_peak_f32", {4, 8}, peak},
      {"assay_peak_f64", {4, 8}, peak}};
  const auto found = std::ranges::find(all, name, &HostKernel::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace fake_cuda
