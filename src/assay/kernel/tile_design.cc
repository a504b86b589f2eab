#include "assay/kernel/tile_design.h"

#include <utility>

namespace assay {
namespace {

constexpr std::array<std::string_view, 7> kIntegerNames = {
    "tile_m", "tile_n", "tile_k", "cluster_m", "cluster_n", "stages", "split_k"};
constexpr std::array<std::string_view, 2> kTextNames = {"schedule", "scheduler"};
constexpr std::string_view kSwapped = "swapped";
// Far beyond any tile: products of three stay far below 2^63.
constexpr int64_t kMost = 1 << 16;

bool mentions(const Value& value, std::string_view one, std::string_view other) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr &&
         (text->find(one) != std::string::npos || text->find(other) != std::string::npos);
}

}  // namespace

void TileReader::look_up(const std::shared_ptr<const DesignAxes>& axes) {
  const auto place = [&](const auto& names, auto& columns) {
    for (size_t i = 0; i < names.size(); ++i) columns[i] = axes->column(names[i]);
  };
  place(kIntegerNames, integers_);
  place(kTextNames, texts_);
  swapped_ = axes->column(kSwapped);
  axes_ = axes;
}

std::string_view TileReader::read(const Design& design, TileDesign& tile) {
  if (!design.axes()) return "its design says nothing of tiles";
  if (design.axes() != axes_) look_up(design.axes());
  const DesignAxes& axes = *axes_;
  const size_t none = axes.columns();
  std::array<int64_t, kIntegers> numbers = {0, 0, 0, 1, 1, 0, 1};
  for (size_t i = 0; i < kIntegers; ++i) {
    if (integers_[i] == none) {
      if (i < 2) return "its design says nothing of tiles";
      continue;
    }
    const auto* number = std::get_if<int64_t>(&axes.value(integers_[i], design.row()));
    const int64_t least = i == 2 || i == 5 || i == 6 ? 0 : 1;
    if (number == nullptr || *number < least || *number > kMost)
      return "its design has a tile, cluster, stage or split that is no such number";
    numbers[i] = *number;
  }
  tile = {numbers[0],
          numbers[1],
          numbers[2],
          numbers[3],
          numbers[4],
          numbers[5],
          numbers[6] == 0 ? 1 : numbers[6]};
  for (const size_t column : texts_) {
    if (column == none) continue;
    const Value& value = axes.value(column, design.row());
    tile.pingpong |= mentions(value, "pingpong", "ping_pong");
    tile.stream_k |= mentions(value, "stream_k", "streamk");
  }
  if (swapped_ == none) return {};
  const auto* swapped = std::get_if<bool>(&axes.value(swapped_, design.row()));
  if (swapped != nullptr && *swapped) {
    std::swap(tile.tile_m, tile.tile_n);
    std::swap(tile.cluster_m, tile.cluster_n);
  }
  return {};
}

}  // namespace assay
