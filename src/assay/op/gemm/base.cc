#include "assay/op/gemm/base.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>

#include "assay/base/random.h"
#include "assay/op/gemm/freivalds.h"
#include "assay/op/gemm/reference.h"

namespace assay::gemm {
namespace {

// Exact inputs are checked as a whole by Freivalds; references there only help to say where.
constexpr double kFullProductsExact = 0x1p24;
constexpr double kMaxReferenced = 0x1p23;  // Elements: 128 MiB of references.
constexpr double kSampleProducts = 0x1p28;
constexpr double kSampleProductsExact = 0x1p24;
// Behind an epilogue no element can be checked but by its own reference: some seconds, and 256 MiB.
constexpr double kFullProductsEpilogue = 0x1p36;
constexpr double kMaxReferencedEpilogue = 0x1p25;

// First, last, special and random indices, `count` of them or all, ascending.
std::vector<int64_t> sample(int64_t size, int64_t count, const std::vector<int64_t>& special,
                            uint64_t seed) {
  std::vector<int64_t> chosen;
  if (count >= size) {
    chosen.resize(static_cast<size_t>(size));
    std::iota(chosen.begin(), chosen.end(), int64_t{0});
    return chosen;
  }
  const auto add = [&](int64_t index) {
    if (static_cast<int64_t>(chosen.size()) < count &&
        std::find(chosen.begin(), chosen.end(), index) == chosen.end())
      chosen.push_back(index);
  };
  for (int64_t index : special) add(index);
  add(size - 1);
  add(0);
  const CounterRandom random{seed, 0x73616d706c65};
  for (uint64_t i = 0; static_cast<int64_t>(chosen.size()) < count; ++i)
    add(static_cast<int64_t>(random.below(i, static_cast<uint64_t>(size))));
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

int64_t affordable(double products, double each, int64_t least, int64_t most) {
  return std::clamp(static_cast<int64_t>(std::min(products / each, 1e6)), least, most);
}

// Those of the product that make these columns of out; ascending.
std::vector<int64_t> product_columns(const Base& base, const std::vector<int64_t>& of_out) {
  if (base.epilogue.gate() == nullptr) return of_out;
  std::vector<int64_t> columns;
  for (const int64_t column : of_out)
    for (const int64_t from : base.epilogue.columns(column, base.view.n)) columns.push_back(from);
  std::sort(columns.begin(), columns.end());
  return columns;
}

// Which parts of out get a reference.
std::vector<Block> choose_blocks(const Base& base, uint64_t seed, bool& full) {
  const View& v = base.view;
  const auto l = static_cast<double>(v.l), m = static_cast<double>(v.m);
  const auto n = static_cast<double>(v.n), k = static_cast<double>(v.k);
  const bool alone = !base.epilogue.empty();  // Each element.
  const bool exact = base.inputs.exact && !alone;
  full =
      l * m * n * k <= (exact ? kFullProductsExact : kFullProducts) && l * m * n <= kMaxReferenced;
  if (alone && base.inputs.exact)
    full = l * m * n * k <= kFullProductsEpilogue && l * m * n <= kMaxReferencedEpilogue;
  const double room = exact ? kSampleProductsExact : kSampleProducts;
  std::vector<Block> blocks;
  const std::vector<int64_t> batches =
      full ? sample(v.l, v.l, {}, seed) : sample(v.l, 4, {base.inputs.batch}, seed);
  const double each = room / static_cast<double>(batches.size());
  for (int64_t batch : batches) {
    const auto& special_rows =
        batch == base.inputs.batch ? base.inputs.rows : std::vector<int64_t>();
    const auto& special_columns =
        batch == base.inputs.batch ? base.inputs.columns : std::vector<int64_t>();
    const auto own_seed = seed + static_cast<uint64_t>(batch);
    Block by_rows;
    by_rows.batch = batch;
    by_rows.rows = sample(v.m, full ? v.m : affordable(each, n * k, 2, exact ? 4 : 24),
                          special_rows, own_seed);
    by_rows.columns = sample(v.n, v.n, {}, 0);
    by_rows.all_rows = static_cast<int64_t>(by_rows.rows.size()) == v.m;
    const bool covered = by_rows.all_rows;
    blocks.push_back(std::move(by_rows));
    if (covered || exact) continue;
    Block by_columns;
    by_columns.batch = batch;
    by_columns.rows = sample(v.m, v.m, {}, 0);
    by_columns.columns = product_columns(
        base, sample(v.out_columns, affordable(each, m * k, 2, 24),
                     base.epilogue.gate() == nullptr ? special_columns : std::vector<int64_t>(),
                     own_seed + 1));
    by_columns.all_columns = static_cast<int64_t>(by_columns.columns.size()) == v.n;
    blocks.push_back(std::move(by_columns));
  }
  return blocks;
}

std::vector<double> row_norms(const Matrix& matrix) {
  std::vector<double> norms(static_cast<size_t>(matrix.batches * matrix.rows));
  for_each_tile_parallel(matrix, [&](int64_t batch, Range rows, Range columns, double* tile) {
    load_tile(matrix, batch, rows, columns, tile);
    for (int64_t i = 0; i < rows.count; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < columns.count; ++j)
        sum += tile[i * columns.count + j] * tile[i * columns.count + j];
      norms[static_cast<size_t>(batch * matrix.rows + rows[i])] += sum;
    }
  });
  for (double& norm : norms) norm = std::sqrt(norm);
  return norms;
}

Reference refer(const Base& base) {
  const View& sizes = base.view;
  const Matrix a = with_data(matrix_a(sizes), base.inputs.a.bytes());
  const Matrix b = with_data(matrix_b(sizes), base.inputs.b.bytes());
  const uint64_t check_seed =
      seed_from(fmt::format("check {} {}", base.problem.signature(), base.seed));
  Reference reference;
  reference.blocks = choose_blocks(base, check_seed, reference.full);
  for (Block& block : reference.blocks) {
    const size_t elements = block.rows.size() * block.columns.size();
    block.product.resize(elements);
    if (!base.inputs.exact) block.magnitude.resize(elements);
    multiply(a, b, block.batch, block.all_rows ? Range::all(sizes.m) : Range::of(block.rows),
             block.all_columns ? Range::all(sizes.n) : Range::of(block.columns),
             block.product.data(), base.inputs.exact ? nullptr : block.magnitude.data());
  }
  if (!base.epilogue.empty()) return reference;
  if (base.inputs.exact) {
    reference.residues = random_residues(sizes.n, check_seed);
    reference.expected = times_residues(a, times_residues(b, reference.residues, 0), sizes.k);
  } else if (!reference.full) {
    reference.row_norms = row_norms(a);
    reference.column_norms = row_norms(b.transposed());
  }
  return reference;
}

}  // namespace

const Reference& Base::reference() const {
  std::call_once(once_, [this] { reference_ = refer(*this); });
  return reference_;
}

Result<std::shared_ptr<const Base>> make_base(const Problem& problem, InputKind kind,
                                              uint64_t seed) try {
  ASSAY_TRY(const View sizes, view(problem));
  ASSAY_TRY(Epilogue epilogue, epilogue_of(problem));
  ASSAY_TRY(Inputs inputs, make_inputs(problem, sizes, kind, seed));
  return std::make_shared<const Base>(problem, sizes, std::move(epilogue), kind, seed,
                                      std::move(inputs));
} catch (const std::bad_alloc&) {
  return fail(ErrorCode::machine, "not enough memory for the inputs of {}", problem.name());
}

}  // namespace assay::gemm
