#include "assay/profiler/question.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/op/gemm/gemm.h"

namespace assay::profiler {
namespace {

struct Matrix {
  DType dtype = DType::f32;
  bool row_major = true;

  std::string word() const {
    return fmt::format("{}:{}", to_string(dtype), row_major ? "row" : "column");
  }
  Matrix transposed() const { return {dtype, !row_major}; }
};

tl::unexpected<Error> no_words(const std::string& what) {
  return fail(ErrorCode::unsupported, "cutlass_profiler has no words for {}", what);
}

// Leading dimensions and batches are always packed there.
Result<Matrix> matrix(const char* role, DType dtype, char letter, std::int64_t rows,
                      std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride,
                      std::int64_t batch, std::int64_t batch_stride) {
  const bool row_major = letter == 't';
  const bool packed =
      row_major ? (columns == 1 || column_stride == 1) && (rows == 1 || row_stride == columns)
                : (rows == 1 || row_stride == 1) && (columns == 1 || column_stride == rows);
  if (packed && (batch == 1 || batch_stride == rows * columns)) return Matrix{dtype, row_major};
  return no_words(fmt::format("gaps between the lines of {}", role));
}

Question ask(const gemm::View& view, const Matrix& a, const Matrix& b, const Matrix& out,
             bool swapped) {
  Question question;
  question.swapped = swapped;
  question.m = swapped ? view.n : view.m;
  question.n = swapped ? view.m : view.n;
  question.k = view.k;
  question.batch = view.l;
  question.a = (swapped ? b.transposed() : a).word();
  question.b = (swapped ? a.transposed() : b).word();
  question.out = (swapped ? out.transposed() : out).word();
  auto& words = question.arguments;
  words = {"--operation=Gemm", fmt::format("--m={}", question.m), fmt::format("--n={}", question.n),
           fmt::format("--k={}", question.k)};
  if (question.batch != 1) words.push_back(fmt::format("--batch_count={}", question.batch));
  words.push_back("--A=" + question.a);
  words.push_back("--B=" + question.b);
  // What is not read may be of any type: kernels without a C are among those that are wanted.
  if (view.has_c) words.push_back("--C=" + question.out);
  words.push_back("--D=" + question.out);
  words.push_back(fmt::format("--accum={}", to_string(view.accumulate)));
  words.push_back(fmt::format("--alpha={}", view.alpha));
  words.push_back(fmt::format("--beta={}", view.beta));
  words.emplace_back("--providers=cutlass");
  return question;
}

}  // namespace

Result<std::vector<Question>> questions(const Problem& problem) {
  const auto viewed = gemm::view(problem);
  if (!viewed) return no_words(fmt::format("problems of {}", problem.operation()));
  const gemm::View& view = *viewed;
  const auto epilogue = problem.attributes().find("epilogue");
  if (epilogue != problem.attributes().end()) {
    const auto* const name = std::get_if<std::string>(&epilogue->second);
    if (name != nullptr && !name->empty())
      return no_words(fmt::format("the epilogue {}", sanitize(*name, 80)));
  }
  const std::string layout = gemm::layout_string(problem, true);
  if (layout.size() != 3) return no_words(fmt::format("the layout {}", sanitize(layout, 40)));
  ASSAY_TRY(const Matrix a,
            matrix("a", view.a, layout[0], view.m, view.k, view.a_m, view.a_k, view.l, view.a_l));
  ASSAY_TRY(const Matrix b,
            matrix("b", view.b, layout[1], view.k, view.n, view.b_k, view.b_n, view.l, view.b_l));
  ASSAY_TRY(const Matrix out, matrix("out", view.out, layout[2], view.m, view.n, view.out_m,
                                     view.out_n, view.l, view.out_l));
  if (view.has_c &&
      (view.c_m != view.out_m || view.c_n != view.out_n || (view.l > 1 && view.c_l != view.out_l)))
    return no_words("a c whose lines lie otherwise than those of out");
  const Question as_it_is = ask(view, a, b, out, false);
  if (!out.row_major) return std::vector<Question>{as_it_is};
  return std::vector<Question>{ask(view, a, b, out, true), as_it_is};
}

Status check_flags(const std::vector<std::string>& flags) {
  static constexpr std::array<std::string_view, 24> kOurs = {
      "operation",   "function", "m",
      "n",           "k",        "problem-size::m",
      "A",           "B",        "problem-size::n",
      "D",           "alpha",    "problem-size::k",
      "beta",        "accum",    "accumulator-type",
      "output",      "append",   "epilogue::alpha",
      "batch_count", "help",     "epilogue::beta",
      "batch-count", "version",  "device-info"};
  for (const std::string& flag : flags) {
    if (!flag.starts_with("--") || flag.size() < 3)
      return fail(ErrorCode::invalid_input,
                  "'{}' is no flag of cutlass_profiler, which look like --profiling-iterations=20",
                  sanitize(flag, 120));
    const std::string name = flag.substr(2, flag.find('=') - 2);
    if (std::find(kOurs.begin(), kOurs.end(), name) != kOurs.end())
      return fail(ErrorCode::invalid_input,
                  "--{} is what assay says itself, of each shape; shapes are chosen by --suite, "
                  "--shapes and --shape",
                  name);
  }
  return {};
}

std::vector<std::string> unknown_flags(const std::vector<std::string>& flags) {
  // Read by tools/profiler/src/options.cu, operation_profiler.cu and gemm_operation_profiler.cu.
  static constexpr std::string_view kKnown =
      "C cluster-shape-fallback::k cluster-shape-fallback::m cluster-shape-fallback::n "
      "cluster-shape::k cluster-shape::m cluster-shape::n cluster_k cluster_k_fallback "
      "cluster_m cluster_m_fallback cluster_n cluster_n_fallback compute-capability cta_k "
      "cta_m cta_n devices dist enable-best-kernel-for-fixed-shape "
      "enable-kernel-performance-search enable-sm90-mixed-dtype-shuffle-test "
      "enable_sm90_mixed_dtype_shuffle_test epsilon error-if-nothing-is-profiled "
      "error-on-no-match gemm_kind ignore-kernels initialization-enabled "
      "initialization-provider inst_k inst_m inst_n instruction-shape::k "
      "instruction-shape::m instruction-shape::n junit-output kernels kernels-file "
      "library-algo-mode library-algos llc-capacity max_cc maximum-compute-capability "
      "min-iterations min_cc minimum-compute-capability mode nonzero-floor op_class "
      "opcode-class operation_names print-kernel-before-running profiling-duration "
      "profiling-enabled profiling-iterations providers raster-order raster_order "
      "report-not-run runtime-input-datatype::a runtime-input-datatype::b "
      "runtime_input_datatype_a runtime_input_datatype_b save-workspace seed sleep-duration "
      "sm-count sort-results-flops-per-byte sort-results-flops-per-sec split-k-mode "
      "split-k-slices split_k_mode split_k_slices stages swizzle-size swizzle_size tags "
      "testlist-file threadblock-shape::k threadblock-shape::m threadblock-shape::n "
      "threadblock-stages use-cuda-graphs use-pdl use_pdl verbose verification-enabled "
      "verification-providers verification-required warmup-iterations warp-count::k "
      "warp-count::m warp-count::n warps_k warps_m warps_n workspace-count";
  const std::vector<std::string_view> known = split(kKnown, ' ');
  std::vector<std::string> sentences;
  for (const std::string& flag : flags) {
    const std::string name = flag.substr(2, flag.find('=') - 2);
    if (std::find(known.begin(), known.end(), name) == known.end())
      sentences.push_back(
          fmt::format("cutlass_profiler passes over flags that it does not know, and --{} may be "
                      "one{}",
                      sanitize(name, 80), did_you_mean(name, known)));
  }
  return sentences;
}

}  // namespace assay::profiler
