#pragma once

// Elements of each type in the sources that FirstKernel writes: how they are declared, read and
// stored.

#include <set>
#include <string>
#include <string_view>

#include "assay/op/first_kernel.h"
#include "assay/tensor/dtype.h"

namespace assay {

// How elements of a type are written down, read and stored.
struct ElementType {
  DType dtype;
  std::string_view plain, device;  // Types of C and of CUDA.
  std::string_view sum;            // The type of sums of its products.
  std::string_view load, store;    // Functions around an element; empty: none.
};
// Null for types that a naive body does not do.
const ElementType* find_element_type(DType dtype);

// `value` in a call of the function, or bare where there is none.
std::string call_text(std::string_view function, const std::string& value);

// What a source begins with: its #includes, and the functions of these names. Empty names are none.
std::string includes_and_functions(SourceLanguage language, std::set<std::string_view> used);

}  // namespace assay
