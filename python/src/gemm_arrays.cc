#include "gemm_arrays.h"

#include <algorithm>
#include <cstdint>

#include <pybind11/stl.h>

#include "assay/input/shape_flag.h"
#include "assay/op/gemm/epilogue.h"
#include "failure.h"

namespace assay::python {
namespace {

namespace py = pybind11;

// What the smallest problem of these types says of the types that were left open.
gemm::View types_of(DType a, DType b) {
  const gemm::Shape smallest{.m = 1, .n = 1, .k = 1, .dtype = a, .a = a, .b = b};
  return take(gemm::view(take(gemm::problem(smallest))));
}

TensorView new_output(const TensorView& a, const TensorView& b, DType dtype,
                      const gemm::Epilogue& epilogue) {
  if (a.rank < 2 || b.rank < 2) return {};  // gemm says what is wrong with a and b.
  std::vector<int64_t> sizes = {a.size[a.rank - 2], epilogue.columns_of_out(b.size[b.rank - 1])};
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

std::vector<Array> GemmArrays::list(const Problem& problem) const {
  std::vector<Array> arrays;
  for (const Operand& operand : problem.operands()) {
    if (operand.role == "a") arrays.push_back(a);
    if (operand.role == "b") arrays.push_back(b);
    if (operand.role == "out" && out) arrays.push_back(*out);
    if (operand.role == "c" && c) arrays.push_back(*c);
    if (const auto found = of_epilogue.find(operand.role); found != of_epilogue.end())
      arrays.push_back(found->second);
  }
  return arrays;
}

namespace {

void read_option(GemmCall& call, const std::string& name, py::handle value) {
  GemmArrays& arrays = call.arrays;
  GemmScalars& scalars = call.scalars;
  if (name == "c" && !value.is_none()) arrays.c = read_array(value, "c", Use::read);
  if (name == "alpha") scalars.alpha = py::cast<double>(value);
  if (name == "beta") scalars.beta = py::cast<double>(value);
  if (name == "accumulate" && !value.is_none())
    scalars.accumulate = take(parse_dtype(py::cast<std::string>(value)));
  if (name == "epilogue") scalars.epilogue = py::cast<std::string>(value);
  if (name == "constant") scalars.constant = py::cast<std::vector<std::string>>(value);
  if (name != "epilogue_operands") return;
  for (const auto& [step, array] : py::cast<py::dict>(value)) {
    const auto role = py::cast<std::string>(step);
    arrays.of_epilogue[role] = read_array(array, role, Use::read);
  }
}

}  // namespace

GemmCall read_call(py::handle a, py::handle b, py::handle out, const py::dict& options) {
  GemmCall call;
  GemmArrays& arrays = call.arrays;
  arrays.a = read_array(a, "a", Use::read);
  arrays.b = read_array(b, "b", Use::read);
  if (!out.is_none()) arrays.out = read_array(out, "out", Use::write);
  for (const auto& [key, value] : options) {
    const auto name = py::cast<std::string>(key);
    try {
      read_option(call, name, value);
    } catch (const py::cast_error&) {
      throw py::type_error(name + " cannot be a " + std::string(py::str(py::type::of(value))));
    }
  }
  return call;
}

GemmCall read_plan_call(py::handle a, py::handle b, py::handle out, const py::dict& options) {
  if (out.is_none()) throw py::type_error("out: a plan writes to an array that there is; give one");
  return read_call(a, b, out, options);
}

Problem problem_of(const GemmCall& call) {
  const auto& [arrays, scalars] = call;
  const gemm::Epilogue epilogue = take(gemm::Epilogue::parse(scalars.epilogue));
  const TensorView &a = arrays.a.view, &b = arrays.b.view;
  const gemm::View types = types_of(a.dtype, b.dtype);
  if (arrays.c && scalars.beta == 0)
    raise(ErrorCode::invalid_input, "c: it is added beta times, and beta is 0; give beta, or no c");
  gemm::Arguments arguments{
      .a = a,
      .b = b,
      .out = arrays.out ? arrays.out->view : new_output(a, b, types.out, epilogue),
      .c = std::nullopt,
      .accumulate = scalars.accumulate.value_or(types.accumulate),
      .alpha = scalars.alpha,
      .beta = scalars.beta,
      .epilogue = scalars.epilogue,
      .epilogue_operands = {},
      .constant = scalars.constant};
  if (arrays.c) arguments.c = arrays.c->view;
  for (const auto& [step, array] : arrays.of_epilogue)
    arguments.epilogue_operands[step] = array.view;
  Problem problem = take(gemm::problem(arguments));
  if (arrays.out) {
    check_apart(*arrays.out, arrays.a, "a");
    check_apart(*arrays.out, arrays.b, "b");
    if (arrays.c) check_apart(*arrays.out, *arrays.c, "c");
    for (const auto& [step, array] : arrays.of_epilogue) check_apart(*arrays.out, array, step);
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
