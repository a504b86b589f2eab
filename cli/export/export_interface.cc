#include "cli/export/export_interface.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/op/operation.h"
#include "assay/op/outputs.h"

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

// Roles are users' words, and stand in C as names of parameters.
std::string identifier(const std::string& role) {
  static constexpr std::string_view kTaken[] = {
      "alignas",  "alignof",   "and",      "asm",      "auto",      "bool",     "break",
      "case",     "catch",     "char",     "class",    "compl",     "concept",  "const",
      "continue", "data",      "decltype", "default",  "delete",    "do",       "double",
      "else",     "enum",      "EOF",      "errno",    "explicit",  "export",   "extern",
      "false",    "float",     "for",      "friend",   "goto",      "I",        "if",
      "inline",   "int",       "long",     "mutable",  "namespace", "NAN",      "new",
      "noexcept", "not",       "NULL",     "nullptr",  "operator",  "or",       "prepared",
      "private",  "protected", "public",   "register", "requires",  "restrict", "return",
      "short",    "signed",    "sizeof",   "static",   "stderr",    "stdin",    "stdout",
      "stream",   "struct",    "switch",   "template", "this",      "throw",    "true",
      "try",      "typedef",   "typeid",   "typename", "union",     "unsigned", "using",
      "virtual",  "void",      "volatile", "while",    "workspace", "xor"};
  return std::ranges::find(kTaken, role) == std::end(kTaken) ? role : role + "_";
}

bool is_cold(const Operand& operand, const assay::Condition& condition) {
  return condition.cache == "cold" ||
         (condition.cache == "cold_weights" && operand.lifetime == Lifetime::constant);
}

class Interface {
 public:
  explicit Interface(const ExportSubject& subject)
      : problem_(subject.problem),
        made_(subject.made),
        facts_(subject.facts),
        name_(subject.name),
        label_(subject.label),
        formula_(subject.formula),
        sizes_(subject.sizes()) {}

  std::string header() const {
    std::string text = fmt::format(
        "/* {0}: {1}, {2}, by {3}.\n{4}   bf16 and f16 are their bits. "
        "Functions return 0, or a code that is not.\n"
        "   Not for two threads at once on the same outputs or workspace.{6} */\n"
        "#ifndef {5}_H\n#define {5}_H\n\n#include <stdint.h>\n\n"
        "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
        problem_.name(), formula_, sizes_, label_, operand_lines(), upper(),
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
    const OutputPlaces outputs = OutputPlaces::of(problem_);
    const auto varied = varied_operand();
    size_t rank = 1;
    for (const Operand& operand : problem_.operands()) rank = std::max(rank, operand.sizes.size());
    std::string text = fmt::format(
        "// What caller.cc must know of {0}.\n#pragma once\n\n#include <cstddef>\n"
        "#include <cstdint>\n\n#include \"{1}.h\"\n\nnamespace problem {{\n\n"
        "enum class Type {{ f64, f32, bf16, f16, s8, s32 }};\n"
        "inline constexpr std::size_t kOperands = {2};\ninline constexpr int kMostRank = {3};\n"
        "// given: what outputs that are also read are to hold when a launch begins.\n"
        "struct Buffers {{\n  void *operand[kOperands] = {{}}, *given[kOperands] = {{}};\n"
        "  void *workspace = nullptr, *prepared = nullptr;\n}};\n"
        "// Sizes and strides in elements; bytes from the first to past the last element. "
        "constant: "
        "the\n// same at every call, as weights are. cold: in no cache when a launch begins. "
        "offset: "
        "of an\n// output, in the one piece of memory that all of them are. read: such an output "
        "holds an input\n// when a launch begins.\n"
        "struct Operand {{\n  const char* role;\n  Type type;\n  int rank;\n"
        "  std::int64_t sizes[kMostRank], strides[kMostRank];\n  std::size_t bytes;\n"
        "  bool constant, cold, output, read;\n  std::size_t offset;\n}};\n\n"
        "inline constexpr char kName[] = \"{0}\", kKernel[] = \"{4}\";\n"
        "inline constexpr Operand kOperand[kOperands] = {{\n",
        problem_.name(), name_, problem_.operands().size(), rank, label_);
    for (size_t i = 0; i < problem_.operands().size(); ++i) text += operand_text(i, outputs);
    text += fmt::format(
        "}};\ninline constexpr std::size_t kOutputBytes = {};\n"
        "inline constexpr bool kVaries = {};  // Whether each call brings an input anew,\n"
        "inline constexpr std::size_t kVaried = {}, kVariedBytes = {};  // and which one.\n"
        "inline constexpr char kBound[] = \"{}\";  // What bounds the kernel's errors.\n"
        "inline constexpr std::size_t kWorkspaceBytes = {}, kPreparedBytes = {};\n"
        "inline constexpr bool kWarm = {}, kIsolated = {}, kChain = {}, kDependent = {};\n"
        "inline constexpr int kThreads = {};\ninline constexpr double kRecordedUs = {:.6g};\n\n",
        outputs.bytes, varied.has_value(), varied.value_or(0),
        varied ? problem_.operands()[*varied].span_bytes : 0,
        facts_.kernel.is_normwise() ? ", normwise" : "", made_.workspace_bytes,
        made_.prepared_bytes, facts_.problem.condition.cache == "warm",
        facts_.problem.condition.spacing == "isolated", facts_.problem.condition.spacing == "chain",
        made_.dependent_launch, facts_.run.options.threads, facts_.median_us);
    if (made_.on_gpu) text += bursts();
    text += fmt::format(
        "inline void* outputs_of(const Buffers& buffers) {{ return buffers.operand[{}]; }}\n"
        "inline void set_outputs(Buffers& buffers, void* piece) {{\n"
        "  for (std::size_t i = 0; i < kOperands; ++i)\n"
        "    if (kOperand[i].output)\n"
        "      buffers.operand[i] = static_cast<char*>(piece) + kOperand[i].offset;\n}}\n",
        outputs.places.empty() ? 0 : outputs.places.front().operand);
    return text + fmt::format(
                      "inline int prepare([[maybe_unused]] const Buffers& buffers) {{\n"
                      "  return {};\n}}\ninline int launch(const Buffers& buffers{}) {{\n"
                      "  return {};\n}}\n\n}}  // namespace problem\n",
                      prepares() ? call_of("prepare", true) : "0",
                      made_.on_gpu ? ", void* stream" : "", call_of("launch", false));
  }

 private:
  std::optional<size_t> varied_operand() const {
    const auto operation = find_operation(problem_.operation());
    const size_t place =
        operation ? (*operation)->varied_operand(problem_) : problem_.operands().size();
    return place < problem_.operands().size() ? std::optional(place) : std::nullopt;
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
      text += fmt::format("   {}: {} [{}], strides {} elements, aligned to {} bytes{}{}\n",
                          operand.role, to_string(operand.dtype), join(sizes, ", "),
                          join(strides, ", "), operand.alignment,
                          operand.lifetime == Lifetime::constant ? ", constant" : "",
                          operand.access == Access::read_write ? ", read and written" : "");
    }
    return text;
  }

