#pragma once

// A problem's calls as C++ text, for kernels that leave as the call of a library.

#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/op/gemm/gemm.h"

namespace assay::gemm {

// As the text spells them: "float", "std::uint16_t".
struct SourceTypes {
  std::string_view in, out;
};

// Opens a loop in which `a`, `b` and `out` point to batch `l`, and copies c to out where there is
// one, because BLAS adds to what is there. The caller closes it.
std::string batches_source(const Problem& problem, const View& view, const SourceTypes& types);

// The declaration of cblas_<routine>, and an unnamed namespace with run_kernel(void* const* data)
// that calls it once for each batch. Strides that the interface cannot say are an internal error.
Result<std::string> cblas_gemm_source(std::string_view routine, const Problem& problem,
                                      const SourceTypes& types);

}  // namespace assay::gemm
