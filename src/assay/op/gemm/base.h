#pragma once

// What an instance and all instances derived from it share: pristine inputs, the reference, and how
// outputs are checked against it. Not for use outside op/gemm.

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "assay/op/gemm/budget.h"
#include "assay/op/gemm/epilogue.h"
#include "assay/op/gemm/inputs.h"
#include "assay/op/gemm/plain_order.h"

namespace assay::gemm {

// Part of one batch of out with its float64 reference: a x b (without alpha and c) and |a| x |b|.
struct Block {
  int64_t batch = 0;
  bool all_rows = true, all_columns = true;
  std::vector<int64_t> rows, columns;  // Ascending; every index where all_ is set.
  std::vector<double> product;         // rows x columns.
  std::vector<double> magnitude;       // Empty for exact inputs.
};

struct Reference {
  bool full = false;  // The blocks are all of out.
  std::vector<Block> blocks;
  // Exact inputs: a random vector and a (b r) by row of out, batch * m + i (freivalds.h).
  std::vector<uint64_t> residues, expected;
  // Sampled inputs: Euclidean norms of rows of a and columns of b, which bound every element
  // (Cauchy and Schwarz), so that garbage between the samples shows.
  std::vector<double> row_norms, column_norms;
};

struct Base {
  Base(Problem asked, const View& sizes, Epilogue steps, InputKind what, uint64_t secret,
       Inputs made)
      : problem(std::move(asked)),
        view(sizes),
        epilogue(std::move(steps)),
        kind(what),
        seed(secret),
        inputs(std::move(made)),
        budget(budget_of(sizes)),
        plain(plain_order(view, inputs)) {}

  Problem problem;
  View view;
  Epilogue epilogue;
  InputKind kind;
  uint64_t seed;  // Of a referee: secret.
  Inputs inputs;
  Budget budget;
  PlainOrder plain;

  // Made when it is first asked for: most of the work of a large problem, and needed by nobody
  // where outputs are compared by a calculator (calculated_check.h).
  const Reference& reference() const;

 private:
  mutable std::once_flag once_;
  mutable Reference reference_;
};

// The bytes are an instance's own, as its kernel got them.
struct OwnInputs {
  std::span<const std::byte> a, b, c;
  std::vector<std::span<const std::byte>> more = {};  // As Inputs::more.
};

// Up to this many products every element is referenced: about 0.2 s on one core.
inline constexpr double kFullProducts = 0x1p30;

Result<std::shared_ptr<const Base>> make_base(const Problem& problem, InputKind kind,
                                              uint64_t seed);

}  // namespace assay::gemm
