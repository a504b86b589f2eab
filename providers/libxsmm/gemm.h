#pragma once

// The families `gemm` and `tiles`.

#include <memory>

#include "api.h"
#include "assay/op/gemm/matrix.h"

namespace assay::libxsmm {

// sgemm, dgemm: libxsmm_gemm as a caller without a choice has it, for the small problems that it
// does itself.
std::shared_ptr<const Family> make_gemm_family(std::shared_ptr<const Api> api);

// A loop over tiles of b, with code made for them, as the library's own samples have it:
//   tiles: where they lie; tiles_copied: each into dense memory first, transposed or in pairs where
//   the code wants that; tiles_prepared: so copied once, ahead.
std::shared_ptr<const Family> make_tiles_family(std::shared_ptr<const Api> api);

// A problem as the library takes it: row-major is column-major the other way round, so out^T = b^T
// a^T, and the library's a (n x k) is b, which must lie by rows. A column-major out is computed as
// it stands.
struct Matrices {
  gemm::Matrix a, b, out;
  bool swapped = false;  // a is the problem's b, transposed, and the other way round.
};
Matrices matrices_of(const gemm::View& view);

// A rule for these types, without alpha, beta and c.
ProblemRule rule_of(DType in, DType out, bool prepared);

// A sentence unless the matrix is stored by rows, or also by columns if that will do, with lines
// that lie no farther apart than code can say.
void check_matrix(const gemm::Matrix& matrix, const char* role, bool columns_will_do,
                  Refusals& refusals);

}  // namespace assay::libxsmm
