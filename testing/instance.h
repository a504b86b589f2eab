#pragma once

#include <cstdint>
#include <memory>

#include <gtest/gtest.h>

#include "assay/op/operation.h"

namespace assay::testing {

// Inputs of a problem, of its operation; where there are none the test fails and it gets null.
inline std::unique_ptr<Instance> instance_of(const Problem& problem, InputKind kind,
                                             uint64_t seed = 1) {
  const auto operation = find_operation(problem.operation());
  EXPECT_TRUE(operation) << problem.operation();
  if (!operation) return nullptr;
  auto made = (*operation)->make_instance(problem, kind, seed);
  EXPECT_TRUE(made) << problem.signature() << " " << to_string(kind) << ": "
                    << (made ? "" : made.error().message);
  return made ? std::move(*made) : nullptr;
}

}  // namespace assay::testing
