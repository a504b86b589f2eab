#include "export.h"

#include <map>
#include <span>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "design.h"
#include "providers/native_cpu/info.h"

namespace assay::native_cpu {
namespace {

constexpr std::string_view kFolder = "native_cpu/";
// Among the embedded files: the licence, and where headers of the library lie.
constexpr char kBuilt[] = "built.h";  // Which rows of the design space are compiled.
constexpr std::string_view kLicence = "../../LICENSE", kLibrary = "../../src/";

// What is written below must be all that there is.
static_assert(sizeof(GemmCall) == 208 && sizeof(Tiling) == 32,
              "a field was added: write it in call_text() or tiling_text() too");

std::string_view name_of(Element element) {
  switch (element) {
    case Element::f32:
      return "f32";
    case Element::bf16:
      return "bf16";
    case Element::f16:
      return "f16";
    case Element::s8:
      return "s8";
    case Element::s32:
      return "s32";
  }
  return "";
}

std::string number(double value) { return fmt::format("{:.9e}f", value); }

std::string_view name_of(StepKind kind) {
  switch (kind) {
    case StepKind::add:
      return "add";
    case StepKind::multiply:
      return "multiply";
    case StepKind::relu:
      return "relu";
    case StepKind::gelu:
      return "gelu";
    case StepKind::gelu_tanh:
      return "gelu_tanh";
    case StepKind::silu:
      return "silu";
    case StepKind::clamp:
      return "clamp";
  }
  return "";
}

// An array of the steps, whose operands are known at each call alone.
std::string steps_text(std::span<const EpilogueStep> steps, std::span<const size_t> places) {
  std::string text = fmt::format("  EpilogueStep steps[{}];\n", std::max<size_t>(steps.size(), 1));
  for (size_t i = 0; i < steps.size(); ++i) {
    const EpilogueStep& step = steps[i];
    text +=
        fmt::format("  steps[{}] = {{StepKind::{}, Element::{}, {}, {}, ", i, name_of(step.kind),
                    name_of(step.element), number(step.low), number(step.high));
    const bool has_operand = step.kind == StepKind::add || step.kind == StepKind::multiply;
    text += has_operand ? fmt::format("data[{}]", places[i]) : "nullptr";
    text +=
        fmt::format(", {}, {}, {}}};\n", step.batch_stride, step.row_stride, step.column_stride);
  }
  return text + fmt::format("  call.steps = steps;\n  call.step_count = {};\n", steps.size());
}

std::string call_text(const GemmCall& call, const gemm::Places& places) {
  std::string text = "GemmCall call_of(void* const* data) {\n  GemmCall call;\n";
  const auto set = [&](std::string_view field, const auto& value) {
    text += fmt::format("  call.{} = {};\n", field, value);
  };
  set("l", call.l);
  set("m", call.m);
  set("n", call.n);
  set("k", call.k);
  set("in", fmt::format("Element::{}", name_of(call.in)));
  set("out", fmt::format("Element::{}", name_of(call.out)));
  set("a_batch", call.a_batch);
  set("a_row", call.a_row);
  set("a_column", call.a_column);
  set("b_batch", call.b_batch);
  set("b_row", call.b_row);
  set("b_column", call.b_column);
  set("c_batch", call.c_batch);
  set("c_row", call.c_row);
  set("c_column", call.c_column);
  set("d_batch", call.d_batch);
  set("d_row", call.d_row);
  set("d_column", call.d_column);
  set("alpha", number(call.alpha));
  set("beta", number(call.beta));
  set("whole_alpha", call.whole_alpha);
  set("whole_beta", call.whole_beta);
  set("a", fmt::format("data[{}]", places.a));
  set("b", fmt::format("data[{}]", places.b));
  if (places.has_c) set("c", fmt::format("data[{}]", places.c));
  set("d", fmt::format("data[{}]", places.out));
  set("panels", fmt::format("data[{}]", places.prepared));
  return text + "  return call;\n}\n";
}

std::string tiling_text(const Tiling& tiling) {
  return fmt::format(
      "const Tiling kTiling = {{.isa = Isa::{}, .algorithm = Algorithm::{}, .in = Element::{},\n"
      "                        .mr = {}, .nv = {}, .kc = {}, .nc = {}, .mc = {}, .ahead = {},\n"
      "                        .threads = {}}};\n",
      to_string(tiling.isa), to_string(tiling.algorithm), name_of(tiling.in), tiling.mr, tiling.nv,
      tiling.kc, tiling.nc, tiling.mc, tiling.ahead, tiling.threads);
}

// Compiles the one row.
std::string built_text(const Tiling& tiling) {
  return fmt::format(
      "#pragma once\n\n// Which of the kernels in these files is compiled.\n\n"
      "#include \"gemm_call.h\"\n\nnamespace assay::native_cpu {{\n\n"
      "constexpr bool is_built(Element in, Algorithm algorithm, int nv) {{\n"
      "  return in == Element::{} && algorithm == Algorithm::{} && nv == {};\n}}\n\n"
      "}}  // namespace assay::native_cpu\n",
      name_of(tiling.in), to_string(tiling.algorithm), tiling.nv);
}

// The compiler's names of features are Linux's without underscores.
std::string support_text(const Target& needed) {
  std::string text = "bool is_supported() {\n  __builtin_cpu_init();\n  return true";
  for (const std::string& feature : needed.features) {
    std::string name = feature;
    if (name.starts_with("amx_"))
      name[3] = '-';
    else
      std::erase(name, '_');
    text += fmt::format(" &&\n         __builtin_cpu_supports(\"{}\")", name);
  }
  return text + ";\n}\n";
}

// The embedded file and all that it includes of ours.
Status add_with_includes(const std::string& name, std::map<std::string, std::string>& files) {
  if (files.contains(name)) return {};
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name != name) continue;
    files[name] = file.content;
    for (const std::string_view line : split(file.content, '\n')) {
      constexpr std::string_view kInclude = "#include \"";
      if (!line.starts_with(kInclude)) continue;
      const std::string_view rest = line.substr(kInclude.size());
      const std::string included(rest.substr(0, rest.find('"')));
      ASSAY_TRY(add_with_includes(
          included.starts_with("assay/") ? std::string(kLibrary) + included : included, files));
    }
    return {};
  }
  return fail(ErrorCode::internal, "the source {} is not in the binary", name);
}

}  // namespace

