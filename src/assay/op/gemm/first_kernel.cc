#include "assay/op/gemm/first_kernel.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/tensor/dtype.h"

namespace assay::gemm {
namespace {

// How elements of a type are written down, read and stored.
struct ElementType {
  DType dtype;
  std::string_view plain, device;  // Types of C and of CUDA.
  std::string_view sum;            // The type of sums of its products.
  std::string_view load, store;    // Functions around an element; empty: none.
};
constexpr ElementType kTypes[] = {
    {DType::f64, "double", "double", "double", "", ""},
    {DType::f32, "float", "float", "float", "", ""},
    {DType::bf16, "uint16_t", "unsigned short", "float", "from_bf16", "to_bf16"},
    {DType::f16, "uint16_t", "unsigned short", "float", "from_f16", "to_f16"},
    {DType::s8, "int8_t", "signed char", "int32_t", "", ""},
    {DType::s32, "int32_t", "int", "int32_t", "", ""},
};

struct Function {
  std::string_view name, host, device;
};
constexpr Function kFunctions[] = {
    {"from_bf16", R"(static float from_bf16(uint16_t bits) {
  const uint32_t word = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &word, sizeof value);
  return value;
}
)",
     R"(static __device__ float from_bf16(unsigned short bits) {
  return __uint_as_float((unsigned)bits << 16);
}
)"},
    {"to_bf16", R"(/* To the nearest, and to the even one of two. */
static uint16_t to_bf16(float value) {
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  return (uint16_t)((word + 0x7fff + (word >> 16 & 1)) >> 16);
}
)",
     R"(/* To the nearest, and to the even one of two. */
static __device__ unsigned short to_bf16(float value) {
  const unsigned word = __float_as_uint(value);
  return (unsigned short)((word + 0x7fff + (word >> 16 & 1)) >> 16);
}
)"},
    {"from_f16", R"(static float from_f16(uint16_t bits) {
  _Float16 value;
  memcpy(&value, &bits, sizeof value);
  return (float)value;
}
)",
     R"(static __device__ float from_f16(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
)"},
    {"to_f16", R"(static uint16_t to_f16(float value) {
  const _Float16 half = (_Float16)value;
  uint16_t bits;
  memcpy(&bits, &half, sizeof bits);
  return bits;
}
)",
     R"(static __device__ unsigned short to_f16(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
)"},
};

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

std::string call(std::string_view function, const std::string& value) {
  return function.empty() ? value : fmt::format("{}({})", function, value);
}

class Writer {
 public:
  Writer(const NewKernel& kernel, const Problem& problem)
      : kernel_(kernel), problem_(problem), batches_(problem.find_operand("a")->sizes[0] > 1) {}

  Result<std::string> text() {
    ASSAY_TRY(a_, matrix("a", 0));
    ASSAY_TRY(b_, matrix("b", 1));
    ASSAY_TRY(out_, matrix("out", 2));
    if (problem_.find_operand("c") != nullptr)
      return fail(ErrorCode::invalid_input,
                  "new: --shape has a beta; leave it out and add c to args by hand");
    return comment() + includes() + functions() + (is_cuda() ? kernel_body() : function_body());
  }

 private:
  bool is_cuda() const { return kernel_.language == SourceLanguage::cuda; }

  Result<Matrix> matrix(const std::string& role, size_t place) const {
    const Operand* operand = problem_.find_operand(role);
    const auto* type = std::ranges::find(kTypes, operand->dtype, &ElementType::dtype);
    if (type == std::end(kTypes))
      return fail(ErrorCode::invalid_input,
                  "new: {} of type {} is beyond a naive body; it writes f64, f32, bf16, f16 and s8",
                  role, to_string(operand->dtype));
    const std::string& layout = problem_.layout();
    return Matrix{role, &*type, place >= layout.size() || layout[place] == 't'};
  }

  std::string types() const {
    if (a_.type == b_.type && a_.type == out_.type)
      return fmt::format("dtype: {}", to_string(a_.type->dtype));
    return fmt::format("a: {}, b: {}, out: {}", to_string(a_.type->dtype),
                       to_string(b_.type->dtype), to_string(out_.type->dtype));
  }

