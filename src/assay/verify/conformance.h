#pragma once

// What the kernels of every provider must do, whatever they are: checks that anybody can run, the
// providers' tests (testing/provider_conformance.h) and `assay plugin check` alike. They call the
// kernels in this process.

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/device/device.h"
#include "assay/kernel/catalog.h"
#include "assay/op/problem.h"

namespace assay::verify {

// Whose kernels, and on what.
struct ConformanceSubject {
  const Catalog& catalog;
  Device& device;  // Its memory is the host's.
  const CompileContext& context;
  // Most rows run on one problem, evenly spread over those that support it. 0: all.
  size_t rows_per_problem = 0;
  // A library tells of some rows only once it is asked about a problem.
  bool rows_by_problem = false;
  // Waits until no thread but this one is at work in this process; false if one never rests. Empty:
  // what kernels leave running is not looked at.
  std::function<bool()> at_rest;
};

struct ConformanceResult {
  std::vector<std::string> faults;  // Sentences; empty: it conforms.
  int64_t looked_at = 0;            // Rows, refusals or launches: 0 where nothing applied.
  std::set<std::string> ran;        // Ids of the kernels that computed something.
  RefusalCounts refusals;           // Of the kernels that were to.
};

struct ConformanceCheck {
  std::string_view name;  // "computes"
  std::string_view what;  // "computes what it supports", to follow "passed" or "failed".
  std::string_view unit;  // Of looked_at: "launches".
  bool per_problem;       // Run once for each of conformance_problems(), else once without one.
  ConformanceResult (*run)(const ConformanceSubject& subject, const Problem* problem);
};

std::span<const ConformanceCheck> conformance_checks();

// The telling problems of every operation.
Result<std::vector<Problem>> conformance_problems();

}  // namespace assay::verify
