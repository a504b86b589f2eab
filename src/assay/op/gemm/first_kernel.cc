#include "assay/op/gemm/first_kernel.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/op/element_text.h"
#include "assay/op/gemm/epilogue.h"

namespace assay::gemm {
namespace {

// An operand whose type is known here: where its element (row, column) lies.
struct Matrix {
  std::string name;
  const ElementType* type = nullptr;
  bool by_rows = true;

  std::string index(std::string_view row, std::string_view column, std::string_view rows,
                    std::string_view columns) const {
    return by_rows ? fmt::format("{}[{} * {} + {}]", name, row, columns, column)
                   : fmt::format("{}[{} * {} + {}]", name, column, rows, row);
  }
};

class KernelWriter {
 public:
  KernelWriter(const NewKernel& kernel, const Problem& problem)
      : kernel_(kernel), problem_(problem), batches_(problem.find_operand("a")->sizes[0] > 1) {}

  Result<std::string> text() {
    ASSAY_TRY(a_, matrix("a", 0));
    ASSAY_TRY(b_, matrix("b", 1));
    ASSAY_TRY(out_, matrix("out", 2));
    ASSAY_TRY(epilogue_, epilogue_of(problem_));
    for (const EpilogueStep& step : epilogue_.steps()) {
      if (!step.has_operand()) continue;
      ASSAY_TRY(Matrix operand, matrix(std::string(step.name()), 2));
      operands_.push_back(std::move(operand));
    }
    for (const Operand& operand : problem_.operands())
      if (has_gaps(operand))
        return fail(
            ErrorCode::invalid_input,
            "new: --shape has gaps between rows or columns of {}; leave lda, ldb, ldout and "
            "strides out, and add the steps to args by hand",
            operand.role);
    if (problem_.find_operand("c") != nullptr)
      return fail(ErrorCode::invalid_input,
                  "new: --shape has a beta; leave it out and add c to args by hand");
    std::set<std::string_view> used = {a_.type->load, b_.type->load, out_.type->store};
    for (const Matrix& operand : operands_) used.insert(operand.type->load);
    // NVRTC knows the functions without a header, and has no <math.h>.
    return comment() + (epilogue_.empty() || is_cuda() ? "" : "#include <math.h>\n") +
           includes_and_functions(kernel_.language, used) +
           (is_cuda() ? kernel_body() : function_body());
  }

 private:
  // A naive body takes rows, or columns, that lie side by side.
  static bool has_gaps(const Operand& operand) {
    int64_t elements = 1;
    for (const int64_t size : operand.sizes) elements *= size;
    return operand.span_bytes > elements * size_bytes(operand.dtype);
  }

  bool is_cuda() const { return kernel_.language == SourceLanguage::cuda; }

  Result<Matrix> matrix(const std::string& role, size_t place) const {
    const Operand* operand = problem_.find_operand(role);
    const ElementType* type = find_element_type(operand->dtype);
    if (type == nullptr)
      return fail(ErrorCode::invalid_input,
                  "new: {} of type {} is beyond a naive body; it writes f64, f32, bf16, f16 and s8",
                  role, to_string(operand->dtype));
    const std::string& layout = problem_.layout();
    return Matrix{role, type, place >= layout.size() || layout[place] == 't'};
  }

  std::string types() const {
    std::string others;
    for (const Matrix& operand : operands_)
      if (operand.type != out_.type)
        others += fmt::format(", {}: {}", operand.name, to_string(operand.type->dtype));
    if (a_.type == b_.type && a_.type == out_.type)
      return fmt::format("dtype: {}{}", to_string(a_.type->dtype), others);
    return fmt::format("a: {}, b: {}, out: {}{}", to_string(a_.type->dtype),
                       to_string(b_.type->dtype), to_string(out_.type->dtype), others);
  }

  std::string launch() const {
    if (!is_cuda()) return {};
    return fmt::format(
        ",\n//         launch: {{grid: [ceil_div({}, 16), ceil_div(m, 16){}], block: "
        "[16, 16]}}",
        is_gated() ? "n // 2" : "n", batches_ ? ", l" : "");
  }

