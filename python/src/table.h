#pragma once

// Tuned tables: which kernel for these arrays, decided by a sweep.

#include <pybind11/pybind11.h>

namespace assay::python {

void bind_table(pybind11::module_& module);

}  // namespace assay::python
