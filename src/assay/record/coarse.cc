#include "assay/record/coarse.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace assay {
namespace {

// How far the root of the mean of so many squares may be above its expectation by chance: one in
// e^20. The bound of Laurent and Massart (Adaptive estimation of a quadratic functional by model
// selection, Annals of Statistics 28(5), 2000, lemma 1) for a third of the elements, since the
// square of a sum's error varies three times as much as that of a normal number: partial sums are
// random walks, whose energy differs from one to the next.
double by_chance(std::int64_t elements) {
  constexpr double kNats = 20, kShare = 3;
  const double count = std::max(1.0, static_cast<double>(elements) / kShare);
  return std::sqrt(1 + 2 * std::sqrt(kNats / count) + 2 * kNats / count);
}

RmsError median(std::vector<RmsError> errors) {
  if (errors.empty()) return {};
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::ranges::nth_element(errors, middle, {}, &RmsError::rms);
  return *middle;
}

std::optional<std::string> beyond(const RmsError& error, double plain, double of_stock,
                                  const char* where) {
  const double most = std::max(plain, of_stock) * by_chance(error.elements);
  if (error.elements == 0 || error.rms <= most) return std::nullopt;
  return fmt::format(
      "coarse_arithmetic: its root mean square error {} is {:.3g} times that of sums term by term "
      "in the declared accumulate type, and at most {:.3g} is right: it stores or multiplies in "
      "fewer bits than it says",
      where, error.rms, most);
}

}  // namespace

StockErrors stock_errors(const std::vector<const KernelOutcome*>& kernels) {
  std::vector<RmsError> ordinary, wide;
  for (const KernelOutcome* kernel : kernels) {
    if (kernel->role != KernelRole::stock || !kernel->proof || !kernel->proof->right) continue;
    if (kernel->proof->ordinary_lines.elements > 0)
      ordinary.push_back(kernel->proof->ordinary_lines);
    if (kernel->proof->wide_lines.elements > 0) wide.push_back(kernel->proof->wide_lines);
  }
  return {median(std::move(ordinary)), median(std::move(wide))};
}

std::optional<std::string> coarse_arithmetic(const ProofSummary& proof, const StockErrors& stock,
                                             bool on_gpu) {
  if (on_gpu && stock.ordinary.elements == 0) return std::nullopt;
  const bool normwise = proof.error_bound == ErrorBound::normwise;
  const double of_stock = on_gpu ? kMostOfStock : kMostOfStockOnCores;
  if (auto said = beyond(proof.ordinary_lines, normwise ? kMostOrdinaryNormwise : kMostOrdinary,
                         of_stock * stock.ordinary.rms,
                         normwise ? "on uniform inputs, normwise," : "on uniform inputs"))
    return said;
  if (normwise) return std::nullopt;
  return beyond(proof.wide_lines, kMostWide, of_stock * stock.wide.rms,
                "where few terms of a line count");
}

std::string normwise_advice() {
  return "; wrong elementwise, and within the normwise bound: declare "
         "`error: normwise` if that is what it promises";
}

}  // namespace assay