  std::string comment() const {
    return fmt::format(
        "// A naive kernel to begin with: {}.\n//   {}\n//\n"
        "// assay: {{entry: {}, operation: gemm, {}, layout: {},\n"
        "//         args: [a, b, out{}, m, n, k{}]{}{}}}\n\n",
        what(), kernel_.command, kernel_.entry, types(), problem_.layout(), operand_names(),
        batches_ ? ", batch" : "",
        epilogue_.empty() ? "" : fmt::format(",\n//         epilogues: [{}]", epilogue_.text()),
        launch());
  }

  std::string what() const {
    if (epilogue_.empty()) return "out[m, n] = a[m, k] x b[k, n]";
    return fmt::format("out = {} behind a[m, k] x b[k, n]", epilogue_.text());
  }

  std::string operand_names() const {
    std::string names;
    for (const Matrix& operand : operands_) names += ", " + operand.name;
    return names;
  }

  bool is_gated() const { return epilogue_.gate() != nullptr; }
  std::string_view columns() const { return is_gated() ? "(n / 2)" : "n"; }

  // A number of the sums' type, and the name of a function of it.
  std::string real(double value) const {
    if (a_.type->sum == "int32_t") return fmt::format("{}", value);
    const std::string text = fmt::format("{}", value);
    const bool is_whole = text.find_first_of(".e") == std::string::npos;
    return text + (is_whole ? ".0" : "") + (sum_type() == "float" ? "f" : "");
  }
  std::string function(std::string_view name) const {
    return fmt::format("{}{}", name, sum_type() == "float" ? "f" : "");
  }

  // What a function, or a gate's, makes of `sum`.
  std::string applied(const EpilogueStep& step) const {
    const std::string_view name = step.name();
    if (name == "silu" || name.starts_with("swiglu"))
      return fmt::format("sum / (1 + {}(-sum))", function("exp"));
    if (name.find("tanh") != std::string_view::npos)
      return fmt::format("{} * sum * (1 + {}({} * (sum + {} * sum * sum * sum)))", real(0.5),
                         function("tanh"), real(0.7978845608), real(0.044715));
    return fmt::format("{} * sum * (1 + {}(sum * {}))", real(0.5), function("erf"),
                       real(0.7071067812));
  }

  // column: of the sum, as its own operands have it; of_columns: how many there are.
  std::string step_text(const EpilogueStep& step, std::string_view column,
                        std::string_view of_columns) const {
    using Kind = EpilogueStep::Kind;
    if (step.has_operand()) {
      const auto& operand = *std::ranges::find(operands_, step.name(), &Matrix::name);
      const bool of_rows = step.kind == Kind::row_bias || step.kind == Kind::row_scale;
      const std::string index = step.kind == Kind::residual
                                    ? operand.index("row", column, "m", of_columns)
                                    : fmt::format("{}[{}]", operand.name,
                                                  step.kind == Kind::scale ? "0"
                                                  : of_rows                ? "row"
                                                                           : column);
      return fmt::format("sum {} {};",
                         step.is_addend() ? "+=" : "*=", call_text(operand.type->load, index));
    }
    if (step.kind == Kind::relu) return "sum = sum > 0 ? sum : 0;";
    if (step.kind == Kind::clamp)
      return fmt::format("sum = sum < {0} ? {0} : sum > {1} ? {1} : sum;", real(step.low),
                         real(step.high));
    if (step.is_gate()) return fmt::format("sum = ({}) * up;", applied(step));
    return fmt::format("sum = {};", applied(step));
  }

  std::string signature(std::string_view size) const {
    const auto type = [&](const Matrix& matrix) {
      return is_cuda() ? matrix.type->device : matrix.type->plain;
    };
    std::string operands;
    for (const Matrix& operand : operands_)
      operands += fmt::format(", const {}* {}", type(operand), operand.name);
    return fmt::format("void {}(const {}* a, const {}* b, {}* out{}, {} m, {} n, {} k{})",
                       kernel_.entry, type(a_), type(b_), type(out_), operands, size, size, size,
                       batches_ ? fmt::format(", {} batch", size) : "");
  }

  std::string_view sum_type() const {
    return is_cuda() && a_.type->sum == "int32_t" ? "int" : a_.type->sum;
  }

