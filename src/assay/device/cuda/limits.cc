#include "assay/device/cuda/limits.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay::cuda {
namespace {

// A clock and multiprocessor, dense.
struct Rates {
  int capability;  // Ten times.
  double f64, f32, sixteen_bits, eight_bits;
};

// A data sheet's operations a second, by its multiprocessors and its boost clock. f32 is TF32 where
// the tensor cores have that.
constexpr Rates kRates[] = {
    // V100 SXM2: 80 at 1.53 GHz; 7.8 TFLOP/s of f64, 15.7 of f32, 125 of f16, 62.8 of 8 bits.
    {70, 64, 128, 1024, 512},
    // T4: 40 at 1.59 GHz; 8.1 TFLOP/s of f32, 65 of f16, 130 of 8 bits; f64 a 32nd of f32.
    {75, 4, 128, 1024, 2048},
    // A100 SXM: 108 at 1.41 GHz; 19.5 TFLOP/s of f64, 156 of TF32, 312 of f16, 624 of 8 bits.
    {80, 128, 1024, 2048, 4096},
    // RTX A6000: 84 at 1.80 GHz; 77.4 TFLOP/s of TF32, 154.8 of f16, 309.7 of 8 bits; f64 a 64th of
    // f32's 38.7.
    {86, 4, 512, 1024, 2048},
    // Jetson AGX Orin: 16 at 1.3 GHz; 85 TOP/s of 8 bits (170 sparse), f16 half of it.
    {87, 4, 1024, 2048, 4096},
    // L40S: 142 at 2.52 GHz; 183 TFLOP/s of TF32, 362 of f16, 733 of 8 bits; f64 a 64th of f32's
    // 91.6.
    {89, 4, 512, 1024, 2048},
    // H100 SXM: 132 at 1.83 GHz; 67 TFLOP/s of f64, 494.7 of TF32, 989.4 of f16, 1979 of 8 bits.
    {90, 256, 2048, 4096, 8192},
    // B200: 148 at 1.85 GHz; 37 TFLOP/s of f64, 1100 of TF32, 2250 of f16, 4500 of 8 bits.
    {100, 128, 4096, 8192, 16384},
    // RTX PRO 6000 Blackwell: 188 at 2.6 GHz; 4000 TOP/s of sparse 4 bits, of which dense f16 is an
    // eighth; f64 a 64th of f32's 125.
    {120, 4, 512, 1024, 2048},
};

int tenths(double capability) { return static_cast<int>(std::lround(capability * 10)); }

double rate_of(const Rates& rates, DType dtype) {
  const int bits = info(dtype).bits;
  if (bits > 32) return rates.f64;
  if (bits > 16) return rates.f32;
  return bits > 8 ? rates.sixteen_bits : rates.eight_bits;
}

}  // namespace

int64_t most_shared_bytes(double capability) {
  constexpr std::pair<int, int64_t> kKiB[] = {{70, 96}, {75, 64},  {80, 163},  {86, 99}, {87, 163},
                                              {89, 99}, {90, 227}, {100, 227}, {120, 99}};
  int64_t kib = 48;  // Of all before.
  for (const auto& [from, room] : kKiB)
    if (tenths(capability) >= from) kib = room;
  return kib * 1024;
}

double tensor_operations(double capability, DType dtype) {
  const Rates* known = &kRates[0];
  for (const Rates& rates : kRates)
    if (tenths(capability) >= rates.capability) known = &rates;
  return rate_of(*known, dtype);
}

double most_tensor_operations(double capability, DType dtype) {
  constexpr double kGenerous = 2, kNewer = 2, kOfFewerBits = 0.25;
  if (info(dtype).bits > 32) return kOfFewerBits * most_tensor_operations(capability, DType::f16);
  const int major = tenths(capability) / 10;
  double most = 0;
  for (const Rates& rates : kRates)
    if (&rates == &kRates[0] || rates.capability / 10 <= major)
      most = std::max(most, rate_of(rates, dtype));
  const bool is_newer = major > std::end(kRates)[-1].capability / 10;
  return kGenerous * (is_newer ? kNewer : 1) * most;
}

}  // namespace assay::cuda
