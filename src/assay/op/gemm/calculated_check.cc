#include "assay/op/gemm/calculated_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/base/random.h"
#include "assay/op/gemm/calculated_epilogue.h"
#include "assay/op/gemm/judge.h"
#include "assay/op/gemm/methods.h"
#include "assay/op/gemm/renewal.h"

namespace assay::gemm {
namespace {

// Vectors of signs that a look multiplies rows by: one that misses an error by chance is one of so
// many, and the panel that they are multiplied in has room for 64.
constexpr int64_t kSigns = 8;

Calculator::Rule rule_of(const Judge& judge, int64_t batch) {
  const Base& base = judge.base;
  const View& v = base.view;
  const Budget& budget = judge.budgets[static_cast<size_t>(batch)];
  return {.alpha = v.alpha,
          .beta = v.has_c ? v.beta : 0,
          .exact = judge.exact,
          .exact_step = base.inputs.limits.quantum / 2,
          .growth = budget.growth,
          .rounding = budget.rounding,
          .underflow = budget.underflow,
          .min_normal = budget.min_normal,
          .split = judge.exact ? 0 : base.plain.split,
          .plain = base.plain.ordinary,
          .last = base.plain.rounding};
}

// What a calculator found in rows `first`, `first + step`, ... of a batch's out, or columns.
struct Where {
  int64_t batch = 0, first = 0, step = 1;
  bool transposed = false;

