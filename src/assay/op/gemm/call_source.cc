#include "assay/op/gemm/call_source.h"

#include <fmt/format.h>

#include "assay/op/gemm/cblas.h"

namespace assay::gemm {

std::string batches_source(const Problem& problem, const View& view, const SourceTypes& types) {
  const Places places = places_of(problem);
  std::string text = fmt::format(
      "  for (std::int64_t l = 0; l < {}; ++l) {{\n"
      "    const auto* a = static_cast<const {}*>(data[{}]) + l * {};\n"
      "    const auto* b = static_cast<const {}*>(data[{}]) + l * {};\n"
      "    auto* out = static_cast<{}*>(data[{}]) + l * {};\n",
      view.l, types.in, places.a, view.a_l, types.in, places.b, view.b_l, types.out, places.out,
      view.out_l);
  if (view.has_c)
    text += fmt::format(
        "    const auto* c = static_cast<const {}*>(data[{}]) + l * {};\n"
        "    for (std::int64_t m = 0; m < {}; ++m)\n"
        "      for (std::int64_t n = 0; n < {}; ++n) out[m * {} + n * {}] = c[m * {} + n * {}];\n",
        types.out, places.c, view.c_l, view.m, view.n, view.out_m, view.out_n, view.c_m, view.c_n);
  return text;
}

Result<std::string> cblas_gemm_source(std::string_view routine, const Problem& problem,
                                      const SourceTypes& types) {
  ASSAY_TRY(const View view, gemm::view(problem));
  const auto layout = cblas::layout_of(view);
  if (!layout) return fail(ErrorCode::internal, "strides that supports() refuses");
  return fmt::format(
      "extern \"C\" void cblas_{0}(int order, int transpose_a, int transpose_b, int m, int n, int "
      "k,\n    {2} alpha, const {1}* a, int lda, const {1}* b, int ldb, {2} beta, {2}* out,\n"
      "    int ldout);\n\nnamespace {{\n\nint run_kernel(void* const* data) {{\n{3}"
      "    cblas_{0}({4}, {5}, {6}, {7}, {8}, {9}, {10:.17e}, a, {11}, b, {12}, {13:.17e}, out, "
      "{14});\n  }}\n  return 0;\n}}\n\n}}  // namespace\n",
      routine, types.in, types.out, batches_source(problem, view, types),
      static_cast<int>(layout->order), static_cast<int>(layout->transpose_a),
      static_cast<int>(layout->transpose_b), view.m, view.n, view.k, view.alpha, layout->lda,
      layout->ldb, view.has_c ? view.beta : 0.0, layout->ldout);
}

}  // namespace assay::gemm
