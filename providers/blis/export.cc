#include "export.h"

#include <filesystem>

#include <fmt/format.h>

#include "assay/op/gemm/call_source.h"
#include "assay/op/gemm/matrix.h"

namespace assay::blis {
namespace {

Result<std::string> typed_source(const std::string& routine, const Problem& problem,
                                 const gemm::SourceTypes& types) {
  ASSAY_TRY(const gemm::View view, gemm::view(problem));
  const gemm::Matrix a = matrix_a(view).plain(), b = matrix_b(view).plain(),
                     out = matrix_out(view).plain();
  return fmt::format(
      "extern \"C\" void bli_{0}(int transpose_a, int transpose_b, std::int64_t m, std::int64_t "
      "n,\n"
      "    std::int64_t k, const {1}* alpha, const {1}* a, std::int64_t a_row, std::int64_t "
      "a_column,\n    const {1}* b, std::int64_t b_row, std::int64_t b_column, const {1}* beta, "
      "{1}* out,\n    std::int64_t out_row, std::int64_t out_column);\n\n"
      "namespace {{\n\nint run_kernel(void* const* data) {{\n"
      "  const {1} alpha = {2:.17e}, beta = {3:.17e};\n{4}"
      "    bli_{0}({5}, {5}, {6}, {7}, {8}, &alpha, a, {9}, {10}, b, {11}, {12}, &beta, out, {13}, "
      "{14});\n  }}\n  return 0;\n}}\n\n}}  // namespace\n",
      routine, types.out, view.alpha, view.has_c ? view.beta : 0.0,
      batches_source(problem, view, types), kAsItIs, view.m, view.n, view.k, a.row_stride,
      a.column_stride, b.row_stride, b.column_stride, out.row_stride, out.column_stride);
}

}  // namespace

Result<KernelExport> export_call(const Api& api, const std::string& routine, bool typed,
                                 const Problem& problem, const ExportOptions& options) {
  const gemm::SourceTypes types = routine.starts_with('d') ? gemm::SourceTypes{"double", "double"}
                                                           : gemm::SourceTypes{"float", "float"};
  ASSAY_TRY(const std::string text, typed ? typed_source(routine, problem, types)
                                          : gemm::cblas_gemm_source(routine, problem, types));
  KernelExport made;
  made.code = fmt::format(
      "#include <cstdint>\n\nextern \"C\" void bli_thread_set_num_threads(std::int64_t "
      "threads);\n\n"
      "namespace {{\n[[maybe_unused]] const bool kThreadsSet = (bli_thread_set_num_threads({}), "
      "true);\n}}  // namespace\n\n{}",
      options.threads, text);
  made.compile_flags = {"-std=c++20", "-O2"};
  made.link_flags = {api.path(),
                     "-Wl,-rpath," + std::filesystem::path(api.path()).parent_path().string()};
  made.what =
      fmt::format("the call of {}_{} in BLIS {}, and nothing else: the kernel is the library's",
                  typed ? "bli" : "cblas", routine, api.version());
  return made;
}

}  // namespace assay::blis
