#include "assay/op/gemm/epilogue.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "assay/base/choices.h"
#include "assay/base/text.h"

namespace assay::gemm {
namespace {

using Kind = EpilogueStep::Kind;

// In the order of Kind.
constexpr std::array<std::string_view, 17> kNames = {"bias",
                                                     "row_bias",
                                                     "residual",
                                                     "scale",
                                                     "column_scale",
                                                     "row_scale",
                                                     "relu",
                                                     "gelu",
                                                     "gelu_tanh",
                                                     "silu",
                                                     "clamp",
                                                     "swiglu",
                                                     "geglu",
                                                     "geglu_tanh",
                                                     "swiglu_interleaved",
                                                     "geglu_interleaved",
                                                     "geglu_tanh_interleaved"};
constexpr std::string_view kClamp = "clamp:LOW:HIGH";

std::optional<double> read_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

Result<EpilogueStep> read_step(std::string_view text) {
  const auto parts = split(text, ':');
  const auto found = std::ranges::find(kNames, parts.front());
  if (found == kNames.end()) {
    const std::vector<std::string> known(kNames.begin(), kNames.end());
    return fail(ErrorCode::invalid_input,
                "the epilogue step '{}' has no reference, so no kernel could be proven right with "
                "it{}",
                sanitize(text, 60),
                did_you_mean(parts.front(), known, "steps that have one: " + join(known, ", ")));
  }
  EpilogueStep step{.kind = static_cast<Kind>(found - kNames.begin())};
  if (step.kind != Kind::clamp) {
    if (parts.size() == 1) return step;
    return fail(ErrorCode::invalid_input, "the epilogue step '{}' takes no numbers: write {}",
                sanitize(text, 60), step.name());
  }
  const auto low = parts.size() == 3 ? read_number(parts[1]) : std::nullopt;
  const auto high = parts.size() == 3 ? read_number(parts[2]) : std::nullopt;
  if (!low || !high || *low >= *high) {
    return fail(ErrorCode::invalid_input,
                "the epilogue step '{}' is no {} with LOW below HIGH, such as clamp:0:6",
                sanitize(text, 60), kClamp);
  }
  step.low = *low == 0 ? 0 : *low;  // Not -0.
  step.high = *high;
  return step;
}

Function function_of(Kind kind) {
  switch (kind) {
    case Kind::gelu:
    case Kind::geglu:
    case Kind::geglu_interleaved:
      return Function::gelu;
    case Kind::gelu_tanh:
    case Kind::geglu_tanh:
    case Kind::geglu_tanh_interleaved:
      return Function::gelu_tanh;
    default:
      return Function::silu;
  }
}

// Steps of one element.
class Chain {
 public:
  Chain(const Epilogue& epilogue, const EpilogueOperands& operands, const Arithmetic& arithmetic,
        int64_t batch, int64_t row)
      : epilogue_(epilogue),
        operands_(operands),
        arithmetic_(arithmetic),
        batch_(batch),
        row_(row) {}

  Approximate run(std::span<const Approximate> sums, int64_t column, const View& view) const {
    const auto steps = epilogue_.steps();
    const EpilogueStep* gate = epilogue_.gate();
    const size_t ahead = gate == nullptr ? steps.size() : static_cast<size_t>(gate - steps.data());
    const auto columns = epilogue_.columns(column, view.n);
    Approximate x = through(sums[0], 0, ahead, gate == nullptr ? column : columns[0]);
    if (gate == nullptr) return x;
    const Approximate up = through(sums[1], 0, ahead, columns[1]);
    return through(arithmetic_.product(arithmetic_.function(x, function_of(gate->kind)), up),
                   ahead + 1, steps.size(), column);
  }

 private:
  Approximate through(Approximate x, size_t first, size_t last, int64_t column) const {
    for (size_t i = first; i < last; ++i) x = step(x, i, column);
    return x;
  }

  Approximate step(const Approximate& x, size_t index, int64_t column) const {
    const EpilogueStep& what = epilogue_.steps()[index];
    if (what.has_operand()) {
      const Approximate other{.value = operands_.at(index, batch_, row_, column), .exact = x.exact};
      return what.is_addend() ? arithmetic_.sum(x, other) : arithmetic_.product(x, other);
    }
    if (what.kind == Kind::relu) return arithmetic_.relu(x);
    if (what.kind == Kind::clamp) return arithmetic_.clamp(x, what.low, what.high);
    return arithmetic_.function(x, function_of(what.kind));
  }

