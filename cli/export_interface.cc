#include "cli/export_interface.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/text.h"

namespace assay::cli {
namespace {

std::string c_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "double";
    case DType::f32:
      return "float";
    case DType::s8:
      return "int8_t";
    case DType::s32:
      return "int32_t";
    default:
      return "uint16_t";
  }
}

bool is_output(const Operand& operand) { return operand.access != Access::read; }

bool is_cold(const Operand& operand, const assay::Condition& condition) {
  return condition.cache == "cold" ||
         (condition.cache == "cold_weights" && operand.lifetime == Lifetime::constant);
}

class Interface {
 public:
  explicit Interface(const ExportSubject& subject)
      : problem_(subject.problem),
        view_(subject.view),
        made_(subject.made),
        facts_(subject.facts),
        name_(subject.name),
        label_(subject.label),
        formula_(formula_of(subject)) {}

  std::string header() const {
    std::string text = fmt::format(
        "/* {0}: {1}, m {2}, n {3}, k {4}, batch {5}, by {6}.\n{7}   bf16 and f16 are their bits. "
        "Functions return 0, or a code that is not.\n"
        "   Not for two threads at once on the same out or workspace.{9} */\n"
        "#ifndef {8}_H\n#define {8}_H\n\n#include <stdint.h>\n\n"
        "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
        problem_.name(), formula_, view_.m, view_.n, view_.k, view_.l, label_, operand_lines(),
        upper(),
        made_.on_gpu
            ? "\n   Pointers are a GPU's memory. stream is a CUstream or cudaStream_t, and "
              "a launch is enqueued there;\n   the first one loads the code into the "
              "context that is current. Codes are the driver's (CUresult);\n   -1: "
              "there is no driver, -2: the code takes other parameters."
            : "");
    if (has_workspace())
      text += fmt::format(
          "/* Scratch memory that a launch uses, aligned to 64 bytes. */\n"
          "#define {}_WORKSPACE_BYTES {}\n\n",
          upper(), made_.workspace_bytes);
    if (prepares())
      text += fmt::format(
          "/* Packs what is constant, once; prepared is aligned to 4096 bytes. */\n"
          "#define {}_PREPARED_BYTES {}\nint {}_prepare({});\n\n",
          upper(), made_.prepared_bytes, name_, prepare_parameters());
    return text + fmt::format("int {}_launch({});\n\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
                              name_, launch_parameters());
  }

  std::string launch() const {
    std::string text = fmt::format("// {}: {}.\n\n#include \"{}.h\"\n\n{}\n", problem_.name(),
                                   label_, name_, made_.code);
    const auto function = [&](std::string_view what, const std::string& parameters,
                              std::string_view call, bool preparing) {
      text += fmt::format(
          "extern \"C\" int {}_{}({}) {{\n  void* const data[] = {{{}}};\n  return "
          "{}(data{});\n}}\n",
          name_, what, parameters, data_list(preparing), call, made_.on_gpu ? ", stream" : "");
    };
    if (prepares()) function("prepare", prepare_parameters(), "prepare_kernel", true);
    function("launch", launch_parameters(), "run_kernel", false);
    return text;
  }

