#pragma once

// Arrays of other libraries, read where they lie: by DLPack, and where an exporter cannot say
// "read-only" in it, by Python's buffer protocol.

#include <memory>
#include <string_view>

#include <pybind11/pybind11.h>

#include "assay/tensor/view.h"

namespace assay::python {

enum class Use : uint8_t { read, write };

struct Array {
  TensorView view;
  std::shared_ptr<const void> owner;  // Gives the memory back, whichever thread lets go of it.
};

// What has __dlpack__, or a DLPack capsule (dltensor, dltensor_versioned), which is used up. Arrays
// of ml_dtypes' bfloat16, which DLPack of NumPy refuses, are read by their bits.
// Errors begin with the role. Not an array: TypeError. Not on the CPU, a type without a DType, not
// aligned to its elements, read-only where it is to be written: Failure.
Array read_array(pybind11::handle object, std::string_view role, Use use);

}  // namespace assay::python
