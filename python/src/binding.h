#pragma once

#include <pybind11/pybind11.h>

namespace assay::python {

// Objects come from this module's functions alone. pybind11 would let Class.__new__ make one around
// memory that nobody has filled.
inline void forbid_new(const pybind11::object& type) {
  auto* of = reinterpret_cast<PyTypeObject*>(type.ptr());
  of->tp_new = nullptr;
  PyType_Modified(of);
}

}  // namespace assay::python
