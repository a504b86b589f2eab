#pragma once

// Two passes over a row: its sum of squares in four vectors of f32, and what is written. The second
// finds the row in a cache. With a residual the first one writes x + residual there, and both take
// the sum as it is stored. Included where an instruction set is switched on; Lanes has its
// vectors.

#include <cstring>

#include "norm_call.h"

namespace assay::native_cpu {
namespace {

template <class Lanes, class X, class W>
struct Norm {
  using V = typename Lanes::V;
  static constexpr int64_t kLanes = Lanes::kLanes;

  // What lies behind a row is neither read nor written.
  template <class T>
  static V load_tail(const T* from, int64_t count) {
    T whole[kLanes] = {};
    std::memcpy(whole, from, sizeof(T) * static_cast<size_t>(count));
    return Lanes::load(whole);
  }

  static float sum_of_squares(const X* x, int64_t n) {
    V sums[4] = {Lanes::splat(0), Lanes::splat(0), Lanes::splat(0), Lanes::splat(0)};
    int64_t j = 0;
    for (; j + 4 * kLanes <= n; j += 4 * kLanes) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const V v = Lanes::load(x + j + i * kLanes);
        sums[i] = Lanes::fma(v, v, sums[i]);
      }
    }
    for (; j < n; j += kLanes) {
      const V v = n - j >= kLanes ? Lanes::load(x + j) : load_tail(x + j, n - j);
      sums[0] = Lanes::fma(v, v, sums[0]);
    }
    return Lanes::sum(Lanes::add(Lanes::add(sums[0], sums[1]), Lanes::add(sums[2], sums[3])));
  }

  // The sum of x and r, as r holds it from now on.
  static V add(const X* x, X* r) {
    Lanes::store(r, Lanes::add(Lanes::load(x), Lanes::load(r)));
    return Lanes::load(r);
  }
  static V add_tail(const X* x, X* r, int64_t count) {
    X whole[kLanes];
    Lanes::store(whole, Lanes::add(load_tail(x, count), load_tail(r, count)));
    std::memcpy(r, whole, sizeof(X) * static_cast<size_t>(count));
    return load_tail(r, count);
  }

  static float add_and_sum_squares(const X* x, X* r, int64_t n) {
    V sums[4] = {Lanes::splat(0), Lanes::splat(0), Lanes::splat(0), Lanes::splat(0)};
    int64_t j = 0;
    for (; j + 4 * kLanes <= n; j += 4 * kLanes) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const V v = add(x + j + i * kLanes, r + j + i * kLanes);
        sums[i] = Lanes::fma(v, v, sums[i]);
      }
    }
    for (; j < n; j += kLanes) {
      const V v = n - j >= kLanes ? add(x + j, r + j) : add_tail(x + j, r + j, n - j);
      sums[0] = Lanes::fma(v, v, sums[0]);
    }
    return Lanes::sum(Lanes::add(Lanes::add(sums[0], sums[1]), Lanes::add(sums[2], sums[3])));
  }

  static void rows(const NormCall& call, int64_t first, int64_t count) {
    const auto* w = static_cast<const W*>(call.w);
    for (int64_t i = first; i < first + count; ++i) {
      const X* x = static_cast<const X*>(call.x) + i * call.x_row;
      X* out = static_cast<X*>(call.out) + i * call.out_row;
      X* residual = static_cast<X*>(call.residual);
      if (residual != nullptr) residual += i * call.residual_row;
      const float sum = residual == nullptr ? sum_of_squares(x, call.n)
                                            : add_and_sum_squares(x, residual, call.n);
      if (residual != nullptr) x = residual;
      const float mean = sum / static_cast<float>(call.n);
      const V root = Lanes::splat(1 / __builtin_sqrtf(mean + call.epsilon));
      int64_t j = 0;
      for (; j + kLanes <= call.n; j += kLanes)
        Lanes::store(out + j, Lanes::multiply(Lanes::multiply(Lanes::load(x + j), root),
                                              Lanes::load(w + j)));
      if (const int64_t rest = call.n - j; rest > 0) {
        X whole[kLanes];
        Lanes::store(whole, Lanes::multiply(Lanes::multiply(load_tail(x + j, rest), root),
                                            load_tail(w + j, rest)));
        std::memcpy(out + j, whole, sizeof(X) * static_cast<size_t>(rest));
      }
    }
  }
};

template <class Lanes>
NormRows* find_norm(Element x, Element w) {
  using Bf16 = typename Lanes::Bf16;
  using F16 = typename Lanes::F16;
  const bool wide = w == Element::f32;
  if (!wide && w != x) return nullptr;
  if (x == Element::f32) return &Norm<Lanes, float, float>::rows;
  if (x == Element::bf16)
    return wide ? &Norm<Lanes, Bf16, float>::rows : &Norm<Lanes, Bf16, Bf16>::rows;
  if (x == Element::f16)
    return wide ? &Norm<Lanes, F16, float>::rows : &Norm<Lanes, F16, F16>::rows;
  return nullptr;
}

}  // namespace
}  // namespace assay::native_cpu
