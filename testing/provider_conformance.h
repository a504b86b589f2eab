#pragma once

// What every provider must do, whatever its kernels are. A provider's test joins with
//
//   #include "providers/openblas/info.h"
//   #include "testing/provider_conformance.h"
//   ASSAY_PROVIDER_CONFORMANCE(openblas, {.make = assay::openblas::make_provider});
//
// and is skipped, with the reason, where its library is missing.

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "assay/device/device.h"
#include "assay/kernel/provider.h"

namespace assay::testing {

struct ConformanceSubject {
  std::function<std::unique_ptr<Provider>()> make;
  ProviderSettings settings;
  // Families besides the provider's own, such as those of kernels that it was brought.
  std::function<std::vector<std::shared_ptr<const Family>>(const Provider&)> bring;
  // Most rows run on one problem and thread count; evenly spread over those that support it. 0:
  // all.
  size_t rows_per_problem = 0;
  bool rows_by_problem = false;  // As of verify::ConformanceSubject.
  // What the kernels run on; one core of this machine where it is null.
  std::function<Result<std::unique_ptr<Device>>()> open_device;
  std::string name = "provider";  // Filled in by the macro.
};

inline void PrintTo(const ConformanceSubject& subject, std::ostream* out) { *out << subject.name; }

class ProviderConformance : public ::testing::TestWithParam<ConformanceSubject> {
 protected:
  void SetUp() override;

  std::unique_ptr<Device> device_;
  std::unique_ptr<Provider> provider_;
  std::vector<std::shared_ptr<const Family>> families_;
};

// One subject, with its name.
std::vector<ConformanceSubject> conformance_subject(ConformanceSubject subject, std::string name);

}  // namespace assay::testing

#define ASSAY_PROVIDER_CONFORMANCE(provider, ...)                                             \
  INSTANTIATE_TEST_SUITE_P(provider, AssayProviderConformance,                                \
                           ::testing::ValuesIn(::assay::testing::conformance_subject(         \
                               ::assay::testing::ConformanceSubject __VA_ARGS__, #provider)), \
                           [](const auto& test) { return test.param.name; })

// GoogleTest looks suites up by an unqualified name.
using AssayProviderConformance = ::assay::testing::ProviderConformance;
