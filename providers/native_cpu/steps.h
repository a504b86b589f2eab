#pragma once

// The steps of an epilogue on a line of sums in f32, while it is in the nearest cache. Include it
// where the mode's instructions are enabled: loops of kPiece elements become its vectors.

#include "assay/base/float_functions.h"
#include "gemm_call.h"
#include "scalar.h"

namespace assay::native_cpu {

template <class Mode>
struct Steps {
  static constexpr int kPiece = 16;

  template <class Function>
  [[gnu::always_inline]] static inline void each(float* line, Function function) {
    for (int j = 0; j < kPiece; ++j) line[j] = function(line[j]);
  }

  // Elements of an operand from (row, column) on, as many as there are; ones behind them.
  static void read(const EpilogueStep& step, int64_t batch, int64_t row, int64_t column,
                   int64_t count, float* to) {
    const int64_t first =
        batch * step.batch_stride + row * step.row_stride + column * step.column_stride;
    const bool dense = step.column_stride == 1 && count == kPiece;
    if (dense && step.element == Element::f32) {
      const float* from = static_cast<const float*>(step.data) + first;
      for (int j = 0; j < kPiece; ++j) to[j] = from[j];
    } else if (dense && step.element == Element::bf16) {
      const uint16_t* from = static_cast<const uint16_t*>(step.data) + first;
      for (int j = 0; j < kPiece; ++j) to[j] = float_of(from[j]);
    } else if (step.column_stride == 0) {
      const float value = read_element<float>(step.element, step.data, first);
      for (int j = 0; j < kPiece; ++j) to[j] = value;
    } else {
      for (int j = 0; j < kPiece; ++j)
        to[j] = j < count
                    ? read_element<float>(step.element, step.data, first + j * step.column_stride)
                    : 1.0f;
    }
  }

  // line: `columns` elements of a row of out from `column` on, and room for whole pieces.
  static void run(const GemmCall& call, int64_t batch, int64_t row, int64_t column, int64_t columns,
                  float* line) {
    alignas(64) float operand[kPiece];
    for (int64_t first = 0; first < columns; first += kPiece) {
      float* const piece = line + first;
      const int64_t count = std::min<int64_t>(kPiece, columns - first);
      for (int64_t s = 0; s < call.step_count; ++s) {
        const EpilogueStep& step = call.steps[s];
        switch (step.kind) {
          case StepKind::add:
            read(step, batch, row, column + first, count, operand);
            for (int j = 0; j < kPiece; ++j) piece[j] += operand[j];
            break;
          case StepKind::multiply:
            read(step, batch, row, column + first, count, operand);
            for (int j = 0; j < kPiece; ++j) piece[j] *= operand[j];
            break;
          case StepKind::clamp: {
            const float low = step.low, high = step.high;
            each(
                piece, [=](float x) __attribute__((always_inline)) {
                  return x < low ? low : x > high ? high : x;
                });
            break;
          }
          case StepKind::relu:
            each(
                piece, [](float x) __attribute__((always_inline)) { return x < 0 ? 0.0f : x; });
            break;
          case StepKind::gelu:
            each(
                piece, [](float x) __attribute__((always_inline)) { return fast_gelu(x); });
            break;
          case StepKind::gelu_tanh:
            each(
                piece, [](float x) __attribute__((always_inline)) { return fast_gelu_tanh(x); });
            break;
          case StepKind::silu:
            each(
                piece, [](float x) __attribute__((always_inline)) { return fast_silu(x); });
            break;
        }
      }
    }
  }
};

}  // namespace assay::native_cpu