  Judge::Place place(int64_t row, int64_t column) const {
    row = first + row * step;
    return transposed ? Judge::Place{batch, column, row} : Judge::Place{batch, row, column};
  }
};

void add(Judge& judge, const Calculator::Comparison& found, const Where& where, int64_t elements) {
  if (found.first && judge.check.wrong == 0) {
    // Said as it is said of what was compared here.
    const Calculator::Element& e = *found.first;
    const Judge::Place place = where.place(e.row, e.column);
    judge.element(place, e.got, e.product, e.magnitude, e.addend);
    if (judge.check.wrong == 0)
      judge.wrong(fmt::format("out[{},{},{}] = {:.17g} is just outside of what is right",
                              place.batch, place.row, place.column, e.got));
    judge.check.compared -= 1;
    judge.check.wrong -= 1;
  }
  judge.check.wrong += found.wrong;
  judge.check.compared += elements;
  judge.ordinary.add({found.squared, found.squared_errors, found.plain_squares});
  judge.check.max_error = std::max(judge.check.max_error, found.largest_error);
  judge.check.smallest_visible = std::max(judge.check.smallest_visible, found.largest_unit);
  judge.sum_of_errors =
      std::min(judge.sum_of_errors + found.sum_of_errors, std::numeric_limits<double>::max());
}

Result<std::vector<double>> read_doubles(Calculator& calculator, const Calculator::Memory& memory,
                                         int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  ASSAY_TRY(calculator.read(memory.data(), std::as_writable_bytes(std::span(values))));
  return values;
}

}  // namespace

// Of one batch; where that is looked at along columns, everything transposed.
struct CalculatedCheck::Sides {
  Calculator::Matrix left, right, out, c;  // c.data is null where there is none.
  bool transposed = false;
};

CalculatedCheck::Sides CalculatedCheck::sides_of(const Base& base, const Held& held,
                                                 const void* output, int64_t batch) {
  const View& v = base.view;
  const auto a = batch_of(matrix_a(v), held.a->data(), batch),
             b = batch_of(matrix_b(v), held.b->data(), batch),
             out = batch_of(matrix_out(v), output, batch);
  const auto c = v.has_c ? batch_of(matrix_c(v), held.c->data(), batch) : Calculator::Matrix{};
  if (!looks_along_columns(base.problem)) return {a, b, out, c, false};
  return {b.transposed(), a.transposed(), out.transposed(), c.transposed(), true};
}

Result<CalculatedCheck::Held> CalculatedCheck::hold(Calculator& calculator,
                                                    const OwnInputs& inputs) {
  if (held_.a) return held_;
  Held held;
  ASSAY_TRY(held.a, calculator.keep(inputs.a));
  ASSAY_TRY(held.b, calculator.keep(inputs.b));
  ASSAY_TRY(held.c, calculator.keep(inputs.c));
  if (calculator.has_room()) held_ = held;
  return held;
}

Status CalculatedCheck::hold_products(Calculator& calculator, const Base& base, Held& held) {
  if (!held.products.empty()) return {};
  for (int64_t l = 0; l < base.view.l; ++l) {
    ASSAY_TRY(auto product, multiply(calculator, base, held, l));
    held.products.push_back(std::move(product));
  }
  if (held_.a && calculator.has_room()) held_.products = held.products;
  return {};
}

Status CalculatedCheck::prepare(Calculator& calculator, const Base& base, const OwnInputs& inputs) {
  const std::lock_guard lock(mutex_);
  ASSAY_TRY(Held held, hold(calculator, inputs));
  // What there is no room for would be worked out twice.
  const bool whole = base.epilogue.empty() && held_.a && calculator.has_room();
  return whole ? hold_products(calculator, base, held) : Status();
}

// What the calculator makes from the seeds. Constants stay, with what is made of them, while there
// is room.
Result<CalculatedCheck::Held> CalculatedCheck::hold_renewed(Calculator& calculator,
                                                            const Base& base,
                                                            const InputSeeds& seeds,
                                                            bool projects) {
  if (!calculator.has_room()) sets_.clear();
  const auto kept = sets_.find(seeds.set);
  Held held = kept == sets_.end() ? Held{} : kept->second;
  Held constant = held;
  const auto operands = base.problem.operands();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].access == Access::write) continue;
    const std::string& role = operands[i].role;
    if (role != "a" && role != "b" && role != "c") continue;  // An epilogue's, made in parts.
    Memory Held::*which = role == "a" ? &Held::a : role == "b" ? &Held::b : &Held::c;
    if (held.*which) continue;
    ASSAY_TRY(held.*which, calculator.renew(renewal_of(base.problem, i, seeds),
                                            static_cast<size_t>(operands[i].span_bytes)));
    if (!varies(operands[i])) constant.*which = held.*which;
  }
  if (projects && held.images.empty()) {
    ASSAY_TRY(make_images(calculator, base, held));
    const bool along_columns = looks_along_columns(base.problem);
    if (!varies(*base.problem.find_operand(along_columns ? "a" : "b"))) {
      constant.signs = held.signs;
      constant.images = held.images;
    }
  }
  if (base.problem.has_constant() && calculator.has_room()) sets_[seeds.set] = std::move(constant);
  return held;
}

Result<Check> CalculatedCheck::check(Calculator& calculator, const Base& base,
                                     const OwnInputs& inputs, const void* output,
                                     const InputSeeds& seeds, ErrorBound bound) {
  const std::lock_guard lock(mutex_);
  const View& v = base.view;
  Judge judge{base, seeds.renewed() ? !info(v.out).floating : base.inputs.exact, bound,
              budgets_of(base, bound, inputs, seeds)};
  if (!base.epilogue.empty()) {
    ASSAY_TRY(const Held held, seeds.renewed() ? hold_renewed(calculator, base, seeds, false)
                                               : hold(calculator, inputs));
    return check_epilogue_on(
        calculator, {held.a->data(), held.b->data(), v.has_c ? held.c->data() : nullptr, output},
        inputs, seeds, std::move(judge));
  }
  if (!seeds.renewed()) {
    ASSAY_TRY(Held held, hold(calculator, inputs));
    ASSAY_TRY(hold_products(calculator, base, held));
    return whole(calculator, held, output, std::move(judge));
  }
  const double multiplications = static_cast<double>(v.l) * static_cast<double>(v.m) *
                                 static_cast<double>(v.n) * static_cast<double>(v.k);
  const bool all = multiplications <= calculator.multiplications_of_a_look();
  ASSAY_TRY(const Held held, hold_renewed(calculator, base, seeds, !all));
  return all ? whole(calculator, held, output, std::move(judge))
             : sampled(calculator, held, output, seeds, std::move(judge));
}

