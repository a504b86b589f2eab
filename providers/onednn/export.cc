#include "export.h"

#include <filesystem>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/op/gemm/gemm.h"
#include "matrices.h"

namespace assay::onednn {
namespace {

std::string data_type(DType dtype) {
  return fmt::format("memory::data_type::{}", to_string(dtype));
}

// {sizes} and {strides} as the primitive is made with them: without the batch where there is none.
std::string descriptor_text(const gemm::Matrix& given, bool free_layout) {
  const gemm::Matrix matrix = given.plain();
  std::string sizes, strides;
  if (matrix.batches != 1) {
    sizes = fmt::format("{}, ", matrix.batches);
    strides = fmt::format("{}, ", matrix.batch_stride);
  }
  sizes += fmt::format("{}, {}", matrix.rows, matrix.columns);
  strides += fmt::format("{}, {}", matrix.row_stride, matrix.column_stride);
  return fmt::format(
      "memory::desc({{{}}}, {}, {})", sizes, data_type(matrix.dtype),
      free_layout ? "memory::format_tag::any" : fmt::format("memory::dims{{{}}}", strides));
}

constexpr std::string_view kMatmul = R"(
matmul::primitive_desc make_descriptor(const engine& cpu, const memory::desc& a,
                                       const memory::desc& b, const memory::desc& out) {
  primitive_attr attributes;
  attributes.set_scratchpad_mode(scratchpad_mode::user);
#if DNNL_VERSION_MAJOR >= 3
  return matmul::primitive_desc(cpu, a, b, out, attributes);
#else
  return matmul::primitive_desc(matmul::desc(a, b, out), attributes, cpu);
#endif
}

// Made once. A memory object's data is exchanged only when the pointer is another.
struct Call {
  engine cpu{engine::kind::cpu, 0};
  stream order{cpu};
  matmul::primitive_desc descriptor;
  matmul primitive;
  memory a, b, out, scratchpad;

  Call()
      : descriptor(make_descriptor(cpu, kFirst, kSecond, kOut)),
        primitive(descriptor),
        a(descriptor.src_desc(), cpu, nullptr),
        b(descriptor.weights_desc(), cpu, nullptr),
        out(descriptor.dst_desc(), cpu, nullptr),
        scratchpad(descriptor.scratchpad_desc(), cpu, nullptr) {}

  static void point(memory& object, void* data) {
    if (object.get_data_handle() != data) object.set_data_handle(data);
  }
  void run(void* first, void* second, void* result, void* workspace) {
    point(a, first);
    point(b, second);
    point(out, result);
    point(scratchpad, workspace);
    primitive.execute(order, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, out},
                              {DNNL_ARG_SCRATCHPAD, scratchpad}});
  }
};

Call& call() {
  static Call made;
  return made;
}
)";

std::string matmul_text(const gemm::View& view, const Problem& problem, size_t prepared_bytes) {
  const bool prepared = prepared_bytes > 0;
  const Matrices matrices = matrices_of(view);
  const gemm::Places places = gemm::places_of(problem);
  const bool swapped = matrices.swapped;
  const size_t workspace = places.workspace;
  std::string text = fmt::format(
      "const memory::desc kFirst = {};\nconst memory::desc kSecond = {};\n"
      "const memory::desc kOut = {};\n{}",
      descriptor_text(matrices.a, prepared && swapped),
      descriptor_text(matrices.b, prepared && !swapped), descriptor_text(matrices.out, false),
      kMatmul);
  const size_t b = prepared ? workspace + 1 : places.b;
  text += fmt::format(
      "\nint run_kernel(void* const* data) {{\n"
      "  call().run(data[{}], data[{}], data[{}], data[{}]);\n  return 0;\n}}\n",
      swapped ? b : places.a, swapped ? places.a : b, places.out, workspace);
  if (!prepared) return text;
  // The library's own layout of b.
  text += fmt::format(
      "\nint prepare_kernel(void* const* data) {{\n"
      "  const memory::desc packed = call().descriptor.{}();\n"
      "  if (packed.get_size() > {}) return -1;  // Another library than was raced.\n"
      "  memory from({}, call().cpu, data[{}]), to(packed, call().cpu, data[{}]);\n"
      "  reorder(from, to).execute(call().order, from, to);\n"
      "  call().order.wait();\n  return 0;\n}}\n",
      swapped ? "src_desc" : "weights_desc", prepared_bytes,
      descriptor_text(swapped ? matrices.a : matrices.b, false), places.b, workspace + 1);
  return text;
}

