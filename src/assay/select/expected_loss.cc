#include "assay/select/expected_loss.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

// A problem of the same sizes, which differs in strides, decides but for kernels that it does not
// tell apart.
constexpr float kLeastSquare = 1e-6f;

Candidate& candidate_of(const KernelLoss& choice, uint32_t neighbour,
                        std::span<Candidate, kMostCandidates> candidates, size_t& count) {
  const auto known =
      std::find_if(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count),
                   [&](const Candidate& candidate) { return candidate.kernel == choice.kernel; });
  if (known != candidates.begin() + static_cast<std::ptrdiff_t>(count)) return *known;
  candidates[count] = {.kernel = choice.kernel, .neighbour = neighbour, .rank = choice.rank};
  return candidates[count++];
}

}  // namespace

float loss_of(double median_us, double winner_us, uint32_t rank) {
  if (rank == 0) return 0;
  if (median_us <= 0 || winner_us <= 0) return kUntimedLoss;
  return static_cast<float>(std::max(0.0, std::log(median_us / winner_us)));
}

size_t rank_candidates(std::span<const Neighbour> neighbours,
                       std::span<Candidate, kMostCandidates> candidates) {
  neighbours = neighbours.first(std::min(neighbours.size(), kNeighbours));
  size_t count = 0;
  float weights = 0;
  // Kernels that a neighbour does not have lose the same there: so only what the others differ from
  // that is summed.
  for (uint32_t i = 0; i < neighbours.size(); ++i) {
    const Neighbour& neighbour = neighbours[i];
    const float weight = 1 / std::max(neighbour.distance * neighbour.distance, kLeastSquare);
    weights += weight;
    for (const KernelLoss& choice :
         neighbour.losses.first(std::min(neighbour.losses.size(), kMostVotes)))
      candidate_of(choice, i, candidates, count).loss += weight * (choice.loss - kUntimedLoss);
  }
  const auto ranked = candidates.first(count);
  for (Candidate& candidate : ranked) candidate.loss = kUntimedLoss + candidate.loss / weights;
  std::sort(ranked.begin(), ranked.end(), [](const Candidate& x, const Candidate& y) {
    if (x.loss != y.loss) return x.loss < y.loss;
    return x.neighbour != y.neighbour ? x.neighbour < y.neighbour : x.rank < y.rank;
  });
  return count;
}

}  // namespace assay
