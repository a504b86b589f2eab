#include "failure.h"

#include <pybind11/pybind11.h>

namespace assay::python {

namespace py = pybind11;

void translate_failures() {
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    if (!thrown) return;
    try {
      std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
      const py::object error = py::module_::import("assay.errors")
                                   .attr("error_of")(std::string(to_string(failure.error().code)),
                                                     failure.error().message);
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
    }
  });
}

}  // namespace assay::python
