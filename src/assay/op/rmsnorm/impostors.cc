#include "assay/op/rmsnorm/impostors.h"

#include <cmath>
#include <iterator>
#include <vector>

#include "assay/op/outputs.h"

namespace assay::rmsnorm {
namespace {

constexpr std::string_view kNames[] = {"zeros",     "copy of x",   "no weight",     "no root",
                                       "no mean",   "no epsilon",  "root of row 0", "half of a row",
                                       "bf16 sums", "no residual", "old residual"};
enum Which : size_t {
  kZeros,
  kCopyOfX,
  kNoWeight,
  kNoRoot,
  kNoMean,
  kNoEpsilon,
  kRootOfFirst,
  kHalf,
  kNarrow,
  kNoResidual,
  kOldResidual
};

class Pretender {
 public:
  Pretender(const View& view, const Instance& instance, std::span<std::byte> output)
      : v_(view),
        x_(instance.input(kX)),
        residual_(instance.input(kResidual)),
        out_(output),
        places_(OutputPlaces::of(instance.problem()).places),
        row_(static_cast<size_t>(view.n)),
        added_(row_.size()),
        weights_(row_.size()) {
    convert_to_double(v_.w, instance.input(kW).data(), v_.n, weights_.data());
  }

  bool pretend(Which which) {
    if (!tells(which)) return false;
    for (int64_t i = 0; i < v_.m; ++i) {
      load(which, which == kRootOfFirst ? 0 : i);
      const double root = root_of(which);
      load(which, i);
      if (v_.adds) write_back(which, i);
      for (size_t j = 0; j < row_.size(); ++j) {
        if (which == kZeros) row_[j] = 0;
        const bool weighs = which != kNoWeight && which != kCopyOfX;
        row_[j] = row_[j] * root * (weighs ? weights_[j] : 1);
      }
      convert_from_double(v_.out, row_.data(), v_.n,
                          out_.data() + i * v_.out_m * size_bytes(v_.out));
    }
    return true;
  }

 private:
  // Whether it is wrong by what it does.
  bool tells(Which which) const {
    constexpr int64_t kEnough = 512;  // Sums that are past what bf16 adds a square to.
    if (which == kRootOfFirst) return v_.m > 1;
    if (which == kNoMean || which == kHalf) return v_.n > 1;
    if (which == kNarrow) return v_.n >= kEnough;
    if (which == kNoResidual || which == kOldResidual) return v_.adds;
    return true;
  }

  void load(Which which, int64_t i) {
    convert_to_double(v_.x, x_.data() + i * v_.x_m * size_bytes(v_.x), v_.n, row_.data());
    if (!v_.adds) return;
    convert_to_double(v_.residual, residual_.data() + i * v_.residual_m * size_bytes(v_.residual),
                      v_.n, added_.data());
    if (which == kNoResidual) return;
    for (size_t j = 0; j < row_.size(); ++j) row_[j] += added_[j];
  }

  void write_back(Which which, int64_t i) {
    if (which == kNoResidual)
      for (size_t j = 0; j < row_.size(); ++j) added_[j] += row_[j];
    convert_from_double(
        v_.residual, (which == kNoResidual || which == kOldResidual ? added_ : row_).data(), v_.n,
        out_.data() + places_[1].offset +
            static_cast<size_t>(i * v_.residual_m * size_bytes(v_.residual)));
  }

  double root_of(Which which) const {
    if (which == kZeros || which == kCopyOfX || which == kNoRoot) return 1;
    double sum = 0;
    const size_t count = which == kHalf ? row_.size() / 2 : row_.size();
    for (size_t j = 0; j < count; ++j) {
      sum += row_[j] * row_[j];
      if (which == kNarrow) sum = round_to(DType::bf16, sum);
    }
    const double mean = which == kNoMean ? sum : sum / static_cast<double>(v_.n);
    return 1 / std::sqrt(mean + (which == kNoEpsilon ? 0 : v_.epsilon));
  }

  const View& v_;
  std::span<const std::byte> x_, residual_;
  std::span<std::byte> out_;  // All outputs.
  std::vector<OutputPlaces::Place> places_;
  std::vector<double> row_, added_, weights_;
};

}  // namespace

std::span<const std::string_view> impostor_names() { return kNames; }

bool pretend(size_t impostor, const Instance& instance, std::span<std::byte> output) {
  const auto sizes = view(instance.problem());
  return sizes && impostor < std::size(kNames) &&
         Pretender(*sizes, instance, output).pretend(static_cast<Which>(impostor));
}

}  // namespace assay::rmsnorm
