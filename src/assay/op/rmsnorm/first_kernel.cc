#include "assay/op/rmsnorm/first_kernel.h"

#include <set>
#include <string>

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
    if (view_.x_m != view_.n || view_.out_m != view_.n ||
        (view_.adds && view_.residual_m != view_.n))
      return fail(ErrorCode::invalid_input,
                  "new: --shape has gaps between rows; leave ldx, ldout and ldresidual out, and "
                  "add them to args by hand");
    x_ = find_element_type(view_.x);
    w_ = find_element_type(view_.w);
    out_ = find_element_type(view_.out);
    if (view_.adds) residual_ = find_element_type(view_.residual);
    if (x_ == nullptr || w_ == nullptr || out_ == nullptr || (view_.adds && residual_ == nullptr))
      return fail(ErrorCode::internal, "new: a type without a text");
    std::set<std::string_view> used = {x_->load, w_->load, out_->store};
    if (view_.adds) used.insert({residual_->load, residual_->store});
    return comment() + includes_and_functions(kernel_.language, used) +
           (is_cuda_ ? kernel_body() : function_body());
  }

 private:
  std::string types() const {
    if (x_ == w_ && x_ == out_ && (!view_.adds || x_ == residual_))
      return fmt::format("dtype: {}", to_string(view_.x));
    return fmt::format("x: {}, w: {}, out: {}", to_string(view_.x), to_string(view_.w),
                       to_string(view_.out)) +
           (view_.adds ? fmt::format(", residual: {}", to_string(view_.residual)) : "");
  }

  std::string comment() const {
    const std::string_view formula =
        view_.adds ? "residual[m, n] += x[m, n], and\n"
                     "// out[m, n] = residual[m, n] / sqrt(mean(residual^2) + epsilon) * w[n]."
                   : "out[m, n] = x[m, n] / sqrt(mean(x^2) + epsilon) * w[n].";
    return fmt::format(
        "// A naive kernel to begin with: {}\n"
        "//   {}\n//\n// assay: {{entry: {}, operation: rmsnorm, {},\n"
        "//         args: [x, w, {}out, m, n, epsilon]{}}}\n\n",
        formula, kernel_.command, kernel_.entry, types(), view_.adds ? "residual, " : "",
        is_cuda_ ? ",\n//         launch: {grid: [m], block: [256]}" : "");
  }

  std::string_view sum() const { return view_.accumulate == DType::f64 ? "double" : "float"; }

  // begin: what stands ahead of it on its line.
  std::string signature(std::string_view begin) const {
    constexpr size_t kColumns = 98;
    const auto type = [&](const ElementType* element) {
      return is_cuda_ ? element->device : element->plain;
    };
    const std::string name = fmt::format("{}void {}(", begin, kernel_.entry);
    const std::string most = fmt::format(
        "{0}const {1}* x, const {2}* w, {3}{4}* out, {5} m, {5} n,", name, type(x_), type(w_),
        view_.adds ? fmt::format("{}* residual, ", type(residual_)) : "", type(out_), size());
    const std::string last = fmt::format(" {} epsilon)", sum());
    if (!view_.adds || most.size() + last.size() <= kColumns) return most + last;
    return most + "\n" + std::string(name.size() - 1, ' ') + last;
  }
  std::string_view size() const { return is_cuda_ ? "long long" : "int64_t"; }

  std::string loop(const std::string& indent) const {
    return is_cuda_ ? indent + "for (long long column = threadIdx.x; column < n; column += 256)"
                    : indent + "for (int64_t column = 0; column < n; ++column)";
  }

  // What is normalised.
  std::string normalised() const {
    return view_.adds ? call_text(residual_->load, "residual[column]")
                      : call_text(x_->load, "x[column]");
  }

  std::string squares(const std::string& indent) const {
    if (view_.adds)
      return fmt::format(
          "{0} {{\n{1}  residual[column] = {2};\n{1}  const {3} value = {4};\n"
          "{1}  sum += value * value;\n{1}}}\n",
          loop(indent), indent,
          call_text(residual_->store,
                    fmt::format("{} + {}", call_text(x_->load, "x[column]"), normalised())),
          sum(), normalised());
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
    const bool plain =
        !view_.adds && x_->load.empty() && w_->load.empty() && out_->store.empty() && !is_cuda_;
    const std::string value = call_text(
        out_->store, fmt::format("{} * root * {}", normalised(), call_text(w_->load, "w[column]")));
    return fmt::format("{}{}out[column] = {};\n", loop(indent), plain ? " " : "\n  " + indent,
                       value);
  }

  std::string function_body() const {
    return fmt::format(
        "{} {{\n  for (int64_t row = 0; row < m; ++row, x += n, {}out += n) {{\n"
        "    {} sum = 0;\n{}{}{}  }}\n}}\n",
        signature(""), view_.adds ? "residual += n, " : "", sum(), squares("    "),
        root("    ", "sum"), products("    "));
  }

  // A block for a row; its sums meet in shared memory.
  std::string kernel_body() const {
    return fmt::format(
        "{0} {{\n  __shared__ {1} sums[256];\n"
        "  x += blockIdx.x * n;\n{5}  out += blockIdx.x * n;\n  {1} sum = 0;\n{2}"
        "  sums[threadIdx.x] = sum;\n"
        "  for (int half = 128; half > 0; half /= 2) {{\n    __syncthreads();\n"
        "    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];\n  }}\n"
        "  __syncthreads();\n{3}{4}}}\n",
        signature("extern \"C\" __global__ "), sum(), squares("  "), root("  ", "sums[0]"),
        products("  "), view_.adds ? "  residual += blockIdx.x * n;\n" : "");
  }

  const NewKernel& kernel_;
  const View& view_;
  bool is_cuda_;
  const ElementType *x_ = nullptr, *w_ = nullptr, *out_ = nullptr, *residual_ = nullptr;
};

}  // namespace

Result<std::string> naive_kernel(const NewKernel& kernel, const Problem& problem) {
  ASSAY_TRY(const View sizes, view(problem));
  return Writer(kernel, sizes).text();
}

}  // namespace assay::rmsnorm
