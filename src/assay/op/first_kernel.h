#pragma once

// The text of a kernel to begin with: a head comment, and a naive body that is right.

#include <cstdint>
#include <string>

#include "assay/base/result.h"
#include "assay/op/problem.h"

namespace assay {

enum class SourceLanguage : std::uint8_t { c, cpp, cuda };

struct NewKernel {
  SourceLanguage language = SourceLanguage::cpp;
  std::string entry;      // The function's name.
  std::string command;    // How to race it: the head says so.
  std::string operation;  // As the head names it.
};

// What an Operation has, beside it, for whoever begins.
class FirstKernel {
 public:
  virtual ~FirstKernel() = default;
  // A shape that is proven and raced in seconds, as it is given to --shape.
  virtual std::string first_shape() const = 0;
  // The same fields, and those that a naive body wants and the shape leaves out.
  virtual std::string complete(const std::string& shape) const = 0;
  // For problems like this one: its types, layout and whether it has batches; sizes are arguments.
  // Errors: types or factors that such a body does not do.
  virtual Result<std::string> first_kernel(const NewKernel& kernel,
                                           const Problem& problem) const = 0;
};

}  // namespace assay
