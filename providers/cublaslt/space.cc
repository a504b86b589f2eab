#include "space.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "assay/base/text.h"

namespace assay::cublaslt {
namespace {

constexpr int64_t kMostListed = 1'000'000;
constexpr int64_t kSplits[] = {2, 3, 4, 5, 6, 8, 12, 16, 32};  // As NVIDIA's sample of a search.

// What is said besides the ground: fields with their values; empty: nothing.
using Choice = std::vector<std::pair<size_t, int64_t>>;
using Axis = std::vector<Choice>;

AlgorithmValues with(AlgorithmValues values, const Choice& choice) {
  for (const auto& [field, value] : choice) values[field] = value;
  return values;
}

void sort_once_each(std::vector<uint32_t>& ids) {
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (ids.empty()) ids = {0};
}

class Walk {
 public:
  Walk(const Matmul& matmul, int64_t most_checks) : matmul_(matmul), most_checks_(most_checks) {}

  Result<Space> run() {
    ASSAY_TRY(std::vector<int> ids, matmul_.algorithm_ids());
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    for (size_t i = 0; i < ids.size(); ++i) {
      const auto sharers = static_cast<int64_t>(ids.size() - i);
      share_end_ = space_.checks + (most_checks_ - space_.checks) / sharers;
      walk(ids[i]);
    }
    if (unfinished_ > 0)
      space_.refusals.add(
          Reason::other, unfinished_,
          fmt::format("{} choices of algorithm, tile and stages are not tried to their end: no "
                      "more than {} checks are made for a problem",
                      unfinished_, most_checks_));
    std::ranges::sort(space_.accepted);
    return std::move(space_);
  }

 private:
  void walk(int id) {
    const auto made = matmul_.algorithm(id);
    if (!made) return refuse(made.error().message);
    algorithm_ = *made;
    can_ = matmul_.capabilities(algorithm_);
    sort_once_each(can_.tiles);
    sort_once_each(can_.stages);
    if (const std::string why = matmul_.misaligned(can_); !why.empty())
      return space_.refusals.add(Reason::alignment,
                                 static_cast<int64_t>(can_.tiles.size() * can_.stages.size()),
                                 fmt::format("algorithm {}: {}", id, why));
    AlgorithmValues values{};
    values[kAtId] = id;
    values[kAtSplitK] = 1;
    for (const uint32_t tile : can_.tiles)
      for (const uint32_t stages : can_.stages) {
        values[kAtTile] = tile;
        values[kAtStages] = stages;
        cut_ = false;
        walk_inner_shapes(values);
        if (cut_) ++unfinished_;
      }
  }

  void walk_inner_shapes(const AlgorithmValues& values) {
    if (accepts(values)) {
      walk_options(values, can_.has_clusters);
    } else if (can_.has_clusters) {
      // Those of Hopper take no ground without one (seen on an H200, cuBLASLt 13.1).
      for (const Choice& cluster : clusters(values)) walk_options(with(values, cluster), false);
    }
    if (!can_.has_inner_shapes) return;
    for (const Choice& inner : shapes(values, kAtInner, 1, abi::kLastInnerShape))
      walk_options(with(values, inner), can_.has_clusters);
  }

  Axis clusters(const AlgorithmValues& ground) {
    return shapes(ground, kAtCluster, abi::kFirstCluster, abi::kLastCluster);
  }

  // The ground was accepted.
  void walk_options(const AlgorithmValues& ground, bool with_clusters) {
    std::vector<Axis> axes;
    if (with_clusters) axes.push_back(clusters(ground));
    Axis& custom = axes.emplace_back();
    for (int64_t option = 1; option <= can_.most_custom && !cut_; ++option)
      keep_accepted(custom, ground, {{kAtCustom, option}});
    if (can_.swizzles) keep_accepted(axes.emplace_back(), ground, {{kAtSwizzle, 1}});
    if (can_.splits_k) {
      Axis& splits = axes.emplace_back();
      for (const int64_t parts : kSplits)
        for (const uint32_t scheme : abi::kReductionSchemes)
          if ((can_.reductions & scheme) != 0)
            keep_accepted(splits, ground, {{kAtSplitK, parts}, {kAtReduction, scheme}});
    }
    combine(axes, 0, 0, ground);
  }

