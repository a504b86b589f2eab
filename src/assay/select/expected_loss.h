#pragma once

// The rule `nearest` (docs/dispatch.md): which kernel is expected to lose least on a problem that
// was not tuned, by what the nearest tuned ones say. Not for use outside select.
//
// A neighbour says of a kernel that it confirmed: it lost log(its time / the winner's). Of any
// other it is taken to say kUntimedLoss. What is expected is their mean, weighted by 1 / distance^2
// (Shepard: "A two-dimensional interpolation function for irregularly-spaced data", ACM 1968).

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay {

// As many are asked, where the table has them. On the 200 problems of `make bench-regret` and on
// 200 others like them, one half tuned and the other asked for, 3 to 8 lose about alike, and 1 and
// 2 more (docs/dispatch.md).
inline constexpr size_t kNeighbours = 6;
// Kernels that one neighbour is asked about, the best first: twice as many as a sweep confirms.
inline constexpr size_t kMostVotes = 16;
// Log loss of a kernel that a neighbour did not confirm, because its race dropped it or never had
// it: in the same races such kernels, where another of the six had confirmed them, lost 0.10 and
// 0.11 on the average. Anything from 0.1 to 0.2 chooses about as well.
inline constexpr float kUntimedLoss = 0.1f;

// One choice of a tuned problem, of a kernel that is here.
struct KernelLoss {
  uint32_t kernel = 0;
  uint32_t rank = 0;  // Among its choices.
  float loss = 0;     // Log of its time over the winner's; not negative.
};

struct Neighbour {
  float distance = 0;
  std::span<const KernelLoss> losses;  // At most kMostVotes are heard.
};

struct Candidate {
  uint32_t kernel = 0;
  uint32_t neighbour = 0;  // The nearest one that has it,
  uint32_t rank = 0;       // and where.
  float loss = 0;          // Expected.
};
inline constexpr size_t kMostCandidates = kNeighbours * kMostVotes;

// The loss that a tuned problem tells of a choice: 0 for its winner, kUntimedLoss where a time is
// unknown (0).
float loss_of(double median_us, double winner_us, uint32_t rank);

// Every kernel that a neighbour has, once, the least expected loss first; of equal ones that of the
// nearest neighbour, then that of the better rank. `neighbours`: at most kNeighbours, the nearest
// first. Returns how many; allocates nothing.
size_t rank_candidates(std::span<const Neighbour> neighbours,
                       std::span<Candidate, kMostCandidates> candidates);

}  // namespace assay
