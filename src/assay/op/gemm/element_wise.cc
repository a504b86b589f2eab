#include "assay/op/gemm/element_wise.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "assay/base/float_functions.h"
#include "assay/base/vector_unit.h"
#include "assay/op/gemm/description.h"

namespace assay::gemm {
namespace {

using Kind = EpilogueStep::Kind;
constexpr int64_t kPiece = 256;  // Elements of a line at a time: they stay in the first cache.

// One step of a piece of a line: x, and what it is added to or multiplied by.
struct Piece {
  float* x;
  const float* operand;
  int64_t count;
};

[[gnu::always_inline]] inline void do_step(const EpilogueStep& step, const Piece& piece) {
  float* const x = piece.x;
  const float* const operand = piece.operand;
  const int64_t count = piece.count;
  const auto low = static_cast<float>(step.low), high = static_cast<float>(step.high);
  switch (step.kind) {
    case Kind::bias:
    case Kind::row_bias:
    case Kind::residual:
      for (int64_t j = 0; j < count; ++j) x[j] += operand[j];
      return;
    case Kind::scale:
    case Kind::column_scale:
    case Kind::row_scale:
      for (int64_t j = 0; j < count; ++j) x[j] *= operand[j];
      return;
    case Kind::relu:
      for (int64_t j = 0; j < count; ++j) x[j] = x[j] < 0 ? 0.0f : x[j];
      return;
    case Kind::clamp:
      for (int64_t j = 0; j < count; ++j) x[j] = x[j] < low ? low : x[j] > high ? high : x[j];
      return;
    case Kind::gelu:
      for (int64_t j = 0; j < count; ++j) x[j] = fast_gelu(x[j]);
      return;
    case Kind::gelu_tanh:
      for (int64_t j = 0; j < count; ++j) x[j] = fast_gelu_tanh(x[j]);
      return;
    case Kind::silu:
      for (int64_t j = 0; j < count; ++j) x[j] = fast_silu(x[j]);
      return;
    case Kind::swiglu:
    case Kind::swiglu_interleaved:
      for (int64_t j = 0; j < count; ++j) x[j] = fast_silu(x[j]) * operand[j];
      return;
    case Kind::geglu:
    case Kind::geglu_interleaved:
      for (int64_t j = 0; j < count; ++j) x[j] = fast_gelu(x[j]) * operand[j];
      return;
    case Kind::geglu_tanh:
    case Kind::geglu_tanh_interleaved:
      for (int64_t j = 0; j < count; ++j) x[j] = fast_gelu_tanh(x[j]) * operand[j];
      return;
  }
}

void step_baseline(const EpilogueStep& step, const Piece& piece) { do_step(step, piece); }
#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void step_avx2(const EpilogueStep& step, const Piece& piece) {
  do_step(step, piece);
}
[[gnu::target("avx512f,prefer-vector-width=512")]] void step_avx512(const EpilogueStep& step,
                                                                    const Piece& piece) {
  do_step(step, piece);
}
#endif

using StepFunction = void (*)(const EpilogueStep&, const Piece&);
StepFunction choose_step() {
#if defined(__x86_64__)
  switch (resolve(VectorUnit::best)) {
    case VectorUnit::avx512:
      return step_avx512;
    case VectorUnit::avx2:
      return step_avx2;
    default:
      break;
  }
#endif
  return step_baseline;
}

float load(DType dtype, const std::byte* at) {
  if (dtype == DType::f32) return *reinterpret_cast<const float*>(at);
  return static_cast<float>(load_as_double(dtype, at));
}

// Elements (row, column), (row, column + 1) ... of a batch, or with `stride` every stride-th.
void load_line(const Matrix& matrix, int64_t batch, int64_t row, int64_t column, int64_t stride,
               int64_t count, float* to) {
  const std::byte* from = matrix.at(batch, row, column);
  const int64_t step = matrix.column_stride * stride * size_bytes(matrix.dtype);
  if (step == 0) {
    std::fill_n(to, count, load(matrix.dtype, from));
  } else if (matrix.dtype == DType::f32 && step == 4) {
    std::copy_n(reinterpret_cast<const float*>(from), count, to);
  } else if (matrix.dtype == DType::bf16) {
    for (int64_t j = 0; j < count; ++j) {
      uint16_t half;
      std::memcpy(&half, from + j * step, sizeof(half));
      const uint32_t bits = static_cast<uint32_t>(half) << 16;
      std::memcpy(to + j, &bits, sizeof(bits));
    }
  } else {
    for (int64_t j = 0; j < count; ++j) to[j] = load(matrix.dtype, from + j * step);
  }
}

void store_line(const Matrix& matrix, int64_t batch, int64_t row, int64_t column, int64_t count,
                const float* from) {
  std::byte* to = matrix.at(batch, row, column);
  const int64_t step = matrix.column_stride * size_bytes(matrix.dtype);
  if (matrix.dtype == DType::f32 && step == 4) {
    std::copy_n(from, count, reinterpret_cast<float*>(to));
  } else if (matrix.dtype == DType::bf16) {
    for (int64_t j = 0; j < count; ++j) {
      uint32_t bits;
      std::memcpy(&bits, from + j, sizeof(bits));
      const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
      const uint32_t rounded = is_nan ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
      const auto half = static_cast<uint16_t>(rounded >> 16);
      std::memcpy(to + j * step, &half, sizeof(half));
    }
  } else {
    for (int64_t j = 0; j < count; ++j)
      store_from_double(matrix.dtype, static_cast<double>(from[j]), to + j * step);
  }
}

}  // namespace

