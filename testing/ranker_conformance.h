#pragma once

// What every ranker must do, whatever its model is. A ranker's test joins with
//
//   #include "testing/ranker_conformance.h"
//   ASSAY_RANKER_CONFORMANCE(roofline, {.make = assay::roofline::make_ranker});
//
// and is skipped, with the reason, where its library is missing.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "assay/kernel/ranker.h"

namespace assay::testing {

struct RankerSubject {
  std::function<std::unique_ptr<Ranker>()> make;
  std::function<ProviderSettings()> settings;  // Null: none.
  std::string name = "ranker";                 // Filled in by the macro.
};

inline void PrintTo(const RankerSubject& subject, std::ostream* out) { *out << subject.name; }

// An H200 as its driver tells of it; no GPU needed.
DeviceFacts h200();

// Rows of tiles, clusters, stages, splits and schedules as CUTLASS has them: about so many.
std::vector<KernelMetadata> gpu_rows(size_t wanted);

// One row with these attributes.
KernelMetadata gpu_row(Design design);

class RankerConformance : public ::testing::TestWithParam<RankerSubject> {
 protected:
  void SetUp() override;

  std::unique_ptr<Ranker> ranker_;
  std::unique_ptr<Scorer> scorer_;
};

std::vector<RankerSubject> ranker_subject(RankerSubject subject, std::string name);

}  // namespace assay::testing

#define ASSAY_RANKER_CONFORMANCE(ranker, ...)                                          \
  INSTANTIATE_TEST_SUITE_P(ranker, AssayRankerConformance,                             \
                           ::testing::ValuesIn(::assay::testing::ranker_subject(       \
                               ::assay::testing::RankerSubject __VA_ARGS__, #ranker)), \
                           [](const auto& test) { return test.param.name; })

// GoogleTest looks suites up by an unqualified name.
using AssayRankerConformance = ::assay::testing::RankerConformance;