  std::string prepare_parameters() const {
    std::vector<std::string> list;
    for (const Operand& operand : problem_.operands())
      if (operand.lifetime == Lifetime::constant)
        list.push_back(
            fmt::format("const {}* {}", c_type(operand.dtype), identifier(operand.role)));
    list.emplace_back("void* prepared");
    return join(list, ", ");
  }

  std::string launch_parameters() const {
    std::vector<std::string> list;
    for (const Operand& operand : problem_.operands())
      list.push_back(fmt::format("{}{}* {}", is_output(operand) ? "" : "const ",
                                 c_type(operand.dtype), identifier(operand.role)));
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
                         ? identifier(operand.role)
                         : fmt::format("const_cast<{}*>({})", c_type(operand.dtype),
                                       identifier(operand.role)));
    }
    list.emplace_back(!preparing && has_workspace() ? "workspace" : "nullptr");
    list.emplace_back(!prepares() ? "nullptr"
                      : preparing ? "prepared"
                                  : "const_cast<void*>(prepared)");
    return join(list, ", ");
  }

  std::string operand_text(size_t place, const OutputPlaces& outputs) const {
    const Operand& operand = problem_.operands()[place];
    std::vector<std::string> sizes, strides;
    for (const int64_t size : operand.sizes) sizes.push_back(std::to_string(size));
    for (const int64_t stride : operand.strides) strides.push_back(std::to_string(stride));
    const auto found = std::ranges::find(outputs.places, place, &OutputPlaces::Place::operand);
    return fmt::format(
        "    {{\"{}\", Type::{}, {}, {{{}}}, {{{}}}, {}, {}, {}, {}, {}, {}}},\n", operand.role,
        to_string(operand.dtype), operand.sizes.size(), join(sizes, ", "), join(strides, ", "),
        operand.span_bytes, operand.lifetime == Lifetime::constant,
        is_cold(operand, facts_.problem.condition), is_output(operand),
        operand.access == Access::read_write, found == outputs.places.end() ? 0 : found->offset);
  }

  std::string call_of(std::string_view what, bool preparing) const {
    std::vector<std::string> list;
    for (size_t i = 0; i < problem_.operands().size(); ++i) {
      const Operand& operand = problem_.operands()[i];
      if (!preparing || operand.lifetime == Lifetime::constant)
        list.push_back(
            fmt::format("static_cast<{}*>(buffers.operand[{}])", c_type(operand.dtype), i));
    }
    if (!preparing && has_workspace()) list.emplace_back("buffers.workspace");
    if (prepares()) list.emplace_back("buffers.prepared");
    if (made_.on_gpu) list.emplace_back("stream");
    return fmt::format("{}_{}({})", name_, what, join(list, ", "));
  }

  const Problem& problem_;
  const KernelExport& made_;
  const WinnerFacts& facts_;
  const std::string &name_, &label_;
  const std::string& formula_;
  std::string sizes_;
};

}  // namespace

std::string ExportSubject::sizes() const {
  std::vector<std::string> list;
  for (const auto& [dimension, size] : problem.dimensions())
    list.push_back(fmt::format("{} {}", dimension, size));
  return join(list, ", ");
}

std::string c_header(const ExportSubject& subject) { return Interface(subject).header(); }
std::string launch_file(const ExportSubject& subject) { return Interface(subject).launch(); }
std::string problem_file(const ExportSubject& subject) {
  return Interface(subject).problem_header();
}

}  // namespace assay::cli
