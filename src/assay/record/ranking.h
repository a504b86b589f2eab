#pragma once

// What a record says of the order in which kernels that cost much to compile were built, and how
// good each ranker's order turned out to be.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct ProblemRecord;

struct RankingRecord {
  std::string ranker;          // Whose order; empty: as they are listed.
  int build = 0;               // The first so many of each provider; 0: all.
  std::int64_t costly = 0;     // Kernels whose compile costs much.
  std::int64_t not_built = 0;  // Of them; each is counted among the problem's refusals.

  struct Asked {
    std::string name;
    std::string version, path;                     // Of its library, if it has one.
    std::string missing;                           // Why it could not be asked; empty: it was.
    std::int64_t scored = 0;                       // Kernels of the problem.
    std::map<std::string, std::int64_t> unscored;  // Why not -> kernels.
    bool operator==(const Asked&) const = default;
  };
  std::vector<Asked> rankers;

  bool operator==(const RankingRecord&) const = default;
};

// How a ranker did on one problem, from the record alone.
struct RankerHindsight {
  std::string ranker;
  std::int64_t scored = 0;
  std::int64_t winners_rank = 0;  // 0: it could not score the winner.
  // Whether one of its first kRecalled is within kRecallWithin of the best that it could score.
  // None where something was not built, and so not everything was timed.
  std::optional<bool> recalled;
  double behind = 0;  // How far the best of its first is behind that best, a fraction, if recalled
                      // is known.
};

inline constexpr std::int64_t kRecalled = 8;
inline constexpr double kRecallWithin = 0.02;

// One for each ranker that scored something. Times are those of the confirmation where both kernels
// have one, else those of the race: they make no claim.
std::vector<RankerHindsight> hindsight(const ProblemRecord& problem);

}  // namespace assay
