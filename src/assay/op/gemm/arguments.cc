#include <algorithm>
#include <cstdint>

#include "assay/base/checked.h"
#include "assay/base/text.h"
#include "assay/op/gemm/description.h"
#include "assay/op/gemm/epilogue.h"

namespace assay::gemm {
namespace {

// A tensor as (L, rows, columns), whatever its rank.
struct Tensor {
  std::array<int64_t, 3> size;
  Strides stride;
};

std::string sizes_text(const Tensor& tensor) {
  return fmt::format("({}, {}, {})", tensor.size[0], tensor.size[1], tensor.size[2]);
}

// A dimension of one element has no stride worth the name: libraries put anything there. It gets
// that of the dense tensor whose other strides these are, so that equal data is an equal problem.
void settle_unit_strides(Tensor& tensor) {
  const auto [l, rows, columns] = tensor.size;
  auto& [batch, row, column] = tensor.stride;
  if (rows == 1 && columns == 1) row = column = 1;
  if (rows > 1 && columns == 1) column = 1;
  if (rows == 1 && columns > 1) row = column == 1 ? columns : 1;
  if (l > 1) return;
  // On overflow 0 stays, which is refused as every stride below 1 is.
  const auto by_rows = checked_mul(rows, row), by_columns = checked_mul(columns, column);
  if (column == 1)
    batch = by_rows.value_or(0);
  else if (row == 1)
    batch = by_columns.value_or(0);
  else
    batch = std::max(by_rows.value_or(0), by_columns.value_or(0));
}

Result<Tensor> read(std::string_view role, std::string_view sizes, const TensorView& view) {
  if (view.rank != 3 && view.rank != 2) {
    return fail(ErrorCode::invalid_input,
                "{}: rank {}: gemm takes rank 3 ({}), or rank 2 for L = 1", role, view.rank, sizes);
  }
  Tensor tensor{{1, 0, 0}, {0, 0, 0}};
  const int skip = 3 - view.rank;
  for (int i = 0; i < view.rank; ++i) {
    tensor.size[i + skip] = view.size[i];
    tensor.stride[i + skip] = view.stride[i];
  }
  for (int i = 0; i < 3; ++i) {
    if (tensor.size[i] < 1 || tensor.size[i] > kMaxSize) {
      return fail(ErrorCode::invalid_input, "{}: size {} of ({}) is not 1 .. {}", role,
                  tensor.size[i], sizes, kMaxSize);
    }
  }
  settle_unit_strides(tensor);
  return tensor;
}

Status agree(std::string_view dimension, std::string_view first, int64_t x, std::string_view second,
             int64_t y) {
  if (x == y) return {};
  return fail(ErrorCode::invalid_input, "{}: {} has {} = {} but {} has {}", second, first,
              dimension, x, second, y);
}

// The largest power of two, up to the default, that divides the address.
int64_t alignment_of(const TensorView& view) {
  const auto address = reinterpret_cast<uintptr_t>(view.data);
  int64_t alignment = kDefaultAlignment;
  while (address % static_cast<uintptr_t>(alignment) != 0) alignment /= 2;
  return alignment;
}

// residual is a matrix of its own; the others hold their elements one behind the other.
Status read_epilogue(const Arguments& arguments, const Epilogue& epilogue, Shape& shape,
                     Description& description) {
  bool gated = false;
  for (const EpilogueStep& step : epilogue.steps()) {
    gated = gated || step.is_gate();
    if (!step.has_operand()) continue;
    const auto found = arguments.epilogue_operands.find(step.name());
    if (found == arguments.epilogue_operands.end())
      return fail(ErrorCode::invalid_input, "{0}: the epilogue {1} needs an operand {0}",
                  step.name(), epilogue.text());
    const TensorView& given = found->second;
    shape.epilogue_dtypes.emplace(step.name(), given.dtype);
    description.epilogue_alignments.emplace(step.name(), alignment_of(given));
    const int64_t columns = gated ? epilogue.columns_of_out(shape.n) : shape.n;
    if (step.kind == EpilogueStep::Kind::residual) {
      ASSAY_TRY(const Tensor residual, read(step.name(), "L, M, N", given));
      ASSAY_TRY(agree("l", "out", shape.batch, step.name(), residual.size[0]));
      ASSAY_TRY(agree("m", "out", shape.m, step.name(), residual.size[1]));
      ASSAY_TRY(agree("n", "out", columns, step.name(), residual.size[2]));
      description.residual = residual.stride;
      continue;
    }
    const bool of_rows =
        step.kind == EpilogueStep::Kind::row_bias || step.kind == EpilogueStep::Kind::row_scale;
    const int64_t wanted = step.kind == EpilogueStep::Kind::scale ? 1 : of_rows ? shape.m : columns;
    if (given.rank != 1 || given.size[0] != wanted || (given.stride[0] != 1 && wanted > 1))
      return fail(ErrorCode::invalid_input,
                  "{}: it must have rank 1 and {} elements one behind the other", step.name(),
                  wanted);
  }
  for (const auto& [name, view] : arguments.epilogue_operands)
    if (std::ranges::none_of(epilogue.steps(),
                             [&](const EpilogueStep& step) { return step.name() == name; }))
      return fail(ErrorCode::invalid_input, "{}: the epilogue has no step of that name",
                  sanitize(name, 60));
  return {};
}

}  // namespace

Result<Problem> problem(const Arguments& arguments) {
  ASSAY_TRY(const Tensor a, read("a", "L, M, K", arguments.a));
  ASSAY_TRY(const Tensor b, read("b", "L, K, N", arguments.b));
  ASSAY_TRY(const Tensor out, read("out", "L, M, N", arguments.out));
  ASSAY_TRY(agree("k", "a", a.size[2], "b", b.size[1]));
  ASSAY_TRY(agree("l", "a", a.size[0], "b", b.size[0]));
  ASSAY_TRY(agree("l", "a", a.size[0], "out", out.size[0]));
  ASSAY_TRY(agree("m", "a", a.size[1], "out", out.size[1]));
  auto parsed = Epilogue::parse(arguments.epilogue);
  if (!parsed) return fail(with_context(parsed.error(), "epilogue"));
  const Epilogue& epilogue = *parsed;
  if (epilogue.gate() == nullptr) {
    ASSAY_TRY(agree("n", "b", b.size[2], "out", out.size[2]));
  } else {
    ASSAY_TRY(agree("n / 2", "b", b.size[2] / 2, "out", out.size[2]));
  }

  Description description;
  Shape& shape = description.shape;
  shape.batch = a.size[0];
  shape.m = a.size[1];
  shape.k = a.size[2];
  shape.n = b.size[2];
  shape.a = arguments.a.dtype;
  shape.b = arguments.b.dtype;
  shape.out = arguments.out.dtype;
  shape.dtype = arguments.a.dtype;
  shape.accumulate = arguments.accumulate;
  shape.alpha = arguments.alpha;
  shape.beta = arguments.beta;
  shape.epilogue = arguments.epilogue;
  shape.constant = arguments.constant;
  description.a = a.stride;
  description.b = b.stride;
  description.out = out.stride;
  description.a_alignment = alignment_of(arguments.a);
  description.b_alignment = alignment_of(arguments.b);
  description.out_alignment = alignment_of(arguments.out);
  if (arguments.beta != 0) {
    if (!arguments.c) {
      return fail(ErrorCode::invalid_input, "c: beta is {}, so there must be a c (L, M, N)",
                  arguments.beta);
    }
    ASSAY_TRY(const Tensor c, read("c", "L, M, N", *arguments.c));
    if (c.size != out.size) {
      return fail(ErrorCode::invalid_input, "c: sizes {} differ from those of out, {}",
                  sizes_text(c), sizes_text(out));
    }
    if (arguments.c->dtype != arguments.out.dtype) {
      return fail(ErrorCode::invalid_input, "c: dtype {} differs from that of out, {}",
                  to_string(arguments.c->dtype), to_string(arguments.out.dtype));
    }
    description.c = c.stride;
    description.c_alignment = alignment_of(*arguments.c);
  }
  ASSAY_TRY(read_epilogue(arguments, epilogue, shape, description));
  return build(description);
}

}  // namespace assay::gemm