  const Epilogue& epilogue_;
  const EpilogueOperands& operands_;
  const Arithmetic& arithmetic_;
  int64_t batch_, row_;
};

}  // namespace

std::string_view EpilogueStep::name() const { return kNames[static_cast<size_t>(kind)]; }

std::span<const std::string_view> Epilogue::step_names() { return kNames; }

std::span<const std::string_view> Epilogue::names_without_gates() {
  return std::span(kNames).first(static_cast<size_t>(Kind::swiglu));
}

std::span<const std::string_view> Epilogue::operand_names() {
  return std::span(kNames).first(static_cast<size_t>(Kind::row_scale) + 1);
}

Result<Epilogue> Epilogue::parse(std::string_view text) {
  Epilogue made;
  if (text.empty()) return made;
  // A number's plus, in 1e+16, parts no steps.
  constexpr auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string plain(text);
  for (size_t at = 1; at + 2 < plain.size(); ++at)
    if (plain.compare(at, 2, "e+") == 0 && is_digit(plain[at - 1]) && is_digit(plain[at + 2]))
      plain.erase(at + 1, 1);
  for (const std::string_view part : split(plain, '+')) {
    ASSAY_TRY(const EpilogueStep step, read_step(part));
    if (made.steps_.size() == kMostSteps)
      return fail(ErrorCode::invalid_input, "the epilogue '{}' has more than {} steps",
                  sanitize(text, 60), kMostSteps);
    for (const EpilogueStep& before : made.steps_) {
      if (step.has_operand() && before.kind == step.kind)
        return fail(ErrorCode::invalid_input,
                    "the epilogue '{}' has the step {} twice, but there is one operand of that "
                    "name",
                    sanitize(text, 60), step.name());
      if (step.is_gate() && before.is_gate())
        return fail(ErrorCode::invalid_input, "the epilogue '{}' has two gates",
                    sanitize(text, 60));
    }
    made.steps_.push_back(step);
  }
  return made;
}

std::string Epilogue::text() const {
  std::string text;
  for (const EpilogueStep& step : steps_) {
    if (!text.empty()) text += '+';
    text += step.name();
    if (step.kind == Kind::clamp)
      for (const double bound : {step.low, step.high}) {
        text += fmt::format(":{}", bound);
        if (const size_t sign = text.rfind("e+");
            sign != std::string::npos && sign > text.rfind(':'))
          text.erase(sign + 1, 1);  // A plus parts steps.
      }
  }
  return text;
}

Epilogue Epilogue::first(size_t count) const {
  Epilogue made = *this;
  made.steps_.resize(std::min(count, steps_.size()));
  return made;
}

const EpilogueStep* Epilogue::gate() const {
  const auto found = std::ranges::find_if(steps_, &EpilogueStep::is_gate);
  return found == steps_.end() ? nullptr : &*found;
}

std::array<int64_t, 2> Epilogue::columns(int64_t column, int64_t n) const {
  const EpilogueStep* found = gate();
  if (found == nullptr) return {column, column};
  if (found->is_interleaved()) return {2 * column, 2 * column + 1};
  return {column, n / 2 + column};
}

bool Epilogue::keeps_integers() const {
  return std::ranges::all_of(steps_, &EpilogueStep::keeps_integers);
}

double Epilogue::largest(double sum) const {
  for (const EpilogueStep& step : steps_) {
    if (step.is_addend()) sum += 1;
    if (step.kind == Kind::clamp)
      sum = std::min(sum, std::max(std::fabs(step.low), std::fabs(step.high)));
    if (step.is_gate()) sum *= sum;
  }
  return sum;
}

double Epilogue::flops() const {
  double flops = 0, columns = gate() == nullptr ? 1 : 2;
  for (const EpilogueStep& step : steps_) {
    const bool plain = step.has_operand() || step.kind == Kind::relu;
    if (step.is_gate()) columns = 1;
    flops += columns * (plain ? 1 : step.kind == Kind::clamp ? 2 : step.is_gate() ? 9 : 8);
  }
  return flops;
}

Result<Epilogue> epilogue_of(const Problem& problem) {
  const auto found = problem.attributes().find("epilogue");
  const std::string* text =
      found == problem.attributes().end() ? nullptr : std::get_if<std::string>(&found->second);
  return Epilogue::parse(text == nullptr ? std::string_view() : std::string_view(*text));
}

Matrix dense_epilogue_matrix(const EpilogueStep& step, DType dtype, const View& v, bool gated) {
  const int64_t columns = gated ? v.out_columns : v.n;
  Matrix matrix{nullptr, dtype, v.l, v.m, columns, 0, 0, 0};
  if (step.kind == Kind::bias || step.kind == Kind::column_scale) matrix.column_stride = 1;
  if (step.kind == Kind::row_bias || step.kind == Kind::row_scale) matrix.row_stride = 1;
  if (step.kind == Kind::residual) {
    matrix.batch_stride = v.m * columns;
    matrix.row_stride = columns;
    matrix.column_stride = 1;
  }
  return matrix;
}

Matrix epilogue_matrix(const EpilogueStep& step, const Operand& operand, const View& view,
                       bool gated) {
  Matrix matrix = dense_epilogue_matrix(step, operand.dtype, view, gated);
  if (step.kind == EpilogueStep::Kind::residual) {
    matrix.batch_stride = operand.strides[0];
    matrix.row_stride = operand.strides[1];
    matrix.column_stride = operand.strides[2];
  }
  return matrix;
}

Arithmetic arithmetic_of(const View& view) {
  constexpr double kKappaSquare = 0.18;  // See plain_order.h.
  const double u = info(view.out).floating ? epsilon(view.accumulate) / 2 : 0;
  const double reference = view.accumulate == DType::f64 ? 2 : 1;
  return {.unit = reference * u, .square = kKappaSquare * u * u * reference * reference};
}

Approximate apply(const Epilogue& epilogue, const EpilogueOperands& operands,
                  const Arithmetic& arithmetic, std::span<const Approximate> sums, int64_t batch,
                  int64_t row, int64_t column, const View& view) {
  return Chain(epilogue, operands, arithmetic, batch, row).run(sums, column, view);
}

double apply(const Epilogue& epilogue, const EpilogueOperands& operands,
             std::span<const double> sums, int64_t batch, int64_t row, int64_t column,
             const View& view) {
  std::array<Approximate, 2> values{};
  if (epilogue.empty()) return sums[0];
  for (size_t i = 0; i < std::min(sums.size(), values.size()); ++i) values[i].value = sums[i];
  return apply(epilogue, operands, Arithmetic(), values, batch, row, column, view).value;
}

}  // namespace assay::gemm
