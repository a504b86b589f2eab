#include "assay/op/rmsnorm/first_kernel.h"

#include <fmt/format.h>

#include "assay/op/element_text.h"
#include "assay/op/rmsnorm/rmsnorm.h"

namespace assay::rmsnorm {
namespace {

class Writer {
 public:
  Writer(const NewKernel& kernel, const View& view)
      : kernel_(kernel), view_(view), is_cuda_(kernel.language == SourceLanguage::cuda) {}

  Result<std::string> text() {
    if (view_.x_m != view_.n || view_.out_m != view_.n)
      return fail(ErrorCode::invalid_input,
                  "new: --shape has gaps between rows; leave ldx and ldout out, and add them to "
                  "args by hand");
    x_ = find_element_type(view_.x);
    w_ = find_element_type(view_.w);
    out_ = find_element_type(view_.out);
    if (x_ == nullptr || w_ == nullptr || out_ == nullptr)
      return fail(ErrorCode::internal, "new: a type without a text");
    return comment() + includes_and_functions(kernel_.language, {x_->load, w_->load, out_->store}) +
           (is_cuda_ ? kernel_body() : function_body());
  }

 private:
  std::string types() const {
    if (x_ == w_ && x_ == out_) return fmt::format("dtype: {}", to_string(view_.x));
    return fmt::format("x: {}, w: {}, out: {}", to_string(view_.x), to_string(view_.w),
                       to_string(view_.out));
  }

  std::string comment() const {
    return fmt::format(
        "// A naive kernel to begin with: out[m, n] = x[m, n] / sqrt(mean(x^2) + epsilon) * w[n].\n"
        "//   {}\n//\n// assay: {{entry: {}, operation: rmsnorm, {},\n"
        "//         args: [x, w, out, m, n, epsilon]{}}}\n\n",
        kernel_.command, kernel_.entry, types(),
        is_cuda_ ? ",\n//         launch: {grid: [m], block: [256]}" : "");
  }

  std::string_view sum() const { return view_.accumulate == DType::f64 ? "double" : "float"; }

  std::string signature() const {
    const auto type = [&](const ElementType* element) {
      return is_cuda_ ? element->device : element->plain;
    };
    return fmt::format("void {0}(const {1}* x, const {2}* w, {3}* out, {4} m, {4} n, {5} epsilon)",
                       kernel_.entry, type(x_), type(w_), type(out_), size(), sum());
  }
  std::string_view size() const { return is_cuda_ ? "long long" : "int64_t"; }

  std::string loop(const std::string& indent) const {
    return is_cuda_ ? indent + "for (long long column = threadIdx.x; column < n; column += 256)"
                    : indent + "for (int64_t column = 0; column < n; ++column)";
  }

  std::string squares(const std::string& indent) const {
    const std::string x = call_text(x_->load, "x[column]");
    if (x_->load.empty()) return fmt::format("{} sum += {} * {};\n", loop(indent), x, x);
    return fmt::format("{0} {{\n{1}  const {2} value = {3};\n{1}  sum += value * value;\n{1}}}\n",
                       loop(indent), indent, sum(), x);
  }

  // Without a header: C and C++ have the function under two names.
  std::string root(const std::string& indent, std::string_view total) const {
    const std::string_view function = is_cuda_                         ? "sqrt"
                                      : view_.accumulate == DType::f64 ? "__builtin_sqrt"
                                                                       : "__builtin_sqrtf";
    return fmt::format("{}const {} root = 1 / {}({} / n + epsilon);\n", indent, sum(), function,
                       total);
  }

  std::string products(const std::string& indent) const {
    const bool plain = x_->load.empty() && w_->load.empty() && out_->store.empty() && !is_cuda_;
    const std::string value =
        call_text(out_->store, fmt::format("{} * root * {}", call_text(x_->load, "x[column]"),
                                           call_text(w_->load, "w[column]")));
    return fmt::format("{}{}out[column] = {};\n", loop(indent), plain ? " " : "\n  " + indent,
                       value);
  }

  std::string function_body() const {
    return fmt::format(
        "{} {{\n  for (int64_t row = 0; row < m; ++row, x += n, out += n) {{\n"
        "    {} sum = 0;\n{}{}{}  }}\n}}\n",
        signature(), sum(), squares("    "), root("    ", "sum"), products("    "));
  }

  // A block for a row; its sums meet in shared memory.
  std::string kernel_body() const {
    return fmt::format(
        "extern \"C\" __global__ {0} {{\n  __shared__ {1} sums[256];\n"
        "  x += blockIdx.x * n;\n  out += blockIdx.x * n;\n  {1} sum = 0;\n{2}"
        "  sums[threadIdx.x] = sum;\n"
        "  for (int half = 128; half > 0; half /= 2) {{\n    __syncthreads();\n"
        "    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];\n  }}\n"
        "  __syncthreads();\n{3}{4}}}\n",
        signature(), sum(), squares("  "), root("  ", "sums[0]"), products("  "));
  }

  const NewKernel& kernel_;
  const View& view_;
  bool is_cuda_;
  const ElementType *x_ = nullptr, *w_ = nullptr, *out_ = nullptr;
};

}  // namespace

Result<std::string> naive_kernel(const NewKernel& kernel, const Problem& problem) {
  ASSAY_TRY(const View sizes, view(problem));
  return Writer(kernel, sizes).text();
}

}  // namespace assay::rmsnorm