  std::string problem_header() const {
    std::string text = fmt::format(
        "// What caller.cc must know of {0}.\n#pragma once\n\n#include <cstddef>\n"
        "#include <cstdint>\n\n#include \"{1}.h\"\n\nnamespace problem {{\n\n"
        "enum class Type {{ f64, f32, bf16, f16, s8, s32 }};\n"
        "struct Buffers {{\n  void *a = nullptr, *b = nullptr, *c = nullptr, *out = nullptr;\n"
        "  void *workspace = nullptr, *prepared = nullptr;\n}};\n"
        "// Strides in elements; bytes from the first to past the last element. constant: the "
        "same\n"
        "// at every call, as weights are. cold: in no cache when a launch begins.\n"
        "struct Matrix {{\n  Type type;\n  std::int64_t batch, row, column;\n  std::size_t bytes;\n"
        "  bool constant, cold;\n  void* Buffers::*member;\n}};\n\n"
        "inline constexpr char kName[] = \"{0}\", kKernel[] = \"{2}\";\n"
        "inline constexpr std::int64_t kL = {3}, kM = {4}, kN = {5}, kK = {6};\n",
        problem_.name(), name_, label_, view_.l, view_.m, view_.n, view_.k);
    text += matrix("kA", "a", view_.a_l, view_.a_m, view_.a_k);
    text += matrix("kB", "b", view_.b_l, view_.b_k, view_.b_n);
    text += matrix("kC", "c", view_.c_l, view_.c_m, view_.c_n);
    text += matrix("kOut", "out", view_.out_l, view_.out_m, view_.out_n);
    text += fmt::format(
        "inline constexpr const Matrix* kInputs[] = {{&kA, &kB{}}};\n"
        "inline constexpr const Matrix* kVaried = {};  // What each call brings anew.\n"
        "inline constexpr Type kAccumulate = Type::{};\n"
        "inline constexpr bool kNormwise = {};  // What bounds the kernel's errors.\n"
        "inline constexpr double kAlpha = {:.17g}, kBeta = {:.17g};\n"
        "inline constexpr std::size_t kWorkspaceBytes = {}, kPreparedBytes = {};\n"
        "inline constexpr bool kWarm = {}, kIsolated = {}, kChain = {}, kDependent = {};\n"
        "inline constexpr int kThreads = {};\ninline constexpr double kRecordedUs = {:.6g};\n\n",
        view_.has_c ? ", &kC" : "", varied(), to_string(view_.accumulate),
        facts_.kernel.is_normwise(), view_.alpha, view_.has_c ? view_.beta : 0.0,
        made_.workspace_bytes, made_.prepared_bytes, facts_.problem.condition.cache == "warm",
        facts_.problem.condition.spacing == "isolated", facts_.problem.condition.spacing == "chain",
        made_.dependent_launch, facts_.run.options.threads, facts_.median_us);
    if (made_.on_gpu) text += bursts();
    return text + fmt::format(
                      "inline int prepare([[maybe_unused]] const Buffers& buffers) {{\n"
                      "  return {};\n}}\ninline int launch(const Buffers& buffers{}) {{\n"
                      "  return {};\n}}\n\n}}  // namespace problem\n",
                      prepares() ? call_of("prepare", true) : "0",
                      made_.on_gpu ? ", void* stream" : "", call_of("launch", false));
  }

 private:
  std::string_view varied() const {
    constexpr std::string_view kNames[] = {"&kA", "&kB"};
    const size_t operand = gemm::operation().varied_operand(problem_);
    return operand < std::size(kNames) ? kNames[operand] : "nullptr";
  }
  // As the confirmation had them.
  std::string bursts() const {
    int64_t launches = 1, bare = 1;
    if (const Confirmation* confirmation = facts_.problem.decisive())
      for (const ProcessSamples& process : confirmation->processes) {
        if (const KernelSamples* samples = process.find(facts_.kernel.id))
          launches = samples->launches;
        if (process.bare_links) bare = process.bare_links->launches;
      }
    return fmt::format(
        "// Launches of a timed burst, and of one of a chain's bare links.\n"
        "inline constexpr std::size_t kBurst = {}, kBareBurst = {};\n\n",
        launches, bare);
  }
  bool prepares() const { return made_.prepared_bytes > 0; }
  bool has_workspace() const { return made_.workspace_bytes > 0; }

  std::string upper() const {
    std::string text = name_;
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return text;
  }

  std::string operand_lines() const {
    std::string text;
    for (const Operand& operand : problem_.operands()) {
      std::vector<std::string> sizes, strides;
      for (const int64_t size : operand.sizes) sizes.push_back(std::to_string(size));
      for (const int64_t stride : operand.strides) strides.push_back(std::to_string(stride));
      text += fmt::format("   {}: {} [{}], strides {} elements, aligned to {} bytes{}\n",
                          operand.role, to_string(operand.dtype), join(sizes, ", "),
                          join(strides, ", "), operand.alignment,
                          operand.lifetime == Lifetime::constant ? ", constant" : "");
    }
    return text;
  }

