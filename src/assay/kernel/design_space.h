#pragma once

// For authors of families: axes, constraints and shared traits declared as data, enumerated lazily.
//
//   DesignSpace space({{.traits = {.name = "gemm_{tile_m}x{tile_n}", .rule = rule},
//                       .axes = {axis("tile_m", {32, 16}), axis("tile_n", {32, 16})},
//                       .constraints = {[](const Design& d) { return ...; }}}});
//   void do_enumerate(const Query& q, const MetadataSink& s) const { space_.enumerate(q, s); }

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assay/kernel/design.h"
#include "assay/kernel/family.h"
#include "assay/kernel/metadata.h"

namespace assay {

// One attribute with its values; preset: several attributes that change together.
DesignAxis axis(std::string name, std::vector<Value> values);
DesignAxis preset(std::vector<std::string> names, std::vector<std::vector<Value>> choices);

using DesignConstraint = std::function<bool(const Design&)>;

// Rows that share traits, and so one ProblemRule: the product of the axes, less what a constraint
// rejects. The first axis changes slowest.
struct DesignGroup {
  KernelTraits traits;
  std::vector<DesignAxis> axes;
  std::vector<DesignConstraint> constraints;
};

class DesignSpace {
 public:
  explicit DesignSpace(std::vector<DesignGroup> groups);
  ~DesignSpace();
  DesignSpace(DesignSpace&&) noexcept;
  DesignSpace& operator=(DesignSpace&&) noexcept;

  // Groups in the order given. A group's rule is tested once; rows are made only if it may match.
  void enumerate(const Query& query, const MetadataSink& sink) const;

  int64_t size() const;  // Rows in all.

 private:
  struct Group;
  std::vector<std::unique_ptr<Group>> groups_;
};

}  // namespace assay
