#pragma once

// Why a kernel is not in the race: a machine-readable code and a sentence.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

enum class Reason : uint8_t {
  operation,
  dtype,
  accumulate,
  layout,
  stride,
  divisibility,
  alignment,
  size,
  batch,
  epilogue,
  scalars,
  target,
  not_constant,
  preparation_class,
  dependent_launch_class,
  threads,
  workspace,
  filter,
  library_missing,
  library_version,
  compiler_missing,
  constraint,
  provider,
  not_built,  // A ranker put others first, and it costs much to compile.
  other,
};
std::string_view to_string(Reason reason);
Result<Reason> parse_reason(std::string_view text);

struct Refusal {
  Reason reason = Reason::other;
  std::string sentence;
  bool operator==(const Refusal&) const = default;
};

// All reasons for one kernel; empty means yes.
class Refusals {
 public:
  void add(Reason reason, std::string sentence) { list_.push_back({reason, std::move(sentence)}); }
  bool empty() const { return list_.empty(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  size_t size() const { return list_.size(); }
  const Refusal& front() const { return list_.front(); }

 private:
  std::vector<Refusal> list_;
};

// How many kernels each reason kept out. A kernel with two reasons counts under its first, so that
// the counts add up to the kernels refused; an example sentence for each.
struct RefusalCount {
  int64_t count = 0;
  std::string example;
};
class RefusalCounts {
 public:
  void add(Reason reason, int64_t count, std::string_view example);
  void add(const Refusals& refusals) {
    if (!refusals.empty()) add(refusals.front().reason, 1, refusals.front().sentence);
  }
  void merge(const RefusalCounts& other);
  int64_t total() const;
  auto begin() const { return counts_.begin(); }
  auto end() const { return counts_.end(); }
  bool empty() const { return counts_.empty(); }
  Json to_json() const;
  static Result<RefusalCounts> from_json(const Json& json);

 private:
  std::map<Reason, RefusalCount> counts_;
};

}  // namespace assay