Result<KernelExport> export_source(const GemmCall& call, std::span<const EpilogueStep> steps,
                                   std::span<const size_t> step_places, const Tiling& tiling,
                                   const gemm::Places& places, const Target& needed) {
  const std::string isa(to_string(tiling.isa));
  const std::vector<std::string> sources = {fmt::format("kernels_{}.cc", isa), "thread_pool.cc"};
  std::map<std::string, std::string> files;
  for (const std::string& source : sources) ASSAY_TRY(add_with_includes(source, files));
  ASSAY_TRY(add_with_includes(std::string(kLicence), files));
  if (!files.contains(kBuilt)) return fail(ErrorCode::internal, "nothing includes {}", kBuilt);
  files[kBuilt] = built_text(tiling);
  KernelExport made;
  for (auto& [name, text] : files) {
    const std::string path = name == kLicence             ? "LICENSE"
                             : name.starts_with(kLibrary) ? name.substr(kLibrary.size())
                                                          : name;
    made.files.push_back({std::string(kFolder) + path, std::move(text)});
  }
  for (const std::string& source : sources) made.sources.push_back(std::string(kFolder) + source);
  made.compile_flags = {"-std=c++20", "-O3", "-Wno-psabi"};
  made.link_flags = {"-pthread"};

  const bool prepares = tiling.algorithm == Algorithm::panels;
  made.code = fmt::format(
      "#include \"{}kernels.h\"\n\nnamespace {{\n\n"
      "using namespace assay::native_cpu;\n\n",
      kFolder);
  made.code += call_text(call, places) + '\n' + tiling_text(tiling) + '\n' + support_text(needed);
  made.code += fmt::format(
      "\nconst KernelFunctions kFunctions = is_supported() ? find_{}(kTiling) : "
      "KernelFunctions{{}};\n\n"
      "int run_kernel(void* const* data) {{\n"
      "  if (!kFunctions) return -1;  // The processor lacks instructions.\n"
      "  GemmCall call = call_of(data);\n{}"
      "  return kFunctions.run(call, kTiling, data[{}]);\n}}\n",
      isa, steps.empty() ? "" : steps_text(steps, step_places), places.workspace);
  if (prepares) {
    const KernelFunctions functions = find_kernel(tiling);
    if (!functions || functions.prepared_bytes == nullptr)
      return fail(ErrorCode::internal, "there is no kernel of this tiling");
    made.prepared_bytes = functions.prepared_bytes(call);
    made.code += fmt::format(
        "\nint prepare_kernel(void* const* data) {{\n"
        "  if (!kFunctions) return -1;\n"
        "  return kFunctions.prepare(call_of(data), data[{}]);\n}}\n",
        places.prepared);
  }
  made.code += "\n}  // namespace\n";
  made.what = "native_cpu's own sources (Apache-2.0), which nothing else is needed for";
  return made;
}

}  // namespace assay::native_cpu
