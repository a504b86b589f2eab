#pragma once

// A ranker: exactly one folder under rankers/. It says which kernels of a problem are worth
// building first, before any is compiled or timed, from their metadata and what the device's data
// sheet says. List, score, take the best are three calls: a catalog lists, a Scorer scores,
// order_of() puts in order. Only an order comes of it: no claim ever rests on a score.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/device/device_facts.h"
#include "assay/kernel/metadata.h"
#include "assay/kernel/provider.h"
#include "assay/op/problem.h"

namespace assay {

struct RankerInfo {
  std::string name;  // Of its folder.
  std::string summary;
  std::string licence;
  std::string library;                // Soname sought at run time, may be empty.
  std::vector<std::string> packages;  // What to install for it.
  int rank = kNoRank;                 // Of those that nobody chose among, the least is asked.
};

// One for each row asked about, in their order.
struct Scores {
  // Smaller is better. NaN: the ranker cannot say. Whether it is a time is the ranker's affair.
  std::vector<double> costs;
  std::map<std::string, int64_t> unscored;  // Why it cannot say, in a sentence -> rows.
};

// A ranker with its library, if it has one. May keep what it worked out: one caller at a time.
class Scorer {
 public:
  virtual ~Scorer() = default;
  virtual std::string version() const { return {}; }  // Of the library, as it says itself.
  virtual std::string path() const { return {}; }     // What was really mapped.

  // Never fails: what cannot be scored has no cost, and a reason. The same question has the same
  // answer.
  Scores score(std::span<const KernelMetadata> rows, const Problem& problem,
               const DeviceFacts& device) const;

 private:
  // Fills `scores.costs`, which are NaN, and counts the others.
  virtual void do_score(std::span<const KernelMetadata> rows, const Problem& problem,
                        const DeviceFacts& device, Scores& scores) const = 0;
};

class Ranker {
 public:
  virtual ~Ranker() = default;
  virtual const RankerInfo& info() const = 0;

  // A missing library is ErrorCode::unsupported with the reason and what to install.
  Result<std::unique_ptr<Scorer>> open(const ProviderSettings& settings) const;

 private:
  virtual Result<std::unique_ptr<Scorer>> do_open(const ProviderSettings& settings) const = 0;
};

// Rows from the best to the worst: by cost, behind them those without one; those of one cost, and
// those without, as they are listed: a family lists first what it would try first.
std::vector<size_t> order_of(std::span<const double> costs);

// The name of the one with the least rank; of several the first. Empty: there is none.
std::string first_ranker(std::span<const std::unique_ptr<Ranker>> rankers);

// Generated from the folders under rankers/.
std::vector<std::unique_ptr<Ranker>> built_in_rankers();

}  // namespace assay
