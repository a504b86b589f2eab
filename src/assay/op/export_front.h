#pragma once

// What stands beside an exported kernel, so that a program without assay can tell whether it is
// right.

#include <filesystem>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/op/problem.h"
#include "assay/tensor/error_bound.h"

namespace assay {

struct ReferenceFile {
  std::string path;  // Below the export's folder.
  std::string text;
  bool compiled = false;  // A source of its own, and not included.

  // The folder, whatever its path says.
  bool lies_below() const {
    const auto place = std::filesystem::path(path).lexically_normal();
    return !place.empty() && place.is_relative() && *place.begin() != "..";
  }
};

// Of an Operation, beside it.
class ExportFront {
 public:
  virtual ~ExportFront() = default;

  // What is computed, in one line: "out = 2 a b + 0.5 c". It stands in comments of C.
  virtual std::string formula(const Problem& problem) const = 0;

  // Files of which the first one is reference.h: C++20 that numbers.h stands ahead of, with its
  // problem::Expected and element(), and of which the caller takes, in the namespace problem,
  //   inline constexpr const char* kUnchecked;      // Why nothing can be compared, or null.
  //   struct Reference {
  //     static constexpr double kCost;              // Multiplications that an element takes.
  //     explicit Reference(const Buffers& set);     // Inputs in the host's memory.
  //     // Of the output at that place of operands; indices as its sizes have them. Neighbours are
  //     // asked for one after another.
  //     Expected at(std::size_t operand, const std::int64_t* index);
  //   };
  // bound: what the kernel promises of its errors.
  virtual Result<std::vector<ReferenceFile>> reference(const Problem& problem,
                                                       ErrorBound bound) const = 0;
};

}  // namespace assay
