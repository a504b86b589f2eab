#include "gemm_arrays.h"

#include <algorithm>
#include <cstdint>

#include "assay/input/shape_flag.h"
#include "failure.h"

namespace assay::python {
namespace {

namespace py = pybind11;

// What the smallest problem of these types says of the types that were left open.
gemm::View types_of(DType a, DType b) {
  const gemm::Shape smallest{.m = 1, .n = 1, .k = 1, .dtype = a, .a = a, .b = b};
  return take(gemm::view(take(gemm::problem(smallest))));
}

TensorView new_output(const TensorView& a, const TensorView& b, DType dtype) {
  if (a.rank < 2 || b.rank < 2) return {};  // gemm says what is wrong with a and b.
  std::vector<int64_t> sizes = {a.size[a.rank - 2], b.size[b.rank - 1]};
  if (a.rank == 3 || b.rank == 3) sizes.insert(sizes.begin(), a.rank == 3 ? a.size[0] : b.size[0]);
  return take(dense_view(nullptr, dtype, sizes));
}

bool share_memory(const TensorView& one, const TensorView& other) {
  const auto begin = [](const TensorView& view) { return reinterpret_cast<uintptr_t>(view.data); };
  const auto end = [&](const TensorView& view) {
    return begin(view) + static_cast<uintptr_t>(view.span_bytes());
  };
  return begin(one) < end(other) && begin(other) < end(one);
}

void check_apart(const Array& out, const Array& input, std::string_view role) {
  if (share_memory(out.view, input.view))
    raise(ErrorCode::invalid_input,
          "out: it lies in the memory that {} spans; kernels read {} while they write out", role,
          role);
}

}  // namespace

GemmScalars scalars_of(double alpha, double beta, const std::optional<std::string>& accumulate,
                       std::vector<std::string> constant) {
  GemmScalars scalars{
      .alpha = alpha, .beta = beta, .accumulate = {}, .constant = std::move(constant)};
  if (accumulate) scalars.accumulate = take(parse_dtype(*accumulate));
  return scalars;
}

std::vector<Array> GemmArrays::list() const {
  std::vector<Array> arrays = {a, b};
  if (out) arrays.push_back(*out);
  if (c) arrays.push_back(*c);
  return arrays;
}

GemmArrays read_arrays(py::handle a, py::handle b, py::handle out, py::handle c) {
  GemmArrays arrays{read_array(a, "a", Use::read), read_array(b, "b", Use::read), {}, {}};
  if (!out.is_none()) arrays.out = read_array(out, "out", Use::write);
  if (!c.is_none()) arrays.c = read_array(c, "c", Use::read);
  return arrays;
}

GemmArrays read_plan_arrays(py::handle a, py::handle b, py::handle out, py::handle c) {
  if (out.is_none()) throw py::type_error("out: a plan writes to an array that there is; give one");
  return read_arrays(a, b, out, c);
}

Problem problem_of_arrays(const GemmArrays& arrays, const GemmScalars& scalars) {
  const TensorView &a = arrays.a.view, &b = arrays.b.view;
  const gemm::View types = types_of(a.dtype, b.dtype);
  if (arrays.c && scalars.beta == 0)
    raise(ErrorCode::invalid_input, "c: it is added beta times, and beta is 0; give beta, or no c");
  gemm::Arguments arguments{.a = a,
                            .b = b,
                            .out = arrays.out ? arrays.out->view : new_output(a, b, types.out),
                            .c = std::nullopt,
                            .accumulate = scalars.accumulate.value_or(types.accumulate),
                            .alpha = scalars.alpha,
                            .beta = scalars.beta,
                            .epilogue = "",
                            .constant = scalars.constant};
  if (arrays.c) arguments.c = arrays.c->view;
  Problem problem = take(gemm::problem(arguments));
  if (arrays.out) {
    check_apart(*arrays.out, arrays.a, "a");
    check_apart(*arrays.out, arrays.b, "b");
    if (arrays.c) check_apart(*arrays.out, *arrays.c, "c");
  }
  return problem;
}

Problem problem_of_shape(const std::string& text) {
  const std::vector<std::string> flags = {text};
  const input::Suite suite = take(input::parse_shape_flags(flags));
  if (suite.problems.size() != 1)
    raise(ErrorCode::invalid_input, "shape: {} problems; give one, without ranges and alternatives",
          suite.problems.size());
  return suite.problems.front();
}

}  // namespace assay::python