Result<ElementWise> ElementWise::of(const Problem& problem) {
  ASSAY_TRY(const View view, gemm::view(problem));
  ASSAY_TRY(Epilogue epilogue, epilogue_of(problem));
  if (view.out != DType::f32 && view.out != DType::bf16 && view.out != DType::f16)
    return fail(ErrorCode::unsupported, "the element-wise epilogue is made for f32, bf16 and f16");
  return ElementWise(problem, view, std::move(epilogue));
}

ElementWise::ElementWise(const Problem& problem, const View& view, Epilogue epilogue)
    : view_(view), epilogue_(std::move(epilogue)), out_place_(gemm::places_of(problem).out) {
  std::vector<size_t> found;
  const EpilogueOperands operands =
      epilogue_operands(problem, view_, epilogue_, [&](size_t operand) -> std::byte* {
        found.push_back(operand);
        return nullptr;
      });
  size_t next = 0;
  for (size_t i = 0; i < operands.by_step.size(); ++i) {
    operands_[i] = operands.by_step[i];
    if (epilogue_.steps()[i].has_operand()) places_[i] = found[next++];
  }
}

size_t ElementWise::sums_bytes() const {
  return has_sums_apart() ? static_cast<size_t>(view_.l * view_.m * view_.n) *
                                static_cast<size_t>(size_bytes(view_.out))
                          : 0;
}

void ElementWise::run(void* const* data, const void* sums) const {
  static const StepFunction do_one = choose_step();
  const auto steps = epilogue_.steps();
  std::array<Matrix, Epilogue::kMostSteps> operands = operands_;
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps[i].has_operand()) operands[i].data = static_cast<std::byte*>(data[places_[i]]);
  Matrix out = matrix_out(view_);
  out.data = static_cast<std::byte*>(data[out_place_]);
  Matrix from = out;
  if (has_sums_apart())
    from = {static_cast<std::byte*>(const_cast<void*>(sums)),
            view_.out,
            view_.l,
            view_.m,
            view_.n,
            view_.m * view_.n,
            view_.n,
            1};
  // Along the shorter stride of out, unless pairs of columns are read.
  const EpilogueStep* const gate = epilogue_.gate();
  if (gate == nullptr && out.row_stride < out.column_stride) {
    out = out.transposed();
    from = from.transposed();
    for (Matrix& operand : operands) operand = operand.transposed();
  }
  alignas(64) std::array<float, kPiece> x, up, operand;
  const size_t ahead = gate == nullptr ? steps.size() : static_cast<size_t>(gate - steps.data());
  const int64_t stride = gate != nullptr && gate->is_interleaved() ? 2 : 1;
  for (int64_t l = 0; l < out.batches; ++l) {
    for (int64_t i = 0; i < out.rows; ++i) {
      for (int64_t j = 0; j < out.columns; j += kPiece) {
        const int64_t count = std::min(kPiece, out.columns - j);
        const auto through = [&](float* to, size_t first, size_t last, int64_t column,
                                 int64_t step_of_columns) {
          for (size_t s = first; s < last; ++s) {
            if (steps[s].has_operand())
              load_line(operands[s], l, i, column, step_of_columns, count, operand.data());
            do_one(steps[s], {to, operand.data(), count});
          }
        };
        const auto columns = epilogue_.columns(j, view_.n);
        load_line(from, l, i, columns[0], stride, count, x.data());
        through(x.data(), 0, ahead, columns[0], stride);
        if (gate != nullptr) {
          load_line(from, l, i, columns[1], stride, count, up.data());
          through(up.data(), 0, ahead, columns[1], stride);
          do_one(*gate, {x.data(), up.data(), count});
          through(x.data(), ahead + 1, steps.size(), j, 1);
        }
        store_line(out, l, i, j, count, x.data());
      }
    }
  }
}

Result<Problem> without_epilogue(const Problem& problem) {
  Json fields = problem.to_json();
  const bool gated = view(problem) && view(problem)->out_columns != view(problem)->n;
  for (const char* name : {"epilogue", "ldout"})
    if (name == std::string_view("epilogue") || gated) fields.erase(name);
  for (const std::string_view role : Epilogue::operand_names()) {
    fields.erase(std::string(role));
    for (const char* by_operand : {"strides", "alignment"})
      if (fields.contains(by_operand)) fields[by_operand].erase(std::string(role));
    if (fields.contains("constant")) {
      Json kept = Json::array();
      for (const Json& name : fields["constant"])
        if (name != role) kept.push_back(name);
      fields["constant"] = std::move(kept);
    }
  }
  if (gated) {
    if (fields.contains("strides")) fields["strides"].erase("out");
    fields["layout"] = problem.layout().substr(0, 2);
  }
  return problem_from_json(fields);
}

}  // namespace assay::gemm