Result<Calculator::Product> CalculatedCheck::multiply(Calculator& calculator, const Base& base,
                                                      const Held& held, int64_t batch) {
  const View& v = base.view;
  return calculator.multiply(batch_of(matrix_a(v), held.a->data(), batch),
                             batch_of(matrix_b(v), held.b->data(), batch));
}

Result<Check> CalculatedCheck::whole(Calculator& calculator, const Held& held, const void* output,
                                     Judge judge) {
  const Base& base = judge.base;
  const View& v = base.view;
  for (int64_t l = 0; l < v.l; ++l) {
    Calculator::Product product;
    if (held.products.empty()) {
      ASSAY_TRY(product, multiply(calculator, base, held, l));
    } else {
      product = held.products[static_cast<size_t>(l)];
    }
    const Calculator::Matrix out = batch_of(matrix_out(v), output, l);
    const Calculator::Matrix c = v.has_c ? batch_of(matrix_c(v), held.c->data(), l) : out;
    ASSAY_TRY(const auto found,
              calculator.compare(out, product, v.has_c ? &c : nullptr, rule_of(judge, l)));
    add(judge, found, {.batch = l}, v.m * v.n);
  }
  return judge.conclude(v.l * v.m * v.n,
                        std::string(judge.exact ? method::kEveryBit : method::kEvery));
}

// One pass over the rows from a random one on, so that no tile of them is left out; and all.
Result<Check> CalculatedCheck::sampled(Calculator& calculator, const Held& held, const void* output,
                                       const InputSeeds& seeds, Judge judge) {
  constexpr double kLeastRows = 64;  // A panel's: fewer cost as much.
  const Base& base = judge.base;
  const View& v = base.view;
  const CounterRandom random{
      seed_from(fmt::format("look {} {} {}", base.seed, seeds.set, seeds.launch)), 0};
  for (int64_t l = 0; l < v.l; ++l) {
    const Sides sides = sides_of(base, held, output, l);
    const double of_a_row = static_cast<double>(v.l) * static_cast<double>(v.k) *
                            static_cast<double>(sides.right.columns);
    const double wanted =
        std::max(kLeastRows, calculator.multiplications_of_a_look() / 2 / of_a_row);
    const auto step =
        std::max(int64_t{1}, static_cast<int64_t>(static_cast<double>(sides.left.rows) / wanted));
    const auto first = static_cast<int64_t>(
        random.below(static_cast<uint64_t>(l),
                     static_cast<uint64_t>(std::min(step, std::max(sides.left.rows, int64_t{1})))));
    const auto out = sides.out.every(first, step), c = sides.c.every(first, step);
    ASSAY_TRY(const auto product, calculator.multiply(sides.left.every(first, step), sides.right));
    ASSAY_TRY(const auto found,
              calculator.compare(out, product, v.has_c ? &c : nullptr, rule_of(judge, l)));
    add(judge, found, {l, first, step, sides.transposed}, out.rows * out.columns);
    ASSAY_TRY(project(calculator, sides, held, l, judge));
  }
  return judge.conclude(v.l * v.m * v.n,
                        fmt::format(method::kProjections, judge.check.compared,
                                    looks_along_columns(base.problem) ? "column" : "row", kSigns));
}