std::string sgemm_text(const gemm::View& view, const Problem& problem) {
  const Matrices matrices = matrices_of(view);
  const gemm::Places places = gemm::places_of(problem);
  const auto leading = [](const gemm::Matrix& matrix) {
    return matrix.leading(matrix.leading(true).has_value()).value_or(0);
  };
  const auto letter = [](const gemm::Matrix& matrix) { return matrix.leading(true) ? 'N' : 'T'; };
  const bool swapped = matrices.swapped;
  std::string text = fmt::format(
      "int run_kernel(void* const* data) {{\n  for (std::int64_t l = 0; l < {}; ++l) {{\n"
      "    const auto* a = static_cast<const float*>(data[{}]) + l * {};\n"
      "    const auto* b = static_cast<const float*>(data[{}]) + l * {};\n"
      "    auto* out = static_cast<float*>(data[{}]) + l * {};\n",
      view.l, swapped ? places.b : places.a, matrices.a.batch_stride, swapped ? places.a : places.b,
      matrices.b.batch_stride, places.out, matrices.out.batch_stride);
  if (view.has_c)
    text += fmt::format(
        "    const auto* c = static_cast<const float*>(data[{}]) + l * {};\n"
        "    for (std::int64_t m = 0; m < {}; ++m)\n"
        "      for (std::int64_t n = 0; n < {}; ++n) out[m * {} + n * {}] = c[m * {} + n * {}];\n",
        places.c, view.c_l, view.m, view.n, view.out_m, view.out_n, view.c_m, view.c_n);
  return text + fmt::format(
                    "    if (dnnl_sgemm('{}', '{}', {}, {}, {}, {:.9e}f, a, {}, b, {}, {:.9e}f, "
                    "out, {}) != dnnl_success)\n      return 1;\n  }}\n  return 0;\n}}\n",
                    letter(matrices.a), letter(matrices.b), matrices.out.rows, matrices.out.columns,
                    matrices.a.columns, view.alpha, leading(matrices.a), leading(matrices.b),
                    view.has_c ? view.beta : 0.0, leading(matrices.out));
}

}  // namespace

Result<KernelExport> export_call(const Api& api, const CallExport& call) {
  ASSAY_TRY(const gemm::View view, gemm::view(call.problem));
  const std::string text = call.routine == "sgemm"
                               ? sgemm_text(view, call.problem)
                               : matmul_text(view, call.problem, call.prepared_bytes);
  KernelExport made;
  made.code = fmt::format(
      "#include <cstdint>\n#include <dnnl.hpp>\n\nextern \"C\" void omp_set_num_threads(int "
      "threads);\n\nnamespace {{\n\nusing namespace dnnl;\n\n"
      "[[maybe_unused]] const bool kThreadsSet = (omp_set_num_threads({}), true);\n\n{}\n"
      "}}  // namespace\n",
      call.threads, text);
  made.prepared_bytes = static_cast<int64_t>(call.prepared_bytes);
  made.compile_flags = {"-std=c++20", "-O2"};
  made.link_flags = {api.path(),
                     "-Wl,-rpath," + std::filesystem::path(api.path()).parent_path().string(),
                     "-fopenmp"};
  made.what = fmt::format(
      "the call of {} in oneDNN {}, and nothing else: the kernel is the library's (building the "
      "call takes <dnnl.hpp> of that major version: libdnnl-dev)",
      call.routine, api.version());
  return made;
}

}  // namespace assay::onednn