  // Of what fewer than two axes say it is known that it is accepted.
  void combine(const std::vector<Axis>& axes, size_t at, int said, const AlgorithmValues& values) {
    if (at == axes.size()) {
      if (said < 2 || accepts(values)) space_.accepted.push_back(values);
      return;
    }
    combine(axes, at + 1, said, values);
    for (const Choice& choice : axes[at]) combine(axes, at + 1, said + 1, with(values, choice));
  }

  // The library does not tell which shapes an algorithm has. One that takes a number that no shape
  // has, or every shape, does not look at it: its default is the only one then.
  Axis shapes(const AlgorithmValues& values, size_t field, int64_t first, int64_t last) {
    Axis axis;
    if (asks(with(values, {{field, abi::kNoShape}}))) return axis;
    for (int64_t shape = first; shape <= last; ++shape)
      keep_accepted(axis, values, {{field, shape}});
    if (static_cast<int64_t>(axis.size()) == last - first + 1) axis.clear();
    return axis;
  }

  void keep_accepted(Axis& axis, const AlgorithmValues& ground, Choice choice) {
    if (accepts(with(ground, choice))) axis.push_back(std::move(choice));
  }

  bool accepts(const AlgorithmValues& values) {
    size_t workspace = 0;
    const Status taken = asks(values, workspace);
    if (cut_) return false;
    if (!taken) {
      refuse(taken.error().message);
      return false;
    }
    if (workspace <= kWorkspaceBytes) return true;
    space_.refusals.add(Reason::workspace, 1,
                        fmt::format("the algorithm wants a workspace of {} bytes, and {} are there",
                                    workspace, kWorkspaceBytes));
    return false;
  }

  Status asks(const AlgorithmValues& values, size_t& workspace) {
    if (space_.checks >= share_end_) {
      cut_ = true;
      return fail(ErrorCode::unsupported, "no checks are left");
    }
    ++space_.checks;
    abi::Algorithm algorithm = algorithm_;
    ASSAY_TRY(matmul_.configure(algorithm, values));
    return matmul_.check(algorithm, workspace);
  }
  bool asks(const AlgorithmValues& values) {
    size_t workspace = 0;
    return asks(values, workspace).has_value();
  }

  void refuse(std::string_view why) {
    space_.refusals.add(Reason::constraint, 1, fmt::format("cuBLASLt refuses it: {}", why));
  }

  const Matmul& matmul_;
  const int64_t most_checks_;
  int64_t share_end_ = 0, unfinished_ = 0;
  bool cut_ = false;            // The share came to its end within a tile and its stages.
  abi::Algorithm algorithm_{};  // Of the id that is walked.
  Capabilities can_;
  Space space_;
};

}  // namespace

Result<SpaceChoice> SpaceChoice::parse(const ProviderSettings& settings) {
  const auto given = settings.find("space");
  if (given == settings.end() || given->second == "heuristic") return SpaceChoice{};
  const std::string& text = given->second;
  if (text == "all") return SpaceChoice{.all = true};
  constexpr std::string_view kSome = "all:";
  SpaceChoice choice{.all = true};
  const char* const end = text.data() + text.size();
  if (text.starts_with(kSome)) {
    const auto [behind, error] = std::from_chars(text.data() + kSome.size(), end, choice.most);
    if (error == std::errc() && behind == end && choice.most >= 1 && choice.most <= kMostListed)
      return choice;
  }
  return fail(ErrorCode::invalid_input,
              "cublaslt: space: '{}' is none of heuristic, all and all:N (N from 1 to {})",
              sanitize(text, 80), kMostListed);
}

Result<Space> walk_space(const Matmul& matmul, int64_t most_checks) {
  return Walk(matmul, most_checks).run();
}

std::vector<AlgorithmValues> spread(std::vector<AlgorithmValues> values, int64_t most) {
  const auto there = values.size(), wanted = static_cast<size_t>(most);
  if (wanted == 0 || there <= wanted) return values;
  for (size_t i = 0; i < wanted; ++i) values[i] = values[i * there / wanted];
  values.resize(wanted);
  return values;
}

}  // namespace assay::cublaslt