// signs: columns of out x kSigns, of 1 and -1. images: k x (kSigns + 1) in float64: right times the
// signs, and last the sums of |right| over its columns.
Status CalculatedCheck::make_images(Calculator& calculator, const Base& base, Held& held) {
  const View& v = base.view;
  const int64_t columns = looks_along_columns(base.problem) ? v.m : v.n;
  const CounterRandom random{seed_from(fmt::format("projection {}", base.seed)), 0x7369676e};
  std::vector<int8_t> signs(static_cast<size_t>(columns * kSigns));
  for (size_t i = 0; i < signs.size(); ++i) signs[i] = random.bits(i) & 1 ? -1 : 1;
  ASSAY_TRY(held.signs, calculator.keep(std::as_bytes(std::span(signs))));
  const Calculator::Matrix factors{held.signs->data(), DType::s8, columns, kSigns, kSigns, 1};
  std::vector<Memory> images;
  for (int64_t l = 0; l < v.l; ++l) {
    const Sides sides = sides_of(base, held, nullptr, l);
    ASSAY_TRY(const auto made, calculator.multiply(sides.right, factors));
    ASSAY_TRY(const auto image, read_doubles(calculator, *made.product, v.k * kSigns));
    ASSAY_TRY(const auto sizes, read_doubles(calculator, *made.magnitude, v.k * kSigns));
    std::vector<double> joined;
    for (int64_t p = 0; p < v.k; ++p) {
      const auto at = static_cast<size_t>(p * kSigns);
      for (size_t s = 0; s < kSigns; ++s) joined.push_back(image[at + s]);
      joined.push_back(sizes[at]);
    }
    ASSAY_TRY(auto kept, calculator.keep(std::as_bytes(std::span(joined))));
    images.push_back(std::move(kept));
  }
  held.images = std::move(images);
  return {};
}

Status CalculatedCheck::project(Calculator& calculator, const Sides& sides, const Held& held,
                                int64_t batch, Judge& judge) {
  const View& v = judge.base.view;
  const int64_t rows = sides.out.rows, columns = sides.out.columns;
  const Calculator::Matrix signs{held.signs->data(), DType::s8, columns, kSigns, kSigns, 1};
  const Calculator::Matrix image{
      held.images[static_cast<size_t>(batch)]->data(), DType::f64, v.k, kSigns + 1, kSigns + 1, 1};
  ASSAY_TRY(const auto expected, calculator.multiply(sides.left, image));
  ASSAY_TRY(const auto seen, calculator.multiply(sides.out, signs));
  ASSAY_TRY(const auto products, read_doubles(calculator, *expected.product, rows * (kSigns + 1)));
  // The last column is a sum of sizes, of which those of `left` count too.
  ASSAY_TRY(const auto bounds, read_doubles(calculator, *expected.magnitude, rows * (kSigns + 1)));
  ASSAY_TRY(const auto got, read_doubles(calculator, *seen.product, rows * kSigns));
  ASSAY_TRY(const auto sizes, read_doubles(calculator, *seen.magnitude, rows * kSigns));
  std::vector<double> addends(got.size()), weights(got.size());
  if (v.has_c) {
    ASSAY_TRY(const auto added, calculator.multiply(sides.c, signs));
    ASSAY_TRY(addends, read_doubles(calculator, *added.product, rows * kSigns));
    ASSAY_TRY(weights, read_doubles(calculator, *added.magnitude, rows * kSigns));
  }
  const bool integers = judge.exact;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t s = 0; s < kSigns; ++s) {
      const auto at = static_cast<size_t>(i * kSigns + s),
                 wide = static_cast<size_t>(i * (kSigns + 1) + s);
      const RowSums sums{.got = got[at],
                         .size = sizes[at],
                         .addend = addends[at],
                         .weight = weights[at],
                         .product = products[wide],
                         .bound = bounds[static_cast<size_t>(i * (kSigns + 1) + kSigns)]};
      if (integers && std::fabs(v.alpha) * sums.bound + std::fabs(v.beta) * sums.weight > 0x1p52)
        return fail(ErrorCode::unsupported, "sums of these integers are not exact in float64");
      const int64_t before = judge.check.wrong;
      judge_row(judge, sums, batch * rows + i);
      if (judge.check.wrong > before) break;  // A row is wrong once.
    }
  }
  return {};
}

}  // namespace assay::gemm