  std::string launch() const {
    if (!is_cuda()) return {};
    return fmt::format(
        ",\n//         launch: {{grid: [ceil_div(n, 16), ceil_div(m, 16){}], block: "
        "[16, 16]}}",
        batches_ ? ", l" : "");
  }

  std::string comment() const {
    return fmt::format(
        "// A naive kernel to begin with: out[m, n] = a[m, k] x b[k, n].\n//   {}\n//\n"
        "// assay: {{entry: {}, operation: gemm, {}, layout: {},\n"
        "//         args: [a, b, out, m, n, k{}]{}}}\n\n",
        kernel_.command, kernel_.entry, types(), problem_.layout(), batches_ ? ", batch" : "",
        launch());
  }

  std::set<std::string_view> used() const {
    std::set<std::string_view> names = {a_.type->load, b_.type->load, out_.type->store};
    names.erase("");
    return names;
  }

  std::string includes() const {
    if (is_cuda()) return {};
    const bool c = kernel_.language == SourceLanguage::c;
    std::string out = c ? "#include <stdint.h>\n" : "#include <cstdint>\n";
    if (!used().empty()) out += c ? "#include <string.h>\n" : "#include <cstring>\n";
    return c || used().empty() ? out + '\n' : out + "\nusing std::memcpy;\n\n";
  }

  std::string functions() const {
    std::string out;
    for (const Function& function : kFunctions)
      if (used().contains(function.name))
        out.append(is_cuda() ? function.device : function.host) += '\n';
    return out;
  }

  std::string signature(std::string_view size) const {
    const auto type = [&](const Matrix& matrix) {
      return is_cuda() ? matrix.type->device : matrix.type->plain;
    };
    return fmt::format("void {}(const {}* a, const {}* b, {}* out, {} m, {} n, {} k{})",
                       kernel_.entry, type(a_), type(b_), type(out_), size, size, size,
                       batches_ ? fmt::format(", {} batch", size) : "");
  }

  std::string_view sum_type() const {
    return is_cuda() && a_.type->sum == "int32_t" ? "int" : a_.type->sum;
  }

  std::string product(std::string_view row, std::string_view column, std::string_view i) const {
    return call(a_.type->load, a_.index(row, i, "m", "k")) + " * " +
           call(b_.type->load, b_.index(i, column, "k", "n"));
  }

  std::string store(std::string_view row, std::string_view column) const {
    return out_.index(row, column, "m", "n") + " = " + call(out_.type->store, "sum") + ";\n";
  }

  // One element of the output.
  std::string element(const std::string& indent, std::string_view size) const {
    return fmt::format("{0}{1} sum = 0;\n{0}for ({2} i = 0; i < k; ++i) sum += {3};\n{0}{4}",
                       indent, sum_type(), size, product("row", "column", "i"),
                       store("row", "column"));
  }

  std::string function_body() const {
    std::string out = signature("int64_t") + " {\n";
    std::string indent = "  ";
    if (batches_) {
      out += "  for (int64_t l = 0; l < batch; ++l, a += m * k, b += k * n, out += m * n)\n";
      indent += "  ";
    }
    return out + fmt::format(
                     "{0}for (int64_t row = 0; row < m; ++row)\n{0}  for (int64_t column = 0; "
                     "column < n; ++column) {{\n{1}{0}  }}\n}}\n",
                     indent, element(indent + "    ", "int64_t"));
  }

  std::string kernel_body() const {
    std::string out = "extern \"C\" __global__ " + signature("long long") + " {\n";
    out +=
        "  const long long row = blockIdx.y * 16 + threadIdx.y;\n"
        "  const long long column = blockIdx.x * 16 + threadIdx.x;\n"
        "  if (row >= m || column >= n) return;\n";
    if (batches_)
      out +=
          "  a += blockIdx.z * m * k;\n  b += blockIdx.z * k * n;\n  out += blockIdx.z * m * n;\n";
    return out + element("  ", "long long") + "}\n";
  }

  const NewKernel& kernel_;
  const Problem& problem_;
  bool batches_;
  Matrix a_, b_, out_;
};

}  // namespace

Result<std::string> naive_kernel(const NewKernel& kernel, const Problem& problem) {
  return Writer(kernel, problem).text();
}

}  // namespace assay::gemm