  std::string product(std::string_view row, std::string_view column, std::string_view i) const {
    return call_text(a_.type->load, a_.index(row, i, "m", "k")) + " * " +
           call_text(b_.type->load, b_.index(i, column, "k", "n"));
  }

  std::string store(std::string_view row, std::string_view column) const {
    return out_.index(row, column, "m", columns()) + " = " + call_text(out_.type->store, "sum") +
           ";\n";
  }

  // One element of the output.
  std::string element(const std::string& indent, std::string_view size) const {
    const bool pairs = is_gated() && epilogue_.gate()->is_interleaved();
    const std::string first = pairs ? "(2 * column)" : "column";
    const std::string second = pairs ? "(2 * column + 1)" : "(n / 2 + column)";
    const auto summed = [&](const std::string& column) {
      return fmt::format("{0}{1} sum = 0;\n{0}for ({2} i = 0; i < k; ++i) sum += {3};\n", indent,
                         sum_type(), size, product("row", column, "i"));
    };
    const auto steps = epilogue_.steps();
    const auto ahead =
        static_cast<size_t>(is_gated() ? epilogue_.gate() - steps.data() : std::ssize(steps));
    const auto through = [&](size_t from, size_t to, const std::string& column,
                             std::string_view of_columns) {
      std::string text;
      for (size_t i = from; i < to; ++i)
        text += indent + step_text(steps[i], column, of_columns) + "\n";
      return text;
    };
    std::string text;
    if (is_gated()) {
      // The gate's other side, in a block of its own.
      text += fmt::format("{0}{1} up;\n{0}{{\n", indent, sum_type());
      const std::string block =
          summed(second) + through(0, ahead, second, "n") + indent + "up = sum;";
      for (const std::string_view line : split(block, '\n')) text += fmt::format("  {}\n", line);
      text += indent + "}\n";
    }
    text += summed(first) + through(0, ahead, first, "n");
    if (is_gated()) text += through(ahead, steps.size(), "column", columns());
    return text + indent + store("row", "column");
  }

  std::string function_body() const {
    std::string out = signature("int64_t") + " {\n";
    std::string indent = "  ";
    if (batches_) {
      out += fmt::format(
          "  for (int64_t l = 0; l < batch; ++l, a += m * k, b += k * n, out += m * {}{})\n",
          columns(), residual_of_batch(", residual += m * {}"));
      indent += "  ";
    }
    return out + fmt::format(
                     "{0}for (int64_t row = 0; row < m; ++row)\n{0}  for (int64_t column = 0; "
                     "column < {2}; ++column) {{\n{1}{0}  }}\n}}\n",
                     indent, element(indent + "    ", "int64_t"), columns());
  }

  std::string kernel_body() const {
    std::string out = "extern \"C\" __global__ " + signature("long long") + " {\n";
    out +=
        "  const long long row = blockIdx.y * 16 + threadIdx.y;\n"
        "  const long long column = blockIdx.x * 16 + threadIdx.x;\n"
        "  if (row >= m || column >= ";
    out += fmt::format("{}) return;\n", columns());
    if (batches_)
      out += fmt::format(
          "  a += blockIdx.z * m * k;\n  b += blockIdx.z * k * n;\n  out += blockIdx.z * m * {};\n"
          "{}",
          columns(), residual_of_batch("  residual += blockIdx.z * m * {};\n"));
    return out + element("  ", "long long") + "}\n";
  }

  // Nothing where there is none; {} is its columns.
  std::string residual_of_batch(std::string_view text) const {
    bool gated = false;
    for (const EpilogueStep& step : epilogue_.steps()) {
      gated = gated || step.is_gate();
      if (step.kind == EpilogueStep::Kind::residual)
        return fmt::format(fmt::runtime(text), gated ? columns() : std::string_view("n"));
    }
    return {};
  }

  const NewKernel& kernel_;
  const Problem& problem_;
  bool batches_;
  Epilogue epilogue_;
  Matrix a_, b_, out_;
  std::vector<Matrix> operands_;  // Of the epilogue's steps.
};

}  // namespace

Result<std::string> naive_kernel(const NewKernel& kernel, const Problem& problem) {
  return KernelWriter(kernel, problem).text();
}

}  // namespace assay::gemm