  std::string prepare_parameters() const {
    std::vector<std::string> list;
    for (const Operand& operand : problem_.operands())
      if (operand.lifetime == Lifetime::constant)
        list.push_back(fmt::format("const {}* {}", c_type(operand.dtype), operand.role));
    list.emplace_back("void* prepared");
    return join(list, ", ");
  }

  std::string launch_parameters() const {
    std::vector<std::string> list;
    for (const Operand& operand : problem_.operands())
      list.push_back(fmt::format("{}{}* {}", is_output(operand) ? "" : "const ",
                                 c_type(operand.dtype), operand.role));
    if (has_workspace()) list.emplace_back("void* workspace");
    if (prepares()) list.emplace_back("const void* prepared");
    if (made_.on_gpu) list.emplace_back("void* stream");
    return join(list, ", ");
  }

  // The pointers as run_kernel takes them; those that `given` does not hold are null.
  std::string data_list(bool preparing) const {
    std::vector<std::string> list;
    for (const Operand& operand : problem_.operands()) {
      const bool given = !preparing || operand.lifetime == Lifetime::constant;
      list.push_back(!given ? "nullptr"
                     : is_output(operand)
                         ? operand.role
                         : fmt::format("const_cast<{}*>({})", c_type(operand.dtype), operand.role));
    }
    list.emplace_back(!preparing && has_workspace() ? "workspace" : "nullptr");
    list.emplace_back(!prepares() ? "nullptr"
                      : preparing ? "prepared"
                                  : "const_cast<void*>(prepared)");
    return join(list, ", ");
  }

  std::string matrix(const char* constant, const char* role, int64_t batch, int64_t row,
                     int64_t column) const {
    const Operand* operand = problem_.find_operand(role);
    if (operand == nullptr)
      return fmt::format(
          "inline constexpr Matrix {} = {{Type::f32, 0, 0, 0, 0, false, false, &Buffers::{}}};\n",
          constant, role);
    return fmt::format(
        "inline constexpr Matrix {} = {{Type::{}, {}, {}, {}, {}, {}, {}, &Buffers::{}}};\n",
        constant, to_string(operand->dtype), batch, row, column, operand->span_bytes,
        operand->lifetime == Lifetime::constant, is_cold(*operand, facts_.problem.condition), role);
  }

  std::string call_of(std::string_view what, bool preparing) const {
    std::vector<std::string> list;
    for (const Operand& operand : problem_.operands())
      if (!preparing || operand.lifetime == Lifetime::constant)
        list.push_back(
            fmt::format("static_cast<{}*>(buffers.{})", c_type(operand.dtype), operand.role));
    if (!preparing && has_workspace()) list.emplace_back("buffers.workspace");
    if (prepares()) list.emplace_back("buffers.prepared");
    if (made_.on_gpu) list.emplace_back("stream");
    return fmt::format("{}_{}({})", name_, what, join(list, ", "));
  }

  const Problem& problem_;
  const gemm::View& view_;
  const KernelExport& made_;
  const WinnerFacts& facts_;
  const std::string &name_, &label_;
  std::string formula_;
};

}  // namespace

std::string formula_of(const ExportSubject& subject) {
  const gemm::View& view = subject.view;
  std::string text = "out = ";
  if (view.alpha != 1) text += fmt::format("{:g} ", view.alpha);
  text += "a b";
  if (view.has_c) text += fmt::format(" + {:g} c", view.beta);
  return text;
}

std::string c_header(const ExportSubject& subject) { return Interface(subject).header(); }
std::string launch_file(const ExportSubject& subject) { return Interface(subject).launch(); }
std::string problem_file(const ExportSubject& subject) {
  return Interface(subject).problem_header();
}

}  // namespace assay::cli
