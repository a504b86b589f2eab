#include "assay/op/gemm/telling_problems.h"

#include <fmt/format.h>

#include "assay/op/gemm/epilogue.h"
#include "assay/op/gemm/gemm.h"

namespace assay::gemm {
namespace {

struct Types {
  DType in, out;
};
constexpr Types kTypes[] = {{DType::f32, DType::f32},  {DType::f64, DType::f64},
                            {DType::bf16, DType::f32}, {DType::bf16, DType::bf16},
                            {DType::f16, DType::f32},  {DType::s8, DType::s32}};

class List {
 public:
  void add(const std::string& name, Shape shape) {
    const auto epilogue = Epilogue::parse(shape.epilogue);
    for (const Types types : kTypes) {
      const bool integer = !info(types.out).floating;
      if (integer && epilogue && !epilogue->keeps_integers()) continue;
      shape.name = fmt::format("{}_{}_{}", name, to_string(types.in), to_string(types.out));
      shape.a = shape.b = types.in;
      shape.out = types.out;
      auto made = problem(shape);
      if (!made && failed_.message.empty())
        failed_ = with_context(std::move(made).error(), shape.name);
      if (made) problems_.push_back(std::move(*made));
    }
  }
  Result<std::vector<Problem>> take() {
    if (!failed_.message.empty()) return fail(std::move(failed_));
    return std::move(problems_);
  }

 private:
  std::vector<Problem> problems_;
  Error failed_;
};

}  // namespace

Result<std::vector<Problem>> telling_problems() {
  List list;
  for (const char* layout : {"tt", "tn", "nt", "nn", "ttn", "tnn", "ntn", "nnn"})
    list.add(fmt::format("odd_{}", layout), {.m = 37, .n = 53, .k = 29, .layout = layout});
  list.add("weights_tt", {.m = 19, .n = 70, .k = 65, .layout = "tt", .constant = {"b"}});
  list.add("weights_tn", {.m = 5, .n = 33, .k = 130, .layout = "tn", .constant = {"b"}});
  list.add("weights_row_tn", {.m = 1, .n = 95, .k = 257, .layout = "tn", .constant = {"b"}});
  list.add("weights_batch",
           {.m = 7, .n = 21, .k = 40, .batch = 3, .layout = "tt", .constant = {"b"}});
  for (const char* layout : {"tt", "tn", "nt", "nnn"}) {
    list.add(fmt::format("row_{}", layout), {.m = 1, .n = 131, .k = 67, .layout = layout});
    list.add(fmt::format("column_{}", layout), {.m = 77, .n = 1, .k = 91, .layout = layout});
  }
  list.add("rows_tt", {.m = 3, .n = 90, .k = 45, .layout = "tt"});
  list.add("rows_gaps", {.m = 4,
                         .n = 30,
                         .k = 25,
                         .batch = 2,
                         .layout = "tnn",
                         .alpha = 2,
                         .beta = 1,
                         .lda = 33,
                         .ldb = 40,
                         .ldout = 7});
  list.add("columns_nn", {.m = 60, .n = 3, .k = 50, .layout = "nn"});
  list.add("element", {.m = 1, .n = 1, .k = 1, .layout = "tt"});
  list.add("dot", {.m = 1, .n = 1, .k = 300, .layout = "tn"});
  list.add("outer", {.m = 33, .n = 17, .k = 1, .layout = "tt"});
  list.add("blocks", {.m = 128, .n = 192, .k = 320, .layout = "tt"});
  list.add("long_k", {.m = 6, .n = 10, .k = 3001, .layout = "tn"});
  list.add("gaps_tt",
           {.m = 15, .n = 18, .k = 23, .layout = "tt", .lda = 31, .ldb = 29, .ldout = 27});
  list.add("gaps_nnn",
           {.m = 15, .n = 18, .k = 23, .layout = "nnn", .lda = 31, .ldb = 29, .ldout = 27});
  list.add("gaps_row",
           {.m = 1, .n = 18, .k = 23, .layout = "tt", .lda = 31, .ldb = 29, .ldout = 27});
  list.add("batch_tt", {.m = 9, .n = 11, .k = 13, .batch = 4, .layout = "tt"});
  list.add("batch_nnn", {.m = 9, .n = 11, .k = 13, .batch = 4, .layout = "nnn"});
  list.add("batch_row", {.m = 1, .n = 41, .k = 13, .batch = 3, .layout = "tt"});
  list.add("scalars_tt", {.m = 14, .n = 35, .k = 22, .layout = "tt", .alpha = 3, .beta = -2});
  list.add("scalars_nnn",
           {.m = 14, .n = 35, .k = 22, .batch = 2, .layout = "nnn", .alpha = 2, .beta = 4});
  list.add("scalars_row", {.m = 1, .n = 35, .k = 22, .layout = "tn", .alpha = -1, .beta = 5});
  list.add("alpha", {.m = 8, .n = 16, .k = 24, .layout = "tt", .alpha = -2});
  list.add("fused_tt",
           {.m = 13, .n = 34, .k = 27, .layout = "tt", .epilogue = "bias+relu+residual"});
  list.add("fused_nnn", {.m = 13,
                         .n = 34,
                         .k = 27,
                         .batch = 2,
                         .layout = "nnn",
                         .epilogue = "row_bias+clamp:-20:30+residual",
                         .ldout = 17});
  list.add("fused_weights",
           {.m = 9, .n = 50, .k = 40, .constant = {"b"}, .epilogue = "column_scale+bias+gelu"});
  list.add("fused_row", {.m = 1, .n = 70, .k = 33, .epilogue = "bias+gelu_tanh"});
  list.add("fused_scales",
           {.m = 20, .n = 18, .k = 16, .layout = "tt", .epilogue = "row_scale+silu"});
  list.add("gated_tt", {.m = 6, .n = 36, .k = 30, .layout = "tt", .epilogue = "swiglu"});
  list.add("gated_tn", {.m = 3, .n = 26, .k = 31, .epilogue = "bias+geglu_interleaved+residual"});
  return list.take();
}

}  // namespace assay::gemm
