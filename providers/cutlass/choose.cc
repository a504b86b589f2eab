#include "choose.h"

#include <algorithm>
#include <numeric>

namespace assay::cutlass {
namespace {

// Sums that a thread holds: 256 threads of a cooperative pair of warp groups, else 128.
int sums(const Design& design) {
  const int threads = design.schedule.ends_with("cooperative") ? 256 : 128;
  return design.tile_m * design.tile_n / threads;
}

}  // namespace

int preference(const Design& design, const Operands& operands) {
  int points = 0;
  // A builder's own choice is one of the others; one warp group that does everything rarely wins.
  if (design.schedule == "auto") points += 40;
  if (design.schedule == "tma" || design.schedule == "cpasync") points += 16;
  if (design.epilogue == "direct" && design.schedule != "cpasync_cooperative") points += 12;
  if (design.scheduler == "stream_k") points += 3;
  // More than 128 spill, or leave no room for a second tile; fewer than 64 read too much.
  if (sums(design) > 128) points += 32;
  if (sums(design) < 64) points += 6;
  if (design.tile_k != 64) points += 4;
  if (design.tile_m + design.tile_n < 256) points += 4;
  const int cluster = design.cluster_m * design.cluster_n;
  points += cluster == 2 ? (design.cluster_m == 2 ? 0 : 1) : cluster == 1 ? 2 : 2 + cluster;
  if (design.stages != 0) points += 2;
  // What is narrower than it has to be, and what reads a C that is not there, comes last.
  if (operands.alignment_in < 8) points += 64 / operands.alignment_in;
  if (operands.reads_c) points += 100;
  return points;
}

std::vector<bool> choose(std::span<const Candidate> candidates, int64_t most) {
  std::vector<bool> taken(candidates.size(), most < 0);
  if (most < 0) return taken;
  std::vector<std::pair<int, size_t>> order;
  for (size_t i = 0; i < candidates.size(); ++i) {
    taken[i] = candidates[i].ready;
    order.emplace_back(preference(*candidates[i].design, *candidates[i].operands), i);
  }
  const size_t first = std::min(order.size(), static_cast<size_t>(most));
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(first), order.end());
  for (size_t i = 0; i < first; ++i) taken[order[i].second] = true;
  return taken;
}

}  // namespace assay::cutlass
