#include "export.h"

#include <filesystem>

#include <fmt/format.h>

#include "assay/op/gemm/call_source.h"
#include "assay/op/gemm/cblas.h"

namespace assay::openblas {
namespace {

struct Call {
  const std::string& routine;
  const Problem& problem;
  bool clears_output;  // Api::gemv_reads_output.
};

gemm::SourceTypes types_of(std::string_view routine) {
  if (routine == "sbgemm") return {"std::uint16_t", "float"};
  return routine.starts_with('d') ? gemm::SourceTypes{"double", "double"}
                                  : gemm::SourceTypes{"float", "float"};
}

namespace cblas = gemm::cblas;

// One row of a, or column of b, at a time.
Result<std::string> gemv_text(const Call& call, const gemm::SourceTypes& types) {
  ASSAY_TRY(const gemm::View view, gemm::view(call.problem));
  const bool with_b = view.m <= view.n;
  const gemm::Matrix matrix = with_b ? matrix_b(view) : matrix_a(view);
  const bool by_rows = cblas::leading(matrix, true).has_value();
  const auto increment = [](int64_t length, int64_t stride) { return length > 1 ? stride : 1; };
  const int64_t y_increment =
      with_b ? increment(view.n, view.out_n) : increment(view.m, view.out_m);
  std::string clear;
  if (call.clears_output && !view.has_c)
    clear = fmt::format("      for (std::int64_t i = 0; i < {}; ++i) y[i * {}] = 0;\n",
                        with_b ? view.n : view.m, y_increment);
  return fmt::format(
      "extern \"C\" void cblas_{0}(int order, int transpose, int rows, int columns, {1} alpha,\n"
      "    const {1}* matrix, int leading, const {1}* x, int x_increment, {1} beta, {1}* y,\n"
      "    int y_increment);\n\nnamespace {{\n\nint run_kernel(void* const* data) {{\n{2}"
      "    for (std::int64_t v = 0; v < {3}; ++v) {{\n      {1}* const y = out + v * {4};\n{5}"
      "      cblas_{0}({6}, {7}, {8}, {9}, {10:.17e}, {11}, {12}, {13} + v * {14}, {15}, "
      "{16:.17e}, "
      "y, {17});\n    }}\n  }}\n  return 0;\n}}\n\n}}  // namespace\n",
      call.routine, types.out, gemm::batches_source(call.problem, view, types),
      with_b ? view.m : view.n, with_b ? view.out_m : view.out_n, clear,
      static_cast<int>(by_rows ? cblas::Order::row_major : cblas::Order::column_major),
      static_cast<int>(with_b ? cblas::Transpose::yes : cblas::Transpose::no), matrix.rows,
      matrix.columns, view.alpha, with_b ? "b" : "a", cblas::leading(matrix, by_rows).value_or(0),
      with_b ? "a" : "b", with_b ? view.a_m : view.b_n,
      with_b ? increment(view.k, view.a_k) : increment(view.k, view.b_k),
      view.has_c ? view.beta : 0.0, y_increment);
}

}  // namespace

Result<KernelExport> export_call(const Api& api, const std::string& routine, const Problem& problem,
                                 const ExportOptions& options) {
  const Call call{routine, problem, api.gemv_reads_output};
  const gemm::SourceTypes types = types_of(routine);
  ASSAY_TRY(const std::string text, routine.ends_with("gemv")
                                        ? gemv_text(call, types)
                                        : gemm::cblas_gemm_source(routine, problem, types));
  KernelExport made;
  made.code = fmt::format(
      "#include <cstdint>\n\nextern \"C\" void openblas_set_num_threads(int threads);\n\n"
      "namespace {{\n[[maybe_unused]] const bool kThreadsSet = (openblas_set_num_threads({}), "
      "true);\n}}  // namespace\n\n{}",
      options.threads, text);
  made.compile_flags = {"-std=c++20", "-O2"};
  made.link_flags = {api.path(),
                     "-Wl,-rpath," + std::filesystem::path(api.path()).parent_path().string()};
  made.what = fmt::format(
      "the call of cblas_{} in OpenBLAS {}, and nothing else: the kernel is the library's", routine,
      api.version());
  return made;
}

}  // namespace assay::openblas
